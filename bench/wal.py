"""What the queue writes: WAL bytes per unit of work, and how many lease updates stay on their page. Counters, not clocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection

from bench.deliveries import claim_and_complete, make_deliveries, worker
from bench.ground import Ground, accept_all, asked
from bench.peers import Pgqueuer
from bench.report import Result, compared, counted
from tocsin.outbox.dispatch import dispatch

ROWS = 1000
BATCH = 100
OURS = ("outbox",)
THEIRS = ("pgqueuer",)
UNIT = "bytes"


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes of WAL for one unit: in all, and those that touch the queue's own table and its indexes.

    Full-page images are left out: how many there are depends on when the last checkpoint was, not on who writes."""

    everything: float
    queue: float


def measure(ground: Ground) -> list[Result]:
    with (
        psycopg.connect(ground.url(), autocommit=True) as admin,
        psycopg.connect(ground.url(database="peers"), autocommit=True) as peers_admin,
        ground.connect("tocsin_app") as app,
        ground.connect("tocsin_worker") as conn,
        Pgqueuer(ground) as peer,
    ):
        for one in (admin, peers_admin):
            one.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
        peer.clear()
        accepted = _written(admin, OURS, lambda: accept_all(app, [asked() for _ in range(ROWS)]))
        enqueued = _written(peers_admin, THEIRS, lambda: peer.fill(ROWS))
        dequeued = _written(peers_admin, THEIRS, lambda: peer.drain(BATCH))
        ids = make_deliveries(ground, ROWS)
        completed = _written(admin, OURS, lambda: _drain(conn, ids))
        more = make_deliveries(ground, ROWS)
        before = _updates(admin, conn)
        delivered = _written(admin, OURS, lambda: dispatch(conn, more, worker(BATCH)))
        updates, hot = (now - then for now, then in zip(_updates(admin, conn), before, strict=True))
    theirs = "pgqueuer, queue and log"
    return [
        compared("WAL: enqueue, outbox rows only", accepted.queue, UNIT, theirs, enqueued.everything, "<= 0.6"),
        compared("WAL: drain, outbox rows only", completed.queue, UNIT, theirs, dequeued.everything, "<= 0.5"),
        compared("WAL: enqueue, outbox rows only", accepted.queue, UNIT, "pgqueuer, queue table only", enqueued.queue),
        compared("WAL: drain, outbox rows only", completed.queue, UNIT, "pgqueuer, queue table only", dequeued.queue),
        compared("WAL: an accepted intent in all", accepted.everything, UNIT, theirs, enqueued.everything),
        compared("WAL: a whole delivery in all", delivered.everything, UNIT, theirs, dequeued.everything),
        counted("share of HOT updates on the outbox (claim, open)", 100 * hot / updates, "%", ">= 90"),
    ]


def _drain(conn: Connection[Any], ids: list[UUID]) -> None:
    for start in range(0, len(ids), BATCH):
        claim_and_complete(conn, ids[start : start + BATCH])


def _written(admin: Connection[Any], tables: tuple[str, ...], work: Callable[[], object]) -> Written:
    start = _position(admin)
    work()
    end = _position(admin)
    row = admin.execute(
        """
        WITH own AS (
            SELECT pg_relation_filenode(oid) AS filenode FROM pg_class WHERE relname = ANY(%(tables)s)
            UNION ALL
            SELECT pg_relation_filenode(indexrelid) FROM pg_index WHERE indrelid::regclass::text = ANY(%(tables)s)
        ), touched AS (
            SELECT DISTINCT start_lsn
            FROM pg_get_wal_block_info(%(start)s, %(end)s, false)
            WHERE relfilenode IN (SELECT filenode FROM own)
              AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
        )
        SELECT sum(record_length - fpi_length)::float8,
               sum(record_length - fpi_length) FILTER (WHERE start_lsn IN (SELECT start_lsn FROM touched))::float8
        FROM pg_get_wal_records_info(%(start)s, %(end)s)
        """,
        {"tables": list(tables), "start": start, "end": end},
    ).fetchone()
    assert row is not None
    return Written(row[0] / ROWS, row[1] / ROWS)


def _position(admin: Connection[Any]) -> str:
    row = admin.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
    assert row is not None
    admin.execute("SELECT pg_switch_wal()")  # the position must be flushed before it can be read
    return str(row[0])


def _updates(admin: Connection[Any], conn: Connection[Any]) -> tuple[int, int]:
    """(updates, HOT updates) of the outbox, once the worker's own connection has reported them."""
    conn.execute("SELECT pg_stat_force_next_flush()")
    conn.execute("SELECT 1")
    row = admin.execute("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'outbox'").fetchone()
    assert row is not None
    return row[0], row[1]
