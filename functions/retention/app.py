"""The door of forgetting: on schedule, within the time an invocation has."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger

from tocsin.foundation import database, deadlines
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.settings import settings
from tocsin.upkeep.retain import Ages, retain

SPARE_MILLISECONDS = 20_000

log = Logger()


@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > SPARE_MILLISECONDS)

    ages = Ages.of(settings())
    try:
        report = database.run(lambda conn: retain(conn, has_time=has_time, ages=ages))
    except DatabaseUnavailable as error:
        log.error("database unavailable; the next run goes on", extra=error.said)
        raise
    log.info("retention", extra=asdict(report))
    return asdict(report)
