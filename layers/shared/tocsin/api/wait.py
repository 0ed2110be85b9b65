"""Synchronous sends: an intent whose producer waits for the outcome."""

from datetime import datetime
from functools import partial
from typing import NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api import intents, routes
from tocsin.api.depth import HEADER_PARAMETER, depth_of
from tocsin.api.idempotency import KEY_HEADER, idempotency_key
from tocsin.api.intent_refusals import refusal
from tocsin.api.notifications import state_of
from tocsin.api.routes import NotificationRoute
from tocsin.api.words import NotificationStatus
from tocsin.http import prefer, problems, rate_limits
from tocsin.http.door import Call, Endpoint, Response
from tocsin.intake.intents import Intent
from tocsin.intake.wait import Waited, send_and_wait

_ENDLESS = ("tenant", "thread", "scope")


class WaitOutcome(TypedDict):
    """What became of a notification while its producer waited. `reason`: why it could not even be planned."""

    notification_id: UUID
    accepted_at: datetime
    status: NotificationStatus
    reason: NotRequired[str]
    routes: list[NotificationRoute]
    warnings: NotRequired[list[intents.IntentWarning]]


def post_wait(call: Call) -> Response:
    seconds = prefer.required_wait_of(call.request.headers)
    value = call.request.json()
    key = idempotency_key(call.request.headers.get("idempotency-key"))
    asked = intents.asked(key, value, depth_of(call), call.principal)
    _refuse_what_has_no_end(asked.intent)
    end, allowance = intents.admit(call, 1, partial(send_and_wait, asked=asked, seconds=seconds))
    if not isinstance(end, Waited):
        raise refusal(end)
    replay = {"Idempotency-Replayed": "true"} if end.admitted.is_replay else {}
    headers = {"Preference-Applied": f"wait={seconds}"} | replay | rate_limits.headers_of(allowance, intents.LIMIT)
    if end.outcome is None:
        return Response(202, intents.receipt(end.admitted), headers)
    return Response(200, _shown(end), headers)


def _refuse_what_has_no_end(intent: Intent) -> None:
    """What is known to end after any wait is refused, not waited for."""
    if intent.send_at is not None:
        raise problems.invalid_field("/send_at", "cannot be waited for; send it without `Prefer: wait`")
    if intent.audience.kind in _ENDLESS:
        raise problems.invalid_field(
            "/audience/kind",
            "has no end that could be waited for: name `users` or an `address`, or send it without `Prefer: wait`",
        )


def _shown(end: Waited) -> WaitOutcome:
    found = end.outcome
    shown: WaitOutcome = {
        "notification_id": end.admitted.notification_id,
        "accepted_at": end.admitted.accepted_at,
        "status": "dead_letter",
        "routes": [],
    }
    if end.admitted.unreachable:
        shown["warnings"] = intents.warnings(end.admitted)
    if end.plan_failure is not None:
        shown["reason"] = end.plan_failure
        return shown
    assert found is not None  # noqa: S101 - the caller has looked
    shown["status"] = state_of(found.counts)
    shown["routes"] = [routes.shown(route, found.attempts) for route in found.routes]
    return shown


ENDPOINTS = [
    Endpoint(
        "POST /v1/intents/wait",
        "send",
        post_wait,
        "Ask for a notification and wait for its outcome: one attempt, no retries",
        body=Intent,
        answer=WaitOutcome,
        other_answers={202: intents.IntentAccepted},
        answers={
            202: "Accepted; the outcome was not known in time",
            400: "Not JSON, without a valid Idempotency-Key, or without `Prefer: wait`",
            403: "The key lacks the scope, or `manage` for the users that are given",
            409: "The key is in flight, an address is another user's, or the call comes out of a loop",
            429: "Rate limited",
            503: "Too many wait already",
        },
        parameters=[KEY_HEADER, intents.prefer_header(required=True), HEADER_PARAMETER],
    ),
]
