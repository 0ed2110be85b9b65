"""The door for what providers tell us later: SES events by way of SNS and SQS."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.feedback.apply import apply_events
from tocsin.feedback.ses_events import Unreadable, read_queue_message
from tocsin.foundation import database, deadlines, trouble
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.store.rows import ProviderEvent

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    events = [read for record in event["Records"] if (read := _read(record))]
    try:
        matched = database.run(lambda conn: apply_events(conn, events))
    except DatabaseUnavailable as error:
        log.error("database unavailable; the events stay on the queue", extra=error.said)
        trouble.tell("DatabaseUnavailable", reason=error.said["reason"])
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event["Records"]]}
    metrics.add_metric(name="ProviderEvents", unit=MetricUnit.Count, value=len(events))
    metrics.add_metric(name="OrphanEvents", unit=MetricUnit.Count, value=len(events) - matched)
    return {"batchItemFailures": []}


def _read(record: dict[str, Any]) -> ProviderEvent | None:
    try:
        return read_queue_message(record["body"])
    except Unreadable as error:
        log.warning("not a provider's event", extra={"message_id": record["messageId"], "error": str(error)})
        return None
