"""Delete tenants with everything, in bounded batches; what there is no time for, the next run goes on with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import worker_transaction
from tocsin.store import erasures
from tocsin.store.erasures import Erasure
from tocsin.store.flow import delete_tenant

BATCH = 2_000
# Longer than a key is remembered, a request or a worker's invocation lasts: nobody writes for the tenant any more.
GRACE = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many tenants are gone, rows per table, and whether all were done that were to be deleted."""

    tenants: int
    is_complete: bool
    rows: dict[str, int] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        return {"tenants": self.tenants, "rows": sum(self.rows.values())}


def delete_tenants(conn: Connection[Any], *, has_time: Callable[[], bool], batch: int = BATCH) -> Deleted:
    gone, rows = 0, dict[str, int]()
    for receipt in erasures.find_unfinished(conn, kind="tenant", age=GRACE, limit=100):
        if not _delete(conn, receipt, rows, has_time=has_time, batch=batch):
            return Deleted(gone, is_complete=False, rows=rows)
        gone += 1
    return Deleted(gone, is_complete=True, rows=rows)


def _delete(conn: Connection[Any], receipt: Erasure, rows: dict[str, int], *, has_time: Callable[[], bool], batch: int) -> bool:
    """Whether it came to its end: the tenant itself goes last."""
    tenant_id = UUID((receipt.subject or {})["tenant_id"])
    for table in delete_tenant.find_owned(conn):
        while True:
            if not has_time():
                return False
            with worker_transaction(conn):
                deleted = delete_tenant.delete_batch(conn, table, tenant_id, limit=batch)
                erasures.note(conn, receipt, {table.name: deleted})
            rows[table.name] = rows.get(table.name, 0) + deleted
            if deleted == 0 or not table.is_batched:
                break
    with worker_transaction(conn):
        delete_tenant.delete_row(conn, tenant_id)
        erasures.note(conn, receipt, {"tenants": 1})
        erasures.finish(conn, receipt.tenant_id, receipt.id)
    return True
