"""`tocsin send`: one notification."""

from datetime import datetime
from typing import Any
from uuid import uuid4

import click

from tocsin_cli import times, values
from tocsin_cli.client import path
from tocsin_cli.command import AHEAD, CHANNELS, Session, command, pass_session
from tocsin_cli.commands.explain import tell_routes
from tocsin_cli.exits import Exit
from tocsin_cli.failures import usage
from tocsin_cli.safe_text import safe_json

LONGEST_WAIT = 20  # seconds that one call may wait
_ENDED_WELL = ("published", "skipped", "cancelled")


@command(
    "send",
    examples=[
        ("to somebody by address, with words of your own",
         'tocsin send --email ada@example.com --type hello --title "Hello" --message "It works."'),
        ("to two users, and see how it ends", 'tocsin send --to ada --to bo --type order.shipped --payload @order.json --wait'),
        ("to who watches a scope, tomorrow", 'tocsin send --scope harbour --type notice --title "Closed" --send-at 1d'),
        ("what would be asked for? Nothing is sent", 'tocsin send --everyone --type notice --title "Hi" --dry-run'),
        ("through the sandbox: nobody gets it",
         'tocsin send --email bounce@sandbox.tocsin.example --type t --title "T" --test --wait'),
    ],
)  # fmt: skip
@click.option("--type", "type_", required=True, metavar="TYPE", help="Your name for what happened.")
@click.option("--to", "user_ids", multiple=True, metavar="USER", help="A user, by your own id. May be repeated.")
@click.option("--email", metavar="ADDRESS", help="Somebody without a user record.")
@click.option("--phone", metavar="NUMBER", help="The same by phone, such as +4915112345678; with --email both.")
@click.option("--scope", metavar="SCOPE", help="Everybody who watches the scope.")
@click.option("--thread", metavar="KIND:ID", help="Who is subscribed to the thread; beside another audience, what it is about.")
@click.option("--everyone", is_flag=True, help="Everybody in the tenant.")
@click.option("--title", help="The title or subject.")
@click.option("--message", help="The words; @file and - work here too.")
@click.option("--payload", metavar="JSON", help="A JSON object, @file, or - for standard input.")
@click.option("--channel", "channels", multiple=True, type=CHANNELS, help="May be repeated; else what the type says.")
@click.option("--template", metavar="NAME", help="Whose words to use; else the type's.")
@click.option("--priority", type=click.Choice(["low", "normal", "high", "critical"]))
@click.option("--reply-to", metavar="ADDRESS", help="Of its email: where answers go.")
@click.option("--cc", multiple=True, metavar="ADDRESS", help="Of its email: who gets a copy. May be repeated.")
@click.option("--attach", "attachments", multiple=True, metavar="URL", help="Of its email: a file, by https. May be repeated.")
@click.option("--send-at", type=AHEAD, help="Not before: a time, or a span from now such as 2h.")
@click.option("--expires-at", type=AHEAD, help="Not after.")
@click.option("--key", metavar="KEY", help="The idempotency key: the same key sends once. Made and printed if you give none.")
@click.option("--wait", is_flag=True, help="Wait up to 20 seconds for the outcome: one attempt, without retries.")
@click.option("--test", is_flag=True, help="Through the sandbox: nobody gets it, and everything else is as if.")
@click.option("--dry-run", is_flag=True, help="Print the request and send nothing.")
@pass_session
def COMMAND(session: Session, /, key: str | None, wait: bool, dry_run: bool, **asked: Any) -> Exit | None:  # noqa: N802
    """Send a notification.

    The audience is one of --to, --email/--phone, --scope, --thread and --everyone. The words are --title and --message, or the
    --payload that a template renders. A call that fails on its way is repeated with the same idempotency key, so it is never
    sent twice. With --wait the exit code is 1 unless every route ended well.
    """
    intent = _intent(**asked)
    key = key or f"cli-{uuid4()}"
    where = "/v1/intents/wait" if wait and _can_be_waited_for(intent) else "/v1/intents"
    headers = {"Idempotency-Key": _quoted(key)} | ({"Prefer": f"wait={LONGEST_WAIT}"} if where.endswith("wait") else {})
    if dry_run:
        _show_request(session, where, headers, intent)
        return None
    answer = session.client.call("POST", where, body=intent, headers=headers, repeatable=True, seconds=LONGEST_WAIT + 15)
    outcome = answer.body | {"idempotency_key": key, "replayed": answer.headers.get("idempotency-replayed") == "true"}
    if wait:
        outcome |= _waited(session, answer.body, looks=0 if where.endswith("wait") else LONGEST_WAIT * 2)
    session.out.json(outcome)
    _tell(session, outcome)
    return None if not wait or _is_well(outcome) else Exit.NO


def _intent(**asked: Any) -> dict[str, Any]:
    thread = _thread(asked["thread"])
    audience = _audience(thread=thread, **{name: asked[name] for name in ("user_ids", "email", "phone", "scope", "everyone")})
    payload = values.object_of(asked["payload"], "--payload") if asked["payload"] else {}
    words = {"title": asked["title"], "message": values.text_of(asked["message"]) if asked["message"] else None}
    moments: dict[str, datetime | None] = {name: asked[name] for name in ("send_at", "expires_at")}
    optional = {
        "channels": list(asked["channels"]),
        "template": asked["template"],
        "priority": asked["priority"],
        "reply_to": asked["reply_to"],
        "cc": list(asked["cc"]),
        "attachments": [{"url": url} for url in asked["attachments"]],
        "thread": thread if audience["kind"] != "thread" else None,
        "mode": "test" if asked["test"] else None,
    } | {name: times.wire(at) if at else None for name, at in moments.items()}
    said = {name: value for name, value in words.items() if value}
    return {"type": asked["type_"], "audience": audience, "payload": payload | said} | {
        name: value for name, value in optional.items() if value
    }


def _audience(
    *, user_ids: tuple[str, ...], email: str | None, phone: str | None, scope: str | None, everyone: bool, thread: Any
) -> dict[str, Any]:
    address = {name: value for name, value in (("email", email), ("phone", phone)) if value}
    found: list[dict[str, Any]] = [
        *([{"kind": "users", "user_ids": list(user_ids)}] if user_ids else []),
        *([{"kind": "address"} | address] if address else []),
        *([{"kind": "scope", "scope": scope}] if scope else []),
        *([{"kind": "tenant"}] if everyone else []),
    ]
    if not found and thread:
        found = [{"kind": "thread", "thread": thread}]
    if len(found) != 1:
        said = "Say who should get it" if not found else "Say one audience"
        raise usage(f"{said}: --to, --email and --phone, --scope, --thread, or --everyone.")
    return found[0]


def _thread(text: str | None) -> dict[str, str] | None:
    if not text:
        return None
    kind, colon, thread_id = text.partition(":")
    if not (kind and colon and thread_id):
        raise usage("--thread must be a kind and an id, such as order:A-17.")
    return {"kind": kind, "id": thread_id}


def _quoted(key: str) -> str:
    """Bare where it may be; with a comma or a quote in it as a string of RFC 8941."""
    if not key.isascii() or not key.isprintable() or not 1 <= len(key) <= 255:
        raise usage("--key must be 1 to 255 printable ASCII characters.")
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if "," in key or '"' in key else key


def _can_be_waited_for(intent: dict[str, Any]) -> bool:
    return intent["audience"]["kind"] in ("users", "address") and "send_at" not in intent


def _show_request(session: Session, where: str, headers: dict[str, str], intent: dict[str, Any]) -> None:
    """As it would be sent, without the key."""
    request = {"method": "POST", "url": session.target.url + where, "headers": headers, "body": intent}
    session.out.json(request)
    session.out.line(f"POST {request['url']}")
    for name, value in headers.items():
        session.out.line(f"{name}: {value}")
    session.out.line("Authorization: Bearer …")
    session.out.line("")
    session.out.block(safe_json(intent))
    session.out.say("Nothing was sent.")


def _waited(session: Session, answer: dict[str, Any], looks: int) -> dict[str, Any]:
    """How it stands; what the call itself did not wait for is looked at again and again."""
    where = path("/v1/notifications/{}", str(answer["notification_id"]))
    found = answer if "routes" in answer else session.client.get(where)
    for _ in range(looks):
        if found["status"] not in ("accepted", "in_progress"):
            break
        session.pause(0.5)
        found = session.client.get(where)
    return {"status": found["status"], "routes": found["routes"]} | ({"reason": found["reason"]} if found.get("reason") else {})


def _tell(session: Session, outcome: dict[str, Any]) -> None:
    out = session.out
    out.line(str(outcome["notification_id"]), "  ", (str(outcome["status"]), "bold"))
    if outcome["replayed"]:
        out.say("It was sent before with this key; this is the first answer again.")
    if "routes" in outcome:
        if outcome.get("reason"):
            out.line(str(outcome["reason"]))
        tell_routes(out, outcome["routes"])
    out.say(("Idempotency-Key: ", "dim"), str(outcome["idempotency_key"]))
    if "routes" not in outcome:
        out.say(("What became of it: ", "dim"), f"tocsin explain {outcome['notification_id']}")


def _is_well(outcome: dict[str, Any]) -> bool:
    return outcome["status"] == "finished" and all(route["status"] in _ENDED_WELL for route in outcome["routes"])
