"""System events, mirrored: each that is raised or resolved is a line in the log and a count in CloudWatch, whoever wrote it.

The database says so when the transaction commits, on its connection; what is undone is never said. The metric is printed in
CloudWatch's embedded format: by type and severity, and what whoever runs the installation must hear of also by severity alone,
which an alarm watches."""

import json
from typing import Any

from aws_lambda_powertools import Logger

from tocsin.foundation import embedded
from tocsin.foundation.settings import settings

PREFIX = "tocsin system event: "
_METRICS = {"raised": "SystemEvents", "resolved": "SystemEventsResolved"}
_LOUD = ("high", "critical")

log = Logger(child=True)


def hear(notice: str) -> None:
    """Mirror what a notice of the database says, if it is about a system event. People's words are not part of it."""
    if not notice.startswith(PREFIX):
        return
    said: dict[str, Any] = json.loads(notice.removeprefix(PREFIX))
    what = said.pop("what")
    is_loud = what == "raised" and said["severity"] in _LOUD
    (log.error if is_loud else log.info)(f"system event {what}", extra=said)
    _count(_METRICS[what], said)


def _count(metric: str, said: dict[str, Any]) -> None:
    """What people raise is one type among the metrics: each name would be one more to pay for."""
    dimensions = [["type", "severity"], *([["severity"]] if _concerns_installation(said) else [])]
    embedded.count(metric, dimensions, type="manual" if said["is_manual"] else said["event_type"], severity=said["severity"])


def _concerns_installation(said: dict[str, Any]) -> bool:
    """No person is woken by what a person raised, nor by the trouble of another tenant's endpoints, who see it themselves."""
    first = settings().default_tenant_id
    return not said["is_manual"] and (said["tenant_id"] is None or first is None or said["tenant_id"] == str(first))
