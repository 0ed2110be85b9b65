"""Diagnostics: is everything as it must be for mail to go out? AWS is asked while the database is."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import is_of_installation, tenant_transaction
from tocsin.foundation.settings import MissingSetting, Settings, settings
from tocsin.store import admin_system_events, audit_heads, clock, job_runs, lanes, migrations, server
from tocsin.store.admin_system_events import SystemEventFilters
from tocsin.store.audit_heads import ChainCheck
from tocsin.store.job_runs import JobRun
from tocsin.store.lanes import TroubledLane
from tocsin.store.migrations import Schema
from tocsin.store.server import Server
from tocsin.upkeep import ask_aws, aws_checks, check_audit, checks
from tocsin.upkeep.ask_aws import AwsAnswers
from tocsin.upkeep.diagnosis import JOBS, Facts
from tocsin.upkeep.diagnostic import ORDER, Diagnostic
from tocsin.upkeep.status import MOST_LANES


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """`at` is the database's clock."""

    at: datetime
    checks: list[Diagnostic]

    @property
    def is_healthy(self) -> bool:
        """Nothing is broken, and nothing of it is a guess. A warning is no illness."""
        return all(check.state in ("ok", "warning") for check in self.checks)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the database says, and what the function's own clock said just before and just after it."""

    before: datetime
    now: datetime
    after: datetime
    server: Server
    schema: Schema
    unfinished: list[str]
    runs: list[JobRun]
    first_run_at: datetime | None
    swept: JobRun | None
    lanes: list[TroubledLane]
    chain: ChainCheck | None
    is_chain_broken: bool


def diagnose(conn: Connection[Any], tenant_id: UUID) -> Diagnosed:
    """Every check for the installation's own tenant; for others those that are about them, without the installation's numbers."""
    config = settings()
    if not is_of_installation(tenant_id):
        known = _look(conn, tenant_id)
        return Diagnosed(known.now, _everybodys(known, with_numbers=False))
    sender = _sender(config)
    answers = ask_aws.ask(config, sender)
    known = _look(conn, tenant_id)
    common = _everybodys(known, with_numbers=True)
    return Diagnosed(known.now, _in_order([checks.configuration(config, sender), *common, *_of_aws(answers, known, sender)]))


def _everybodys(known: _Known, *, with_numbers: bool) -> list[Diagnostic]:
    facts = Facts(now=known.now, runs=known.runs, first_run_at=known.first_run_at)
    return [
        checks.database(known.server, with_numbers=with_numbers),
        checks.migrations(known.schema, known.unfinished),
        checks.clock(known.before, known.now, known.after),
        checks.jobs(facts),
        checks.lanes(known.lanes),
        checks.audit(known.chain, now=known.now, is_broken=known.is_chain_broken),
    ]


def _of_aws(answers: Callable[[], AwsAnswers], known: _Known, sender: str | None) -> list[Diagnostic]:
    said = answers()
    return [
        aws_checks.queues(said.queues, said.dead_letters, known.swept),
        aws_checks.ses_account(said.account),
        aws_checks.ses_identity(sender, said.identities),
    ]


def _in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """The cause before what follows from it."""
    return sorted(found, key=lambda check: ORDER.index(check.name))


def _look(conn: Connection[Any], tenant_id: UUID) -> _Known:
    broken = SystemEventFilters(event_type=check_audit.BROKEN, is_resolved=False)
    before = datetime.now(UTC)
    with tenant_transaction(conn, tenant_id):
        return _Known(
            before,
            clock.now(conn),
            datetime.now(UTC),
            server.describe(conn),
            migrations.schema(conn),
            migrations.unfinished_indexes(conn),
            job_runs.latest(conn, list(JOBS)),
            job_runs.first_started_at(conn),
            job_runs.last_finished(conn, "sweep"),
            lanes.list_troubled(conn, tenant_id, limit=MOST_LANES),
            audit_heads.find_check(conn, tenant_id),
            bool(admin_system_events.list_page(conn, tenant_id, broken, limit=1, after=None)),
        )


def _sender(config: Settings) -> str | None:
    try:
        return config.email_from
    except MissingSetting:
        return None
