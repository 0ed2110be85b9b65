"""Call the handlers that are somebody's own code, over HTTP or in Lambda: started here, recorded when their answers come."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access import depth_tokens
from tocsin.foundation import aws, secrets
from tocsin.foundation.calls import Answered, Calls, OutboundCall
from tocsin.foundation.due import Due
from tocsin.foundation.settings import settings
from tocsin.store.rows import RunEnd, TriggerRun
from tocsin.triggers import lambda_handler, webhook_handler
from tocsin.triggers.event import message_of
from tocsin.triggers.retry import HandlerFailure, end_of, put_off
from tocsin.triggers.settle import settle
from tocsin.webhooks import endpoints
from tocsin.webhooks.answers import EndpointAnswer, NotAsked
from tocsin.webhooks.ask import ask, written
from tocsin.webhooks.endpoints import Candidate, EndpointOutcome

WITHOUT_SECRETS = timedelta(seconds=30)  # until the next look, while a secret that signs cannot be read

log = Logger(child=True)

HandlerAnswer = EndpointAnswer | NotAsked | HandlerFailure | None


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """A handler that is being called, for which run, and the lease that fences what becomes of it."""

    candidate: Candidate
    run: TriggerRun
    lease_token: UUID


def call_handlers(conn: Connection[Any], runs: list[TriggerRun], *, calls: Calls, lease_token: UUID) -> list[RunEnd]:
    """Start those whose handlers have room; the others are put off. Returns what cannot be asked, for want of a secret."""
    try:
        secret = secrets.known(settings().user_token_secret_arn)
    except secrets.SecretUnavailable as error:
        log.error("a secret cannot be read; the runs wait", extra={"count": len(runs), "error": str(error)})
        return [put_off(run.work, WITHOUT_SECRETS) for run in runs]
    for service in {_service(run) for run in runs}:
        aws.client(service)  # made here: the threads would all make it at once
    start = partial(_start, secret=secret, calls=calls, lease_token=lease_token)
    endpoints.start_calls(conn, [_candidate(run) for run in runs], calls, start, lease_token=lease_token)
    return []


def settle_answers(conn: Connection[Any], answered: Answered) -> list[Due]:
    """Record the answers. Returns what waited for these handlers and is due now."""
    settled = settle(conn, [(_end(call.run, answer), call.lease_token) for call, answer in answered])
    outcomes = [
        EndpointOutcome(
            call.candidate,
            _is_healthy(answer),
            isinstance(answer, EndpointAnswer) and answer.timed_out,
            (one := settled.get(call.run.work.id)) is not None and one.is_awaited,
        )
        for call, answer in answered
        if not isinstance(answer, NotAsked)
    ]
    if len(settled) < len(answered):
        log.warning("lost the lease while calling; they are run again", extra={"count": len(answered) - len(settled)})
    return endpoints.record_outcomes(conn, outcomes)


def _candidate(run: TriggerRun) -> Candidate:
    assert run.handler  # noqa: S101  for the type checker: what is gone is not run
    return Candidate(run.work, f"handler:{run.handler.id}", run.lane, run)


def _service(run: TriggerRun) -> str:
    return "lambda" if run.handler and run.handler.kind == "lambda" else "kms"


def _start(candidate: Candidate, *, secret: bytes, calls: Calls, lease_token: UUID) -> None:
    run: TriggerRun = candidate.about
    token = depth_tokens.sign(run.work.trigger_depth, run.work.tenant_id, secret)
    call = HandlerCall(candidate, run, lease_token)
    calls.start(OutboundCall(candidate.endpoint, call, _asked(run, token), settle_answers, owner=run.work.tenant_id))


def _asked(run: TriggerRun, token: str) -> Callable[[], HandlerAnswer]:
    """What is asked. Whatever the handler sends us goes as deep as this run, and the token says so."""
    assert run.handler  # noqa: S101  likewise
    message = message_of(run)
    if run.handler.kind == "lambda":
        return partial(lambda_handler.invoke, run.handler.config["function_arn"], written(message | {"depth_token": token}))
    call = webhook_handler.signed_call(run, written(message), {depth_tokens.HEADER: token})
    return partial(ask, call, allow_private=settings().allow_private_destinations)


def _end(run: TriggerRun, answer: HandlerAnswer) -> RunEnd:
    match answer:
        case NotAsked():
            return put_off(run.work, WITHOUT_SECRETS)
        case EndpointAnswer():
            return end_of(run.work, webhook_handler.failure_of(answer))
        case _:
            return end_of(run.work, answer)


def _is_healthy(answer: HandlerAnswer) -> bool:
    """Whether others may be sent there: what Lambda refuses for good says nothing of the next."""
    if isinstance(answer, EndpointAnswer):
        return answer.is_success
    return not isinstance(answer, HandlerFailure) or answer.is_permanent
