"""The door for work: nudges from one of the work queues, carried to the next recorded state."""

from datetime import timedelta
from functools import cache
from itertools import zip_longest
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.channels.ways import Ways
from tocsin.delivery.prepare import Policy
from tocsin.foundation import database, deadlines, work_queue
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.settings import settings
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker

SPARE_MILLISECONDS = 2_000

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    nudged = {record["messageId"]: _read(record) for record in event["Records"]}
    ids = _in_turns([nudge.ids for nudge in nudged.values()])
    events_wait = any(nudge.events_wait for nudge in nudged.values())
    config = settings()
    worker = Worker(
        _ways(),
        config.lease,
        Policy(config.evidence_window, config.send_concurrency, config.sandbox_domain),
        remaining=lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
        insist=lambda work: database.insist(work, has_time=lambda: context.get_remaining_time_in_millis() > SPARE_MILLISECONDS),
        queue=config.queue_of(event["Records"][0].get("eventSourceARN", "")),
        count=lambda name, value: metrics.add_metric(name=name, unit=MetricUnit.Count, value=value),
    )
    try:
        claimed = database.run(lambda conn: dispatch(conn, ids, worker, events_wait=events_wait))
    except DatabaseUnavailable as error:
        log.error("database unavailable; the nudges stay on the queue", extra=error.said)
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in nudged]}
    metrics.add_metric(name="Claimed", unit=MetricUnit.Count, value=claimed)
    return {"batchItemFailures": []}


def _read(record: dict[str, Any]) -> work_queue.Received:
    """One that cannot be read is logged and forgotten: the sweep knows what is due."""
    try:
        return work_queue.read(record["body"])
    except work_queue.UnreadableNudge:
        log.warning("a nudge could not be read", extra={"message_id": record["messageId"]})
        metrics.add_metric(name="UnreadableNudges", unit=MetricUnit.Count, value=1)
        return work_queue.Received([])


def _in_turns(nudges: list[list[UUID]]) -> list[UUID]:
    """The ids of several nudges, one of each in turn: each belongs to one tenant."""
    return [one for row in zip_longest(*nudges) for one in row if one is not None]


@cache
def _ways() -> Ways:
    from tocsin.channels.installation import ways_out  # noqa: PLC0415 - the SDK is slow to import; a sweep-fed idle start may not need it

    return ways_out(settings())
