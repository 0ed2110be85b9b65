"""Taking work as a worker does, one step at a time."""

from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from tests.world import LEASE
from tocsin.outbox.handlers import HANDLERS
from tocsin.store.flow import claim as flow
from tocsin.store.rows import Page, Planning, Work


def claim(conn: Connection[Any], ids: list[UUID], *, token: UUID | None = None) -> list[Work]:
    """Lease what is due and free among these."""
    return flow.claim(conn, ids, lease_token=token or uuid4(), lease=LEASE, limit=len(ids)).fetchall()


def claim_plans(conn: Connection[Any], ids: list[UUID], *, token: UUID) -> list[Planning]:
    work = {one.id: one for one in claim(conn, ids, token=token)}
    return [Planning(work[one], record) for one, record in flow.load_plans(conn, ids, lease_token=token)]


def claim_one(conn: Connection[Any], ids: list[UUID], *, token: UUID, kind: str) -> Work | None:
    return flow.claim(conn, ids, lease_token=token, lease=LEASE, limit=1, only=[kind]).fetchone()


def claim_page(conn: Connection[Any], ids: list[UUID], *, token: UUID) -> Page | None:
    """One page of a large audience."""
    found = claim_one(conn, ids, token=token, kind="fanout")
    return HANDLERS["fanout"].make(found) if found else None
