"""Very many deliveries at once: one is accepted and planned by the use cases, and its rows are copied for everybody else."""

from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection, sql

from bench.deliveries import make_deliveries
from bench.ground import Ground

WRITTEN = {"records", "routes", "outbox"}  # by accepting and planning one delivery


def copy_deliveries(ground: Ground, *, each: int, people_per_tenant: int | None = None) -> list[UUID]:
    """So many deliveries for each person of each tenant, all due at one moment; returns them, a round of everybody at a time.

    Whatever column planning fills is filled here, because a row is copied whole; only who and whose it is differs. The copied
    delivery itself is taken away again."""
    with psycopg.connect(ground.url(), autocommit=True) as admin:
        before = _count_rows(admin)
        (original,) = make_deliveries(ground, 1)
        after = _count_rows(admin)
        assert {name for name in after if after[name] > before[name]} - {"rate_limits"} == WRITTEN, "planning writes more now"
        with admin.transaction():
            admin.execute("SET LOCAL session_replication_role = replica")  # foreign keys hold by construction
            _list_copies(admin, each, people_per_tenant)
            _copy(admin, original)
            ids = [row[0] for row in admin.execute("SELECT outbox_id FROM copies ORDER BY place")]
            admin.execute("DELETE FROM outbox WHERE id = %s", [original])
        admin.execute("VACUUM (ANALYZE) records, routes, outbox")
    return ids


def _list_copies(admin: Connection[Any], each: int, people_per_tenant: int | None) -> None:
    admin.execute(
        """
        CREATE TEMPORARY TABLE copies ON COMMIT DROP AS
        SELECT row_number() OVER (ORDER BY n, person.place, tenant_id) AS place, tenant_id, person.id AS user_id, external_id,
               email, tocsin_uuid7() AS notification_id, tocsin_uuid7() AS outbox_id
        FROM (SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS place FROM users) AS person
        CROSS JOIN generate_series(1, %(each)s) AS n
        WHERE person.place <= COALESCE(%(most)s, person.place)
        """,
        {"each": each, "most": people_per_tenant},
    )


def _copy(admin: Connection[Any], original: UUID) -> None:
    admin.execute(
        """
        INSERT INTO records
        SELECT made.*
        FROM outbox JOIN records USING (notification_id) CROSS JOIN copies
        CROSS JOIN LATERAL jsonb_populate_record(records, jsonb_build_object(
            'notification_id', copies.notification_id, 'tenant_id', copies.tenant_id, 'idempotency_key', copies.notification_id,
            'recipient_user_ids', jsonb_build_array(copies.external_id))) AS made
        WHERE outbox.id = %s
        """,
        [original],
    )
    admin.execute(
        """
        INSERT INTO routes
        SELECT made.*
        FROM outbox JOIN routes USING (notification_id, route_id) CROSS JOIN copies
        CROSS JOIN LATERAL jsonb_populate_record(routes, jsonb_build_object(
            'notification_id', copies.notification_id, 'route_id', routes.channel || '-' || copies.user_id,
            'tenant_id', copies.tenant_id, 'user_id', copies.user_id, 'recipient_ref', 'user:' || copies.external_id,
            'resolved_email', copies.email, 'outbox_id', copies.outbox_id)) AS made
        WHERE outbox.id = %s
        """,
        [original],
    )
    admin.execute(
        """
        INSERT INTO outbox
        SELECT made.*
        FROM outbox CROSS JOIN copies
        CROSS JOIN LATERAL jsonb_populate_record(outbox, jsonb_build_object(
            'id', copies.outbox_id, 'tenant_id', copies.tenant_id, 'notification_id', copies.notification_id,
            'route_id', outbox.queue || '-' || copies.user_id)) AS made
        WHERE outbox.id = %s
        """,
        [original],
    )


def _count_rows(admin: Connection[Any]) -> dict[str, int]:
    """How many rows each table has."""
    names = [
        row[0]
        for row in admin.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
    ]
    counts = {}
    for name in names:
        row = admin.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))).fetchone()
        counts[name] = row[0] if row else 0
    return counts
