"""Run triggers: each as the key that registered it, by its handler, until it is done or its policy is at an end."""

import time
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.foundation.calls import Calls
from tocsin.foundation.settings import settings
from tocsin.store import outbox
from tocsin.store.rows import RunEnd, TriggerRun
from tocsin.triggers import admit, intent_handler, loops
from tocsin.triggers.call import call_handlers
from tocsin.triggers.intent_handler import Sending
from tocsin.triggers.retry import HandlerFailure, end_of
from tocsin.triggers.settle import settle

RUNNING_TIME = 5.0  # seconds; what has not begun by then is given back, so that the lease covers what has

log = Logger(child=True)


def run_triggers(conn: Connection[Any], runs: list[TriggerRun], *, calls: Calls, lease_token: UUID, send_until: float) -> None:
    """Begin all of them. Those that call nobody are settled here, the others when their answers come."""
    until = min(send_until, time.monotonic() + RUNNING_TIME)
    ends: list[RunEnd] = []
    sending: list[Sending] = []
    calling: list[TriggerRun] = []
    for n, one in enumerate(runs):
        if n and time.monotonic() > until:
            outbox.release(conn, [rest.work.id for rest in runs[n:]], lease_token=lease_token)
            break
        if end := _ended(conn, one):
            ends.append(end)
        elif one.handler and one.handler.kind == "intent":
            intent = intent_handler.asked(one)
            if isinstance(intent, HandlerFailure):
                ends.append(end_of(one.work, intent))
            else:
                sending.append((one, intent))
        else:
            calling.append(one)
    ends += [end_of(one.work, failure) for one, failure in intent_handler.send(conn, sending)]
    if calling:
        ends += call_handlers(conn, calling, calls=calls, lease_token=lease_token)
    settle(conn, [(end, lease_token) for end in ends])


def _ended(conn: Connection[Any], run: TriggerRun) -> RunEnd | None:
    """How it ends without being tried; None where its handler is to do its work."""
    config = settings()
    if why := admit.not_run(run, max_depth=config.max_trigger_depth):
        return _drop(conn, run, why)
    return admit.refusal(run, function_arns=config.trigger_function_arns)


def _drop(conn: Connection[Any], run: TriggerRun, why: admit.NotRun) -> RunEnd:
    said = {"outbox_id": str(run.work.id), "trigger_id": (run.work.payload or {}).get("trigger_id"), "why": why}
    if why == "too_deep":
        log.error("triggers fire each other; this run is left out", extra=said | {"depth": run.work.trigger_depth})
        assert run.trigger  # noqa: S101  for the type checker: what is gone is not deep
        loops.raise_for_trigger(conn, run.work.tenant_id, run.trigger.id, run.work.trigger_depth)
    else:
        log.info("a trigger is not run", extra=said)
    return RunEnd(run.work.id, "dropped")
