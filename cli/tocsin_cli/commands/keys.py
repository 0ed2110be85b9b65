"""`tocsin keys`: API keys."""

from datetime import datetime
from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import AHEAD, SPAN, Session, group, limit_option, pass_session, within, yes_option
from tocsin_cli.output import Part, styled

SCOPES = ["send", "read", "inbox", "data", "manage", "operate", "admin"]
_AN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@group(
    "keys",
    examples=[
        ("a key for a producer; it is printed once",
         'KEY=$(tocsin keys create "shop server" --producer shop --scope send --yes)'),
        ("which are in use?", "tocsin keys list --active"),
        ("a new secret for the same rights; the old one works for another hour", f"tocsin keys rotate {_AN_ID} --overlap 1h"),
    ],
)  # fmt: skip
def COMMAND() -> None:  # noqa: N802
    """Make, rotate and revoke API keys.

    A key is shown once, when it is made: alone on standard output, everything about it on standard error. Scope: admin.
    """


@within(COMMAND, "list", examples=[("of one producer, those that still open doors", "tocsin keys list --active --producer shop")])
@click.option("--active/--ended", "is_active", default=None, help="Only those that open doors, or only those that do not.")
@click.option("--producer", metavar="NAME")
@click.option("--user", metavar="USER", help="Whose keys.")
@limit_option
@pass_session
def list_keys(session: Session, /, is_active: bool | None, producer: str | None, user: str | None, limit: int | None) -> None:
    """List the keys, newest first, without their secrets."""
    rows: list[dict[str, Any]] = []
    table = session.out.columns("id", "prefix", "state", "mode", "producer", "scopes", "last used", "name")
    filters = {"is_active": is_active, "producer": producer, "user_id": user}
    for page in session.client.pages("/v1/api-keys", limit=limit, **filters):
        rows += page
        table.add([_row(session, row) for row in page])
    session.out.json({"data": rows})


def _row(session: Session, row: dict[str, Any]) -> list[Part]:
    ends = times.parsed(row["expires_at"]) if row["expires_at"] else None
    state = "revoked" if row["revoked_at"] else "expired" if ends and ends <= session.now() else "active"
    words = [str(row[name]) for name in ("mode", "producer")]
    used = times.local(row["last_used_at"]) or "never"
    return [str(row["id"]), str(row["key_prefix"]), styled(state), *words, " ".join(row["scopes"]), used, str(row["name"])]


@within(
    COMMAND,
    "create",
    examples=[
        ("for a server that only sends", 'tocsin keys create "shop server" --producer shop --scope send'),
        ("for tests: what it sends reaches nobody", 'tocsin keys create ci --producer ci --scope send --test --expires-at 30d'),
    ],
)  # fmt: skip
@click.argument("name")
@click.option("--producer", required=True, metavar="NAME", help="As whom it sends.")
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="May be repeated.")
@click.option("--test", is_flag=True, help="A test key: what it sends goes to the sandbox.")
@click.option("--expires-at", type=AHEAD, help="When it ends: a time, or a span from now such as 30d.")
@click.option("--rate-limit", type=click.IntRange(1), metavar="N", help="Intents in a minute.")
@click.option("--user", metavar="USER", help="Whose key it is; it ends with them.")
@yes_option
@pass_session
def create(
    session: Session, /, name: str, scopes: tuple[str, ...], test: bool, expires_at: datetime | None, yes: bool, **more: Any
) -> None:
    """Make a key, and show it this once.

    NAME is for you. A key with the scope admin may do everything: you are asked before one is made.
    """
    if "admin" in scopes:
        session.out.ask("A key with the scope admin can make other keys and see everything. Make it?", yes=yes)
    body = {"name": name, "producer": more["producer"], "scopes": list(scopes), "mode": "test" if test else "live"}
    optional = {
        "expires_at": times.wire(expires_at) if expires_at else None,
        "rate_limit": more["rate_limit"],
        "user_id": more["user"],
    }
    answer = session.client.call(
        "POST", "/v1/api-keys", body=body | {key: value for key, value in optional.items() if value}
    ).body
    _show(session, answer)


@within(COMMAND, "rotate", examples=[("the old one works for another hour", f"tocsin keys rotate {_AN_ID} --overlap 1h")])
@click.argument("key_id", metavar="ID")
@click.option("--overlap", type=SPAN, default="1d", metavar="SPAN", help="How long the old one still works: 0s to 30d (1d).")
@pass_session
def rotate(session: Session, /, key_id: str, overlap: float) -> None:
    """Make a new key with the same rights, and show it this once. The old one ends after the overlap."""
    body = {"overlap_seconds": int(overlap)}
    answer = session.client.call("POST", path("/v1/api-keys/{}/rotate", key_id), body=body).body
    _show(session, answer)
    session.out.say(f"The old key, {answer['replaces']['id']}, works until {times.local(answer['replaces']['expires_at'])}.")


@within(COMMAND, "revoke", examples=[("for good", f"tocsin keys revoke {_AN_ID}")])
@click.argument("key_id", metavar="ID")
@yes_option
@pass_session
def revoke(session: Session, /, key_id: str, yes: bool) -> None:
    """Switch a key off for good."""
    where = path("/v1/api-keys/{}", key_id)
    known = session.client.get(where)
    session.out.ask(f"Revoke {known['name']} of {known['producer']} ({known['key_prefix']}…) for good?", yes=yes)
    answer = session.client.call("POST", f"{where}/revoke", repeatable=True).body
    session.out.json(answer)
    session.out.line(f"{answer['name']} is revoked.")


def _show(session: Session, answer: dict[str, Any]) -> None:
    session.out.json(answer)
    session.out.say(f"{answer['name']}: {answer['id']}, {answer['mode']}, {' '.join(answer['scopes'])}")
    session.out.say(("This is the only time that it is shown:", "bold"))
    session.out.secret(str(answer["key"]))
