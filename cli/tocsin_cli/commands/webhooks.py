"""`tocsin webhooks`: where your own systems hear what became of notifications."""

from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import Session, group, pass_session, within
from tocsin_cli.exits import Exit
from tocsin_cli.output import Part, styled

_LOOKS = 40  # half a second apart


@group(
    "webhooks",
    examples=[
        ("which are there, and do they work?", "tocsin webhooks list"),
        ("does it answer?", "tocsin webhooks test 01890a5d-ac96-774b-bcce-b302099a8057"),
        ("it was switched off and is mended", "tocsin webhooks resume 01890a5d-ac96-774b-bcce-b302099a8057"),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """See webhooks, test one, switch one on again. Scope: manage."""


@within(COMMAND, "list", examples=[("all of them", "tocsin webhooks list")])
@pass_session
def list_webhooks(session: Session, /) -> None:
    """List the webhooks, with how they stand."""
    found = session.client.get("/v1/webhooks")
    session.out.json(found)
    session.out.columns("id", "state", "last success", "events", "url").add([_row(one) for one in found["data"]])
    if not found["data"]:
        session.out.say("There is none.")


def _row(one: dict[str, Any]) -> list[Part]:
    state = styled("active") if one["is_active"] else (f"off: {one['disabled_reason']}", "red")
    if one["is_active"] and one["failing_since"]:
        state = (f"failing since {times.local(one['failing_since'])}", "yellow")
    events = ", ".join(str(event).removeprefix("notification.") for event in one["events"])
    return [str(one["id"]), state, times.local(one["last_success_at"]), events, str(one["url"])]


@within(COMMAND, "resume", examples=[("by its id", "tocsin webhooks resume 01890a5d-ac96-774b-bcce-b302099a8057")])
@click.argument("webhook")
@pass_session
def resume(session: Session, /, webhook: str) -> None:
    """Switch a webhook on again. What it missed while it was off is not told again."""
    answer = session.client.call("PATCH", path("/v1/webhooks/{}", webhook), body={"is_active": True}, repeatable=True).body
    session.out.json(answer)
    session.out.line((f"{answer['url']} is on.", "green"))


@within(
    COMMAND,
    "test",
    examples=[
        ("and wait for its answer", "tocsin webhooks test 01890a5d-ac96-774b-bcce-b302099a8057"),
        ("only send it", "tocsin webhooks test 01890a5d-ac96-774b-bcce-b302099a8057 --no-wait"),
    ],
)
@click.argument("webhook")
@click.option("--wait/--no-wait", default=True, help="Wait for what the endpoint answers (up to 20 seconds).")
@pass_session
def test(session: Session, /, webhook: str, wait: bool) -> Exit | None:
    """Send a test event to a webhook, and tell what it answered. Exit code 1: it was not delivered."""
    sent = session.client.call("POST", path("/v1/webhooks/{}/test", webhook)).body
    delivery = sent
    for _ in range(_LOOKS if wait else 0):
        if delivery["status"] != "pending" or delivery.get("error"):
            break
        session.pause(0.5)
        rows = session.client.rows(path("/v1/webhooks/{}/deliveries", webhook), limit=20, event_type="webhook.test")
        delivery = next((row for row in rows if row["id"] == sent["id"]), delivery)
    session.out.json(delivery)
    answer = delivery.get("response_status")
    said = (
        f"it answered {answer} in {delivery.get('duration_ms')} ms" if answer else str(delivery.get("error") or "no answer yet")
    )
    session.out.line(styled(str(delivery["status"])), f"  {said}")
    return None if delivery["status"] == "delivered" or not wait else Exit.NO
