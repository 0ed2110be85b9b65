"""`tocsin search`: whatever somebody has in hand, to what it belongs to."""

from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.command import Session, command, pass_session
from tocsin_cli.exits import Exit
from tocsin_cli.output import Part, styled


@command(
    "search",
    examples=[
        ("an address from a complaint", "tocsin search ada@example.com"),
        ("an idempotency key from your own log", "tocsin search order-17"),
        ("only the ids", "tocsin search ada --json | jq -r '.data[].id'"),
    ],
)
@click.argument("text")
@pass_session
def COMMAND(session: Session, /, text: str) -> Exit | None:  # noqa: N802
    """Find notifications, people and dead letters by anything.

    TEXT is a notification's, dead letter's or event's id, an idempotency key, a provider's message id, an email address, a phone
    number, a user's id or the beginning of it, or a username. Exit code 4: nothing is found.
    """
    found = session.client.get("/v1/search", q=text)
    session.out.json(found)
    table = session.out.columns("kind", "id", "by", "status", "when", "about")
    table.add([_row(one) for one in found["data"]])
    if not found["data"]:
        session.out.say("Nothing is found.")
        return Exit.NOT_FOUND
    return None


def _row(one: dict[str, Any]) -> list[Part]:
    about = [str(one[name]) for name in ("type", "recipient", "email", "phone", "username") if one.get(name)]
    at = times.local(one.get("accepted_at") or one.get("created_at"))
    kind, matched = (str(one.get(name, "")).replace("_", " ") for name in ("kind", "matched"))
    return [kind, str(one["id"]), matched, styled(str(one.get("status") or "")), at, "  ".join(about)]
