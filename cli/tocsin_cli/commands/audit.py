"""`tocsin audit`: who changed what, and whether the log is what was written."""

from datetime import datetime
from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.command import PAST, Session, group, limit_option, pass_session, within
from tocsin_cli.exits import Exit
from tocsin_cli.output import Part

_PAGE = 10_000


@group(
    "audit",
    examples=[
        ("who changed what today?", "tocsin audit list --since 24h"),
        ("is the log whole? Keep the head that it prints", "tocsin audit verify"),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """Read the audit log, and check that it is whole. Scope: admin."""


@within(
    COMMAND,
    "list",
    examples=[
        ("what happened to keys this week", "tocsin audit list --resource-type api_key --since 7d"),
        ("what Jane did", 'tocsin audit list --person "Jane Doe" --limit 20'),
    ],
)
@click.option("--actor", help="key:ID, user:ID, job:NAME …")
@click.option("--person", help="The name that the caller gave (their word; the key is the proof).")
@click.option("--user", metavar="USER", help="Who acted, or owns the key that did.")
@click.option("--action", help="Such as create, update, rotate.")
@click.option("--resource-type", help="Such as api_key, template, user.")
@click.option("--resource", "resource_id", metavar="ID", help="Of one thing.")
@click.option("--since", type=PAST, help="7d, 24h, or a time.")
@click.option("--until", type=PAST)
@limit_option
@pass_session
def list_log(
    session: Session, /, since: datetime | None, until: datetime | None, limit: int | None, user: str | None, **filters: Any
) -> None:
    """List who changed what, newest first."""
    rows: list[dict[str, Any]] = []
    wanted = filters | {
        "user_id": user,
        "since": times.wire(since) if since else None,
        "until": times.wire(until) if until else None,
    }
    table = session.out.columns("when", "who", "action", "what", "changed")
    for page in session.client.pages("/v1/audit-log", limit=limit, **wanted):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})


def _row(row: dict[str, Any]) -> list[Part]:
    who = " ".join(str(one) for one in (row.get("person"), row.get("user_id"), row["actor"]) if one)
    changes = row.get("changes") or {}
    changed = sorted({*(changes.get("old") or {}), *(changes.get("new") or {})})
    what = f"{row['resource_type']} {row['resource_id'] or ''}".strip()
    return [times.local(row["created_at"]), who, str(row["action"]), what, ", ".join(changed)]


@within(
    COMMAND,
    "verify",
    examples=[
        ("the whole log", "tocsin audit verify"),
        ("against a head that you kept", "tocsin audit verify --known \"$(cat audit-head)\""),
    ],
)  # fmt: skip
@click.option("--known", metavar="SEQ:HASH", help="A head that was printed before, and kept elsewhere.")
@pass_session
def verify(session: Session, /, known: str | None) -> Exit | None:
    """Check that the log is what was written. Exit code 1: it is not, and the first row that is wrong is named."""
    checked, cursor = 0, None
    with session.out.progress("rows", None) as bar:
        while True:
            page = session.client.get("/v1/audit-log/verify", limit=_PAGE, known=known, cursor=cursor)
            checked, cursor = checked + page["checked"], page["next_cursor"]
            bar.move(to=checked, total=max(checked, int(page["head"]["seq"])))
            if page["broken"] or not cursor:
                break
    session.out.json(page | {"checked": checked})
    if page["broken"]:
        broken = page["broken"]
        session.out.line((f"Broken at row {broken['seq']}: {broken['problem']}. ", "bold red"), str(broken["detail"]))
        return Exit.NO
    session.out.line((f"{checked} rows hold.", "bold green"), f"  Head: {page['head']['seq']}:{page['head']['hash']}")
    return None
