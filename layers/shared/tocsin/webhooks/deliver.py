"""Deliver: tell hooks what happened. Calls are started here and recorded when their answers come."""

import time
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access import depth_tokens
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.foundation import aws, secrets, work_queue
from tocsin.foundation.calls import Answered, Calls, OutboundCall
from tocsin.foundation.due import Due
from tocsin.foundation.settings import settings
from tocsin.store import outbox
from tocsin.store.flow.enqueue_webhook import TEST
from tocsin.store.flow.settle_webhooks import SettledWebhook, WebhookSettlement, settle_webhooks
from tocsin.store.rows import Hook, WebhookMessage, WebhookWork
from tocsin.webhooks import endpoints, signing_secrets
from tocsin.webhooks.answers import EndpointAnswer, NotAsked
from tocsin.webhooks.ask import SignedCall, ask, written
from tocsin.webhooks.endpoints import Candidate, EndpointOutcome
from tocsin.webhooks.schedule import delay_after

UNSEALED_PAUSE = timedelta(seconds=30)  # until KMS is asked again

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """A call under way, and the lease that fences what becomes of it."""

    candidate: Candidate
    message: WebhookMessage
    lease_token: UUID


def deliver(conn: Connection[Any], claimed: list[WebhookWork], *, lease_token: UUID, send_until: float, calls: Calls) -> None:
    """What has nothing left to tell, or nobody, ends; the rest is called, or put off where its endpoint has no room."""
    if over := [one for one in claimed if one.message is None or one.hook is None or not one.hook.is_active]:
        settle_webhooks(conn, [_ended(one, lease_token) for one in over]).fetchall()
    wanted = [
        Candidate(one.work, f"webhook:{one.hook.id}", one.lane, (one.message, one.hook))
        for one in claimed
        if one.message is not None and one.hook is not None and one.hook.is_active
    ]
    if wanted and time.monotonic() > send_until:
        outbox.release(conn, [one.work.id for one in wanted], lease_token=lease_token)
    elif wanted:
        _call(conn, wanted, lease_token=lease_token, calls=calls)


def _call(conn: Connection[Any], wanted: list[Candidate], *, lease_token: UUID, calls: Calls) -> None:
    try:
        depth_secret = secrets.known(settings().user_token_secret_arn)
    except secrets.SecretUnavailable as error:
        log.error("a secret cannot be read; the calls wait", extra={"count": len(wanted), "error": str(error)})
        later = [WebhookSettlement(one.work.id, lease_token, "pending", attempted=False, delay=UNSEALED_PAUSE) for one in wanted]
        settle_webhooks(conn, later).fetchall()
        return
    aws.client("kms")  # made here: the threads would all make it at once
    start = partial(_start, calls=calls, lease_token=lease_token, depth_secret=depth_secret)
    endpoints.start_calls(conn, wanted, calls, start, lease_token=lease_token)


def settle(conn: Connection[Any], answered: Answered) -> list[Due]:
    """Record the answers. Returns what waited for these endpoints and is due now."""
    settlements = [_settlement(called, answer) for called, answer in answered]
    settled = {row.outbox_id: row for row in settle_webhooks(conn, settlements)}
    due = endpoints.record_outcomes(conn, _outcomes(answered, settled))
    if len(settled) < len(answered):
        log.warning("lost the lease while calling; they are told again", extra={"count": len(answered) - len(settled)})
    _nudge(settlements, settled)
    return due


def _start(candidate: Candidate, *, calls: Calls, lease_token: UUID, depth_secret: bytes) -> None:
    message, hook = candidate.about
    call = signed_call(candidate, message, hook, depth_secret)
    calls.start(
        OutboundCall(
            candidate.endpoint,
            WebhookCall(candidate, message, lease_token),
            partial(ask, call, allow_private=settings().allow_private_destinations),
            settle,
            owner=candidate.work.tenant_id,
        )
    )


def signed_call(candidate: Candidate, message: WebhookMessage, hook: Hook, depth_secret: bytes) -> SignedCall:
    """Headers beside those of every signed call belong here. What the hook sends us in turn goes one deeper than what it heard
    of."""
    depth = depth_tokens.sign(candidate.work.trigger_depth + 1, candidate.work.tenant_id, depth_secret)
    return SignedCall(
        tenant_id=candidate.work.tenant_id,
        url=hook.url,
        message_id=message.id,
        body=written(message.payload),
        secrets=tuple(secret for secret in (hook.secret, hook.previous_secret) if secret),
        purpose=signing_secrets.purpose_of("webhook", hook.id),
        timeout=float(hook.timeout_seconds),
        trace_id=message.trace_id,
        headers={depth_tokens.HEADER: depth},
    )


def _ended(one: WebhookWork, lease_token: UUID) -> WebhookSettlement:
    """Of a hook that is disabled. Where the delivery is gone too, only its work is left to end."""
    return WebhookSettlement(one.work.id, lease_token, "failed", attempted=False, error="disabled")


def _settlement(called: WebhookCall, answer: EndpointAnswer | NotAsked) -> WebhookSettlement:
    work = called.candidate.work
    settlement = partial(WebhookSettlement, work.id, called.lease_token)
    if isinstance(answer, NotAsked):
        return settlement("pending", attempted=False, delay=UNSEALED_PAUSE, is_nudged=True)
    said: dict[str, Any] = {
        "response_status": answer.status,
        "response_body": answer.body,
        "error": answer.error,
        "duration_ms": answer.duration_ms,
    }
    tries = work.attempt_count + 1
    if answer.is_success:
        return settlement("delivered", **said)
    if answer.error == "gone" or (tries >= work.max_attempts and called.message.event_type == TEST):
        return settlement("failed", **said)
    if tries >= work.max_attempts:
        why = f"the endpoint answered {answer.status}" if answer.status else f"the endpoint gave no answer: {answer.error}"
        return settlement("failed", failure_message=why, recovery_hint=hint_for("webhook_exhausted"), **said)
    delay = delay_after(tries, work.id, retry_after=answer.retry_after)
    return settlement("pending", delay=delay, is_nudged=work_queue.is_reachable_by_nudge(delay), **said)


def _outcomes(answered: Answered, settled: dict[UUID, SettledWebhook]) -> list[EndpointOutcome]:
    """What counts for the endpoints. A lost lease does not matter to them; an endpoint that was not asked has no outcome."""
    return [
        EndpointOutcome(
            called.candidate,
            answer.is_success,
            answer.timed_out,
            (row := settled.get(called.candidate.work.id)) is not None and row.is_awaited,
        )
        for called, answer in answered
        if isinstance(answer, EndpointAnswer)
    ]


def _nudge(settlements: list[WebhookSettlement], settled: dict[UUID, SettledWebhook]) -> None:
    work_queue.nudge_each(
        (one.delay, [Due(one.outbox_id, "webhook", settled[one.outbox_id].tenant_id)])
        for one in settlements
        if one.delay is not None and one.is_nudged and one.outbox_id in settled
    )
