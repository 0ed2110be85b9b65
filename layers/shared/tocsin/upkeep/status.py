"""Status: what is wrong right now, as one tenant sees it. Each question costs the same however much there is."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.settings import QUEUES
from tocsin.store import (
    admin_system_events,
    clock,
    dead_letters,
    domain_events_processed,
    job_runs,
    lanes,
    malformed_intents,
    outbox,
    webhooks,
)
from tocsin.store.outbox import Pile
from tocsin.upkeep.diagnosis import JOBS, Facts

MOST_LANES = 50
MOST_CAUSES = 10


def status(conn: Connection[Any], tenant_id: UUID) -> Facts:
    with tenant_transaction(conn, tenant_id):
        return Facts(
            now=clock.now(conn),
            piles=outbox.measure_tenant(conn, tenant_id, list(QUEUES)),
            behind=domain_events_processed.measure_tenant(conn, tenant_id),
            lanes=lanes.list_troubled(conn, tenant_id, limit=MOST_LANES),
            causes=dead_letters.group_by_cause(conn, tenant_id, limit=MOST_CAUSES),
            open_events=admin_system_events.count_open(conn, tenant_id),
            runs=job_runs.latest(conn, list(JOBS)),
            malformed=malformed_intents.count_open(conn, tenant_id),
            first_run_at=job_runs.first_started_at(conn),
            webhooks=webhooks.find_all(conn, tenant_id),
        )


def backlog(conn: Connection[Any], tenant_id: UUID) -> tuple[datetime, list[Pile]]:
    with tenant_transaction(conn, tenant_id):
        return clock.now(conn), outbox.measure_tenant(conn, tenant_id, list(QUEUES))
