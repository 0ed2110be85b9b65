"""`tocsin lanes`: the ways out that are in trouble."""

from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import Session, group, limit_option, pass_session, within, yes_option
from tocsin_cli.output import Part


@group(
    "lanes",
    examples=[
        ("which ways out are in trouble?", "tocsin lanes list"),
        ("the cause is gone: send what waits", 'tocsin lanes open ses:email --reason "SES lifted the pause"'),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """See ways out that are in trouble, and open one.

    A lane is the way to one provider. It closes by itself while the provider throttles, is out of quota or does not answer, and
    tries again by itself; open one by hand when you know that the cause is gone. Scope: operate.
    """


@within(
    COMMAND,
    "list",
    examples=[("all of them", "tocsin lanes list"), ("their names", "tocsin lanes list --json | jq -r '.data[].id'")],
)
@limit_option
@pass_session
def list_lanes(session: Session, /, limit: int | None) -> None:
    """List the lanes that are in trouble, with what waits for them."""
    rows: list[dict[str, Any]] = []
    table = session.out.columns("lane", "state", "trouble", "since", "next try", "waiting", "reason")
    for page in session.client.pages("/v1/lanes", limit=limit):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})
    if not rows:
        session.out.say("No lane is in trouble.")


def _row(row: dict[str, Any]) -> list[Part]:
    waiting = f"{row['waiting']['count']}{'+' if row['waiting']['at_least'] else ''}"
    state = (str(row["state"]), "red" if row["is_closed"] else "yellow")
    moments = [times.local(row["since"]), times.local(row["resume_at"])]
    return [str(row["id"]), state, str(row["trouble"]), *moments, waiting, str(row["reason"])]


@within(COMMAND, "open", examples=[("with a reason for the audit log", 'tocsin lanes open ses:email --reason "quota raised"')])
@click.argument("lane")
@click.option("--reason", required=True, help="Why; it stands in the audit log.")
@yes_option
@pass_session
def open_lane(session: Session, /, lane: str, reason: str, yes: bool) -> None:
    """Open a lane now: what waits for it goes at once."""
    session.out.ask(f"Open {lane}? What waits for it goes at once.", yes=yes)
    answer = session.client.call("POST", path("/v1/lanes/{}/open", lane), body={"reason": reason}).body
    session.out.json(answer)
    session.out.line((f"{answer['id']} is open.", "green"), f"  {answer['woken']} sent on their way.")
