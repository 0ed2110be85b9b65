"""`tocsin explain`: what became of a notification, and why."""

from typing import Any
from uuid import UUID

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import Session, command, pass_session
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused
from tocsin_cli.output import Out, styled
from tocsin_cli.reasons import meaning
from tocsin_cli.sentences import about, sentence

_OTHERS = 5


@command(
    "explain",
    examples=[
        ("by its id", "tocsin explain 01890a5d-ac96-774b-bcce-b302099a8057"),
        ("the last one to an address", "tocsin explain ada@example.com"),
        ("by what the provider calls it, with the words as they were sent", "tocsin explain 0102018b-aaaa-000000 --message"),
        ("every decision, for a script", "tocsin explain order-17 --json | jq '.timeline[]'"),
    ],
)
@click.argument("what")
@click.option("--message", is_flag=True, help="Show the words as they were sent, on every channel.")
@pass_session
def COMMAND(session: Session, /, what: str, message: bool) -> None:  # noqa: N802
    """Tell what became of a notification, and why.

    WHAT is its id, or anything that `tocsin search` finds: an idempotency key, a provider's message id, an address, a person, a
    dead letter. Of several notifications the first that the search names is told, and the others are listed. By a person or
    their address only what concerns them is told.
    """
    found = _find(session, what)
    if message:
        found |= {"messages": [_message(session, found, route) for route in found["routes"]]}
    session.out.json(found)
    if "timeline" in found:
        tell(session.out, found)
    else:
        _tell_event(session.out, found)
    for one in found.get("messages", []):
        _tell_message(session.out, one)


def _find(session: Session, what: str) -> dict[str, Any]:
    """The notification by its id, or what a search leads to."""
    client = session.client
    if _is_uuid(what):
        try:
            found: dict[str, Any] = client.get(path("/v1/notifications/{}", what))
            return found
        except Refused as refused:
            if refused.status != 404:
                raise
    results = client.get("/v1/search", q=what)["data"]
    for kind, look in (("notification", _notification), ("dead_letter", _of_letter), ("event", _event), ("user", _of_user)):
        of_kind = [one for one in results if one["kind"] == kind]
        for one in of_kind[:1]:
            shown = look(session, str(one["id"]))
            _name_others(session.out, [str(other["id"]) for other in of_kind[1:]], kind)
            return _of_person(shown, one, results)
    raise Failed(f"Nothing is found by `{what}`.", Exit.NOT_FOUND, hint="`tocsin search --help` says what can be searched for.")


def _of_person(found: dict[str, Any], hit: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
    """What concerns the one person by whom it was found: a newsletter has thousands of other routes."""
    people = {f"user:{one['id']}" for one in results if one["kind"] == "user"}
    if "routes" not in found or len(people) != 1 or not (hit["kind"] == "user" or hit.get("matched") == "recipient"):
        return found
    routes = [route for route in found["routes"] if route["recipient"] in people]
    theirs = {route["route_id"] for route in routes}
    steps = [step for step in found["timeline"] if not step.get("route_id") or step["route_id"] in theirs]
    return found | {"routes": routes, "timeline": steps} if routes else found


def _notification(session: Session, notification_id: str) -> dict[str, Any]:
    found: dict[str, Any] = session.client.get(path("/v1/notifications/{}", notification_id))
    return found


def _of_letter(session: Session, letter_id: str) -> dict[str, Any]:
    letter = session.client.get(path("/v1/dead-letters/{}", letter_id))
    if not letter.get("notification_id"):
        raise Failed("This dead letter belongs to no notification.", Exit.NOT_FOUND, hint=f"tocsin dead-letters show {letter_id}")
    return _notification(session, str(letter["notification_id"]))


def _event(session: Session, event_id: str) -> dict[str, Any]:
    found: dict[str, Any] = session.client.get(path("/v1/events/{}", event_id))
    return found


def _of_user(session: Session, user_id: str) -> dict[str, Any]:
    rows = session.client.rows("/v1/notifications", user_id=user_id, limit=_OTHERS + 1)
    if not rows:
        raise Failed(f"`{user_id}` is known, and nothing was sent to them.", Exit.NOT_FOUND)
    _name_others(session.out, [str(row["notification_id"]) for row in rows[1:]], "notification")
    return _notification(session, str(rows[0]["notification_id"]))


def _name_others(out: Out, ids: list[str], kind: str) -> None:
    if ids:
        out.say((f"Others that fit ({kind.replace('_', ' ')}): ", "dim"), ", ".join(ids[:_OTHERS]))


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def tell(out: Out, found: dict[str, Any]) -> None:
    """The head, then the timeline, each step with the route it is about."""
    out.line((str(found["type"]), "bold"), "  ", str(found["notification_id"]))
    out.line(("status     ", "dim"), str(found["status"]), f"  ({found['mode']})" if found.get("mode") == "test" else "")
    out.line(("from       ", "dim"), f"{found['producer']}, {times.local(found['accepted_at'])}")
    if found.get("idempotency_key"):
        out.line(("key        ", "dim"), str(found["idempotency_key"]))
    if found.get("dead_letter"):
        out.line(("dead letter", "dim"), f"  {found['dead_letter']['id']}: {found['dead_letter']['recovery_hint']}")
    out.line("")
    routes = {route["route_id"]: route for route in found["routes"]}
    for step in found["timeline"]:
        said, colour = sentence(step)
        out.line(
            (times.local(step["at"]), "dim"), "  ", (about(step, routes.get(step.get("route_id"), {})), "dim"), (said, colour)
        )
    out.line("")
    tell_routes(out, found["routes"])


def tell_routes(out: Out, routes: list[dict[str, Any]]) -> None:
    """How each route stands, with the provider's answer and what to do."""
    for route in routes:
        attempts = f"  {route['attempt_count']} of {route['max_attempts']} attempts" if route["attempt_count"] else ""
        reason = str(route["reason"] or "")
        out.line(styled(str(route["status"])), f"  {route['channel']} to {route['recipient']}", (attempts, "dim"))
        if reason:
            means = meaning(reason)
            out.line(("  why         ", "dim"), f"{reason}{f' ({means})' if means else ''}")
        template = route.get("template")
        facts = {
            "because": route.get("audience_reason"),
            "provider": route.get("provider"),
            "message id": route.get("provider_message_id"),
            "answer": route.get("provider_response"),
            "feedback": route.get("feedback") if route.get("feedback") != "none" else None,
            "words": f"{template['name']}, version {template['version']}" if template else None,
            "error": _error(route.get("last_error")),
            "next try": times.local(route["next_attempt_at"]) if route.get("next_attempt_at") else None,
        }
        for name, value in facts.items():
            if value:
                out.line((f"  {name:<12}", "dim"), str(value))
        letter = route.get("dead_letter")
        if letter and not letter.get("resolution"):
            out.line(("  do          ", "dim"), f"{letter['recovery_hint']}; tocsin dead-letters replay {letter['id']}")


def _error(error: dict[str, Any] | None) -> str | None:
    return f"{error['classification']}: {error['message']}" if error else None


def _tell_event(out: Out, event: dict[str, Any]) -> None:
    for name, value in event.items():
        if value not in (None, "", {}, []):
            out.line((f"{name:<18}", "dim"), times.local(value) if name.endswith("_at") else str(value))


def _message(session: Session, found: dict[str, Any], route: dict[str, Any]) -> dict[str, Any]:
    """The words of a route; where they cannot be rendered, why."""
    where = path("/v1/notifications/{}/routes/{}/message", str(found["notification_id"]), str(route["route_id"]))
    try:
        shown: dict[str, Any] = session.client.get(where)
    except Refused as refused:
        if refused.exit_code is Exit.FORBIDDEN:
            raise
        whose = {name: route[name] for name in ("channel", "recipient")}
        shown = whose | {"note": refused.message, "problem": refused.problem}
    return {"route_id": route["route_id"]} | shown


def _tell_message(out: Out, one: dict[str, Any]) -> None:
    out.line("")
    out.line((f"{one['channel']} to {one['recipient']}", "bold"))
    if one.get("note"):
        out.line((str(one["note"]), "dim"))
    if one.get("subject"):
        out.line(("subject: ", "dim"), str(one["subject"]))
    for title, value in (("reply to", one.get("reply_to")), ("cc", one.get("cc")), ("files", one.get("attachments"))):
        if value:
            out.line((f"{title}: ", "dim"), value if isinstance(value, str) else ", ".join(value))
    if one.get("text") or one.get("html"):
        out.line("")
        out.block(str(one.get("text") or one["html"]))
