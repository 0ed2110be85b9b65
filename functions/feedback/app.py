"""The door for what providers tell us later: SES events by way of SNS and SQS."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin import database, deadlines
from tocsin.heed import heed
from tocsin.outages import DatabaseUnavailable
from tocsin.provider_feedback import ProviderEvent, Unreadable, read_queue_message

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.heeding
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    events = [read for record in event["Records"] if (read := _read(record))]
    try:
        matched = database.run(lambda conn: heed(conn, events))
    except DatabaseUnavailable as error:
        log.error("database unavailable; the events stay on the queue", extra=error.said)
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
