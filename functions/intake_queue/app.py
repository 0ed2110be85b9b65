"""The door for intents that come by queue or event bus."""

from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.foundation import database, deadlines, trouble
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.settings import settings
from tocsin.intake.accept_messages import Defaults, Entry, Malformed, accept_entry
from tocsin.intake.admission import KeyInFlight

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    config = settings()
    defaults = Defaults(config.default_tenant_id, timedelta(days=config.idempotency_days))
    failed = []
    for record in event["Records"]:
        entry = Entry(record["messageId"], record["body"])
        try:
            end = database.run(lambda conn, entry=entry: accept_entry(conn, entry, defaults))  # type: ignore[misc]
        except DatabaseUnavailable as error:
            log.error("database unavailable; the entry stays on the queue", extra={"entry": entry.id} | error.said)
            trouble.tell("DatabaseUnavailable", reason=error.said["reason"])
            failed.append({"itemIdentifier": entry.id})
            continue
        except (KeyInFlight, Malformed) as error:
            # Still in flight, or nobody's: the queue delivers it again, and at last to its dead-letter queue.
            log.error("entry left on the queue", extra={"entry": entry.id, "error": f"{type(error).__name__}: {error}"})
            failed.append({"itemIdentifier": entry.id})
            continue
        metrics.add_metric(name=f"Intake{end.capitalize()}", unit=MetricUnit.Count, value=1)
    return {"batchItemFailures": failed}
