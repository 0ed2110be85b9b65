"""`tocsin erase`: everything of a person, everywhere, with a receipt."""

from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import Client, path
from tocsin_cli.command import Session, command, pass_session
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed
from tocsin_cli.output import Out

_ROUNDS = 100  # of some seconds each; the hourly retention goes on after that
_ROUTE = "/v1/users/{id}/erase"


@command(
    "erase",
    examples=[
        ("what would go?", "tocsin erase ada --dry-run"),
        ("counts, asks for the id, erases", "tocsin erase ada"),
        ("in a script; keep the receipt", "tocsin erase ada --confirm ada --json > receipt.json"),
    ],
)
@click.argument("user")
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
@click.option("--confirm", metavar="USER", help="The id once more, instead of typing it.")
@pass_session
def COMMAND(session: Session, /, user: str, dry_run: bool, confirm: str | None) -> None:  # noqa: N802
    """Erase a person everywhere, with a receipt.

    USER is your own id of them. Counts first, then asks for the id to be typed; there is no way back. The receipt can be shown
    again with GET /v1/erasures/ID. Scope: manage.
    """
    where = path("/v1/users/{}/erase", user)
    can_count = _knows_dry_runs(session.client)
    if dry_run and not can_count:
        raise Failed("This version of the server knows no dry run, so nothing was asked of it.", Exit.REFUSED)
    if can_count and (dry_run or confirm is None):
        counted = session.client.call("POST", where, body={"dry_run": True}, repeatable=True).body
        if counted.get("dry_run") is not True:
            raise Failed("The server did not take it as a dry run.", Exit.REFUSED)
        if dry_run:
            session.out.json(counted)
            tell_counts(session.out, counted["would_erase"], "would be erased")
            return
        tell_counts(session.out, counted["would_erase"], "would be erased", beside=True)
    session.out.ask_to_type(f"Type the user's id to erase them ({user}):", user, typed=confirm)
    receipt = session.client.call("POST", where, repeatable=False).body
    for _ in range(_ROUNDS):
        if receipt["status"] == "finished":
            break
        session.out.say("There is more; going on.")
        receipt = session.client.call("POST", where, repeatable=False).body
    _tell(session.out, receipt)


def _knows_dry_runs(client: Client) -> bool:
    """An older server would pass over the word and erase: it is asked what it knows before it is asked to count."""
    described = client.get("/v1/openapi.json")
    body = described.get("paths", {}).get(_ROUTE, {}).get("post", {}).get("requestBody", {})
    schema = body.get("content", {}).get("application/json", {}).get("schema", {})
    named = described.get("components", {}).get("schemas", {}).get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    return "dry_run" in named.get("properties", {})


def tell_counts(out: Out, counts: dict[str, Any], what: str, *, beside: bool = False) -> None:
    """Rows by table, as numbers or as {count, at_least}; beside the answer where a question follows."""
    rows = [(table, *_number(found)) for table, found in counts.items()]
    tell = out.say if beside else out.line
    for table, count, at_least in rows:
        if count:
            tell(f"{count:>10}{'+' if at_least else ' '} {table}")
    total = sum(count for _, count, _ in rows)
    tell((f"{total}{'+' if any(cut for *_, cut in rows) else ''} rows {what}.", "bold"))


def _number(found: Any) -> tuple[int, bool]:
    if isinstance(found, dict):
        return int(found.get("count", 0)), bool(found.get("at_least"))
    return int(found), False


def _tell(out: Out, receipt: dict[str, Any]) -> None:
    out.json(receipt)
    out.line((f"Receipt {receipt['id']}: {receipt['status']}", "bold green" if receipt["status"] == "finished" else "yellow"))
    for table, count in receipt["erased"].items():
        if count:
            out.line(f"{count!s:>10}  {table}")
    if receipt["finished_at"]:
        out.line((f"finished {times.local(receipt['finished_at'])}", "dim"))
    else:
        out.say("The hourly retention goes on with it.")
