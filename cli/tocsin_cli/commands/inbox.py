"""`tocsin inbox`: what a person has in their inbox."""

from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import Session, command, limit_option, pass_session
from tocsin_cli.output import Part


@command(
    "inbox",
    examples=[
        ("what is unread", "tocsin inbox ada --unread"),
        ("mark one as read", "tocsin inbox ada --read 01890a5d-ac96-774b-bcce-b302099a8057"),
        ("mark everything as read", "tocsin inbox ada --read-all"),
        ("the titles, for a script", "tocsin inbox ada --json | jq -r '.data[].title'"),
    ],
)  # fmt: skip
@click.argument("user")
@click.option("--unread", is_flag=True, help="Only what is unread.")
@click.option("--view", type=click.Choice(["all", "unread", "read", "done", "saved", "snoozed"]), help="Another part of it.")
@click.option("--read", "read_ids", multiple=True, metavar="ROW", help="Mark this row as read. May be repeated.")
@click.option("--read-all", is_flag=True, help="Mark everything as read.")
@limit_option
@pass_session
def COMMAND(  # noqa: N802
    session: Session, /, user: str, unread: bool, view: str | None, read_ids: tuple[str, ...], read_all: bool, limit: int | None
) -> None:
    """Show what a person has in their inbox, the latest first; or mark it as read.

    USER is your own id of them. The key needs the scope inbox.
    """
    if read_ids or read_all:
        return _mark(session, user, read_ids, everything=read_all)
    rows: list[dict[str, Any]] = []
    table = session.out.columns("", "when", "kind", "title", "id")
    status = view or ("unread" if unread else "all")
    for page in session.client.pages("/v1/inbox", limit=limit, user_id=user, status=status):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})
    if not rows:
        session.out.say("There is nothing.")
    return None


def _row(row: dict[str, Any]) -> list[Part]:
    count = f" ({row['event_count']})" if row["event_count"] > 1 else ""
    title = f"{row['title']}{count}"
    mark: Part = ("●", "bold blue") if row["unread"] else ""
    return [mark, times.local(row["last_event_at"]), str(row["kind"]), (title, "bold" if row["unread"] else ""), str(row["id"])]


def _mark(session: Session, user: str, ids: tuple[str, ...], *, everything: bool) -> None:
    client, params = session.client, {"user_id": user}
    marked = [
        client.call("PATCH", path("/v1/inbox/{}", one), body={"read": True}, params=params, repeatable=True).body for one in ids
    ]
    count, more = len(marked), everything
    while more:
        answer = client.call("POST", "/v1/inbox/read-all", params=params, repeatable=True).body
        count, more = count + answer["marked"], answer["more"]
    session.out.json({"marked": count})
    session.out.line(f"{count} marked as read.")
