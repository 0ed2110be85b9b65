"""What is said of a notification and of each of its routes, in words."""

from typing import Any

import httpx
import pytest

from tests.clients.python.wire import Asker, Wire
from tocsin_cli import reasons as cli_reasons
from tocsin_client import Route, reasons
from tocsin_client.notifications import route_of

RECORD: dict[str, Any] = {
    "notification_id": "n-1",
    "type": "order.shipped",
    "status": "dead_letter",
    "producer": "shop",
    "mode": "live",
    "route_counts": {},
    "accepted_at": "2026-11-17T10:00:00Z",
    "routes": [],
    "timeline": [{"at": "2026-11-17T10:00:00Z", "what": "accepted", "reason": "by shop", "route_id": None}],
}


def test_the_reasons_are_those_that_the_command_line_tells() -> None:
    assert reasons.MEANINGS == cli_reasons.MEANINGS


def test_what_could_not_be_planned_says_what_helps(ask: Asker, wire: Wire) -> None:
    letter = {"message": "the template is broken", "recovery_hint": "mend it and replay"}
    wire.then(httpx.Response(200, json=RECORD | {"dead_letter": letter}))

    found = ask("explain", "n-1")

    assert str(found).splitlines() == [
        "order.shipped n-1: dead_letter",
        "given up: the template is broken; what helps: mend it and replay",
    ]
    assert [str(step) for step in found.timeline] == ["2026-11-17T10:00:00+00:00 accepted: by shop"]


def route(**changes: object) -> Route:
    return route_of({"route_id": "r", "channel": "email", "recipient": "user:ada", "status": "pending"} | changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"status": "published", "provider": "inbox"}, "published: in the inbox"),
        (
            {"status": "published", "provider": "ses", "feedback": "hard_bounced"},
            "published: accepted by ses; the provider says that it bounced for good",
        ),
        ({}, "pending"),
        (
            {"reason": "quiet_hours", "next_attempt_at": "2026-11-17T10:00:00Z"},
            "pending: quiet_hours (the user's quiet hours; costs no attempt); next try at 2026-11-17T10:00:00+00:00",
        ),
        ({"status": "skipped", "reason": "something new"}, "skipped: something new"),
        (
            {
                "status": "dead_letter",
                "reason": "ambiguous",
                "may_have_arrived": True,
                "last_error": {"message": "no answer"},
                "dead_letter": {"recovery_hint": "ask the reader"},
            },
            (
                "dead_letter: ambiguous (the provider's answer was lost, no event told of it, and it must not be sent again); "
                "no answer; it may have arrived all the same; what helps: ask the reader"
            ),
        ),
    ],
)
def test_each_route_says_why_in_a_line(changes: dict[str, object], why: str) -> None:
    assert route(**changes).why == why
    assert str(route(**changes)) == f"email to user:ada: {why}"
