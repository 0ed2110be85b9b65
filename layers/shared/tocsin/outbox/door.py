"""The door of every worker: nudges from a work queue in, each piece of work carried to its next recorded state."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import zip_longest
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.channels.ways import PROVIDER_TIMEOUT, Ways
from tocsin.delivery.counting import Count
from tocsin.delivery.prepare import Policy
from tocsin.foundation import database, deadlines, trouble, work_queue
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.settings import settings
from tocsin.foundation.tally import Tally
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker

SPARE_MILLISECONDS = 2_000

log = Logger()


def worker_door(
    delivering: Callable[[], tuple[Ways, Policy]] | None = None, *, longest_call: timedelta = PROVIDER_TIMEOUT
) -> Callable[[Any, Any], dict[str, Any]]:
    """The handler of a function behind work queues. `delivering` makes what only those workers need that deliver;
    `longest_call` is how long one call to somebody else may take."""
    metrics, tally = Metrics(), Tally()

    def count(name: str, value: float, /, **dimensions: str) -> None:
        if dimensions:
            tally.add(name, value, **dimensions)
        else:
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)

    @metrics.log_metrics
    @deadlines.keeping_time
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        nudged = {record["messageId"]: _read(record, count) for record in event["Records"]}
        ids = _in_turns([nudge.ids for nudge in nudged.values()])
        events_wait = any(nudge.events_wait for nudge in nudged.values())
        ways, policy = delivering() if delivering else (None, None)
        worker = replace(_worker(event, context, ways, policy), count=count, longest_call=longest_call)
        try:
            claimed = database.run(lambda conn: dispatch(conn, ids, worker, events_wait=events_wait))
        except DatabaseUnavailable as error:
            log.error("database unavailable; the nudges stay on the queue", extra=error.said)
            trouble.tell("DatabaseUnavailable", reason=error.said["reason"])  # to Lambda a batch that is given back is no error
            return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in nudged]}
        finally:
            tally.write()
        count("Claimed", claimed)
        return {"batchItemFailures": []}

    return handler


def _worker(event: dict[str, Any], context: Any, ways: Ways | None, policy: Policy | None) -> Worker:
    config = settings()
    return Worker(
        ways,
        config.lease,
        policy,
        remaining=lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
        insist=lambda work: database.insist(work, has_time=lambda: context.get_remaining_time_in_millis() > SPARE_MILLISECONDS),
        queue=config.queue_of(event["Records"][0].get("eventSourceARN", "")),
    )


def _read(record: dict[str, Any], count: Count) -> work_queue.Received:
    """One that cannot be read is logged and forgotten: the sweep knows what is due."""
    try:
        return work_queue.read(record["body"])
    except work_queue.UnreadableNudge:
        log.warning("a nudge could not be read", extra={"message_id": record["messageId"]})
        count("UnreadableNudges", 1)
        return work_queue.Received([])


def _in_turns(nudges: list[list[UUID]]) -> list[UUID]:
    """The ids of several nudges, one of each in turn: each belongs to one tenant."""
    return [one for row in zip_longest(*nudges) for one in row if one is not None]
