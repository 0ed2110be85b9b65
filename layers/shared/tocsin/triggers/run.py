"""Run triggers: each as the key that registered it, by its handler, until it is done or its policy is at an end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access import depth_tokens
from tocsin.foundation import secrets, work_queue
from tocsin.foundation.calls import Answered, Calls, OutboundCall
from tocsin.foundation.due import Due
from tocsin.foundation.settings import Settings, settings
from tocsin.store import admin_system_events, outbox
from tocsin.store.flow.settle_runs import settle_runs
from tocsin.store.rows import RunEnd, TriggerRun
from tocsin.triggers import admit, intent_handler, lambda_handler, webhook_handler
from tocsin.triggers.event import message_of
from tocsin.triggers.retry import HandlerFailure, end_of, put_off
from tocsin.webhooks.answers import EndpointAnswer, NotAsked
from tocsin.webhooks.ask import ask, written

RUNNING_TIME = 5.0  # seconds; what has not begun by then is given back, so that the lease covers what has
WITHOUT_ROOM = timedelta(seconds=1)  # until the next look, while a handler has as many calls as it takes at once
WITHOUT_SECRETS = timedelta(seconds=30)  # until the next look, while a secret that signs cannot be read

log = Logger(child=True)

Ends = list[tuple[RunEnd, UUID]]
HandlerAnswer = EndpointAnswer | NotAsked | HandlerFailure | None


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A run whose handler is being called, and the lease that fences what becomes of it."""

    run: TriggerRun
    lease_token: UUID


def run_triggers(conn: Connection[Any], runs: list[TriggerRun], *, calls: Calls, lease_token: UUID) -> list[Due]:
    """Begin all of them. Those that call nobody are settled here, the others when their answers come."""
    config = settings()
    started, ends = time.monotonic(), []
    for n, one in enumerate(runs):
        if n and time.monotonic() - started > RUNNING_TIME:
            outbox.release(conn, [rest.work.id for rest in runs[n:]], lease_token=lease_token)
            break
        if end := _begin(conn, one, config, calls, lease_token):
            ends.append((end, lease_token))
    return _settle(conn, ends)


def _begin(conn: Connection[Any], run: TriggerRun, config: Settings, calls: Calls, lease_token: UUID) -> RunEnd | None:
    """How it ends, if it does so at once."""
    if why := admit.not_run(run, max_depth=config.max_trigger_depth):
        return _drop(conn, run, why, config.max_trigger_depth)
    if refused := admit.refusal(run, function_arns=config.trigger_function_arns):
        return refused
    assert run.handler  # noqa: S101  for the type checker: what is gone was dropped
    if run.handler.kind == "intent":
        return end_of(run.work, intent_handler.send(conn, run))
    endpoint = f"handler:{run.handler.id}"
    if not calls.has_room_for(endpoint):
        return put_off(run.work, WITHOUT_ROOM)
    try:
        asked = _asked(run, config)
    except secrets.SecretUnavailable as error:
        log.error("a secret cannot be read; the run waits", extra={"outbox_id": str(run.work.id), "error": str(error)})
        return put_off(run.work, WITHOUT_SECRETS)
    calls.start(OutboundCall(endpoint, StartedRun(run, lease_token), asked, _settle_answers))
    return None


def _asked(run: TriggerRun, config: Settings) -> Callable[[], HandlerAnswer]:
    """What is asked of a handler that is somebody's own code. Whatever it sends us goes as deep as this run, and says so."""
    assert run.handler  # noqa: S101  likewise
    token = depth_tokens.sign(run.work.trigger_depth, run.work.tenant_id, secrets.known(config.user_token_secret_arn))
    message = message_of(run)
    if run.handler.kind == "lambda":
        return partial(lambda_handler.invoke, run.handler.config["function_arn"], written(message | {"depth_token": token}))
    call = webhook_handler.signed_call(run, written(message), {depth_tokens.HEADER: token})
    return partial(ask, call, allow_private=config.allow_private_destinations)


def _settle_answers(conn: Connection[Any], answered: Answered) -> list[Due]:
    return _settle(conn, [(_end(started.run, answer), started.lease_token) for started, answer in answered])


def _end(run: TriggerRun, answer: HandlerAnswer) -> RunEnd:
    match answer:
        case NotAsked():
            return put_off(run.work, WITHOUT_SECRETS)
        case EndpointAnswer():
            return end_of(run.work, webhook_handler.failure_of(answer))
        case _:
            return end_of(run.work, answer)


def _settle(conn: Connection[Any], ends: Ends) -> list[Due]:
    """Record them in one statement; what is tried again is nudged for its time. Nothing is due at once."""
    if not ends:
        return []
    again = {due.id: due for due in settle_runs(conn, ends)}
    later = [(end.delay, [again[end.outbox_id]]) for end, _ in ends if end.is_nudged and end.delay and end.outbox_id in again]
    work_queue.nudge_each(later)
    return []


def _drop(conn: Connection[Any], run: TriggerRun, why: admit.NotRun, max_depth: int) -> RunEnd:
    said = {"outbox_id": str(run.work.id), "trigger_id": (run.work.payload or {}).get("trigger_id"), "why": why}
    if why == "too_deep":
        log.error("triggers fire each other; this run is left out", extra=said | {"depth": run.work.trigger_depth})
        _raise_loop(conn, run, max_depth)
    else:
        log.info("a trigger is not run", extra=said)
    return RunEnd(run.work.id, "dropped")


def _raise_loop(conn: Connection[Any], run: TriggerRun, max_depth: int) -> None:
    assert run.trigger  # noqa: S101  for the type checker: what is gone is not deep
    admin_system_events.raise_once(
        conn,
        event_type="trigger_depth_exceeded",
        severity="high",
        subject=f"trigger:{run.trigger.id}",
        tenant_id=run.work.tenant_id,
        description=f"More than {max_depth} triggers fired each other in a row; the trigger {run.trigger.id} was not run again.",
        details={"trigger_id": str(run.trigger.id), "depth": run.work.trigger_depth},
    )
