"""The door of the clock: every minute, nudge again what is due."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.channels import ses_quota
from tocsin.foundation import deadlines
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.outbox.sweep import sweep
from tocsin.upkeep.run_job import run_job

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    try:
        swept = run_job("sweep", sweep)
    except DatabaseUnavailable as error:
        log.error("database unavailable; the next minute tries again", extra=error.said)
        raise
    metrics.add_metric(name="OutboxDepth", unit=MetricUnit.Count, value=swept.backlog.depth)
    metrics.add_metric(name="OldestDueSeconds", unit=MetricUnit.Seconds, value=swept.backlog.oldest_due_seconds)
    metrics.add_metric(name="OldestEventSeconds", unit=MetricUnit.Seconds, value=swept.oldest_event_seconds)
    metrics.add_metric(name="UnknownAttempts", unit=MetricUnit.Count, value=swept.backlog.unknown_attempts)
    metrics.add_metric(name="LanesClosed", unit=MetricUnit.Count, value=swept.lanes_closed)
    metrics.add_metric(name="OpenSystemEvents", unit=MetricUnit.Count, value=swept.open_system_events)
    used = ses_quota.used_percent()
    if used is not None:
        metrics.add_metric(name="SesQuotaUsedPercent", unit=MetricUnit.Percent, value=used)
    return {"nudged": swept.nudged, "depth": swept.backlog.depth}
