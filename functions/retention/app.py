"""The door of forgetting: on schedule, within the time an invocation has."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger

from tocsin import database
from tocsin.retain import retain

SPARE_MILLISECONDS = 20_000

log = Logger()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    report = database.run(lambda conn: retain(conn, has_time=lambda: context.get_remaining_time_in_millis() > SPARE_MILLISECONDS))
    log.info("retention", extra=asdict(report))
    return asdict(report)
