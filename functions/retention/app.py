"""The door of upkeep, every hour: count, look whether the books balance and the audit log is whole, forget."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from tocsin.foundation import deadlines
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.settings import settings
from tocsin.upkeep import balance, check_audit, roll_up
from tocsin.upkeep.delete_tenants import delete_tenants
from tocsin.upkeep.finish_erasures import finish_erasures
from tocsin.upkeep.retain import JOB, retain
from tocsin.upkeep.retention_rules import rules_of
from tocsin.upkeep.run_job import run_in_turn

# What is left to those that come after, in milliseconds: counting and the books take seconds, forgetting may take all there is
# but what one statement may take (migrations/setup/roles.sql), and a little more.
SPARE_OF_METRICS, SPARE_OF_BOOKS, SPARE_OF_AUDIT = 230_000, 190_000, 170_000
SPARE_OF_ERASURES, SPARE_OF_DELETION, SPARE = 140_000, 110_000, 70_000

log = Logger()
metrics = Metrics()


@metrics.log_metrics
@deadlines.keeping_time
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    def until(spare: int) -> Callable[[], bool]:
        return lambda: bool(context.get_remaining_time_in_millis() > spare)

    rules = rules_of(settings())
    try:
        done = run_in_turn(
            {
                roll_up.JOB: lambda conn: roll_up.roll_up(conn, has_time=until(SPARE_OF_METRICS)),
                balance.JOB: lambda conn: _look(balance.balance(conn, has_time=until(SPARE_OF_BOOKS))),
                check_audit.JOB: lambda conn: _checked(check_audit.check(conn, has_time=until(SPARE_OF_AUDIT))),
                "finish_erasures": lambda conn: finish_erasures(conn, has_time=until(SPARE_OF_ERASURES)),
                "delete_tenants": lambda conn: delete_tenants(conn, has_time=until(SPARE_OF_DELETION)),
                JOB: lambda conn: retain(conn, rules, has_time=until(SPARE)),
            }
        )
    except DatabaseUnavailable as error:
        log.error("database unavailable; the next run goes on", extra=error.said)
        raise
    reports = {job: one.report() | {"is_complete": one.is_complete} for job, one in done.items()}
    log.info("upkeep", extra={"reports": reports})
    return reports[JOB]


def _look(books: balance.Balance) -> balance.Balance:
    metrics.add_metric(name="BooksResidue", unit=MetricUnit.Count, value=books.count)
    return books


def _checked(audit: check_audit.Checked) -> check_audit.Checked:
    metrics.add_metric(name="AuditChainsBroken", unit=MetricUnit.Count, value=audit.broken)
    return audit
