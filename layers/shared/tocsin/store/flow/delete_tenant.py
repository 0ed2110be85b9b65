"""Delete a tenant: all rows of every table that has a tenant, as the catalogue knows them, so that none can be forgotten."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Owned:
    """A table with rows of tenants, and how they are deleted: in `batches`, or all at once: few, not for this role
    to read, or without an index by which a batch would be found."""

    name: str
    is_batched: bool


def find_owned(conn: Connection[Any]) -> list[Owned]:
    """The tables to delete from, in order: what refers to another before it, what cannot be read last.

    A table without an index by tenant, whose every row hangs on another of the tenant and goes with it, is left out."""
    return (
        conn.cursor(row_factory=class_row(Owned))
        .execute(
            """
            WITH RECURSIVE owned AS (
                SELECT pg_class.oid, pg_class.relname AS name, has_table_privilege(pg_class.oid, 'SELECT') AS is_readable,
                       EXISTS (SELECT FROM pg_index
                               WHERE indrelid = pg_class.oid AND indkey[0] = pg_attribute.attnum AND indpred IS NULL)
                           AS is_found_by_tenant
                FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant_id' AND NOT attisdropped
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
            ), reference AS (
                SELECT DISTINCT conrelid AS child, confrelid AS parent,
                       confdeltype = 'c' AND NOT EXISTS (
                           SELECT FROM pg_attribute
                           WHERE attrelid = conrelid AND attnum = ANY(conkey) AND NOT attnotnull) AS goes_along
                FROM pg_constraint
                JOIN owned AS child ON child.oid = conrelid
                JOIN owned AS parent ON parent.oid = confrelid
                WHERE contype = 'f' AND conrelid <> confrelid
            ), depth AS (
                SELECT oid, 0 AS steps FROM owned
                UNION ALL
                SELECT reference.child, depth.steps + 1
                FROM depth JOIN reference ON reference.parent = depth.oid
                WHERE depth.steps < 20
            )
            SELECT owned.name, (owned.is_readable OR owned.name = 'users') AND owned.is_found_by_tenant AS is_batched
            FROM owned JOIN depth USING (oid)
            WHERE owned.is_found_by_tenant
               OR NOT EXISTS (SELECT FROM reference WHERE reference.child = owned.oid AND reference.goes_along)
            GROUP BY owned.name, owned.is_readable, owned.is_found_by_tenant
            ORDER BY owned.is_readable DESC, owned.name = 'users' DESC, max(depth.steps) DESC, owned.name
            """
        )
        .fetchall()
    )


def count(conn: Connection[Any], table: Owned, tenant_id: UUID, *, most: int) -> int:
    """How many rows of a table the tenant has, counted so far and no further."""
    some = sql.SQL("SELECT count(*) FROM (SELECT FROM {} WHERE tenant_id = %(tenant_id)s LIMIT %(most)s) AS one").format(
        sql.Identifier(table.name)
    )
    row = conn.execute(some, {"tenant_id": tenant_id, "most": most}).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return int(row[0])


def delete_batch(conn: Connection[Any], table: Owned, tenant_id: UUID, *, limit: int) -> int:
    """Delete up to so many rows, or all where that is how it is done; returns how many."""
    if not table.is_batched:
        at_once = sql.SQL("DELETE FROM {} WHERE tenant_id = %(tenant_id)s RETURNING 1").format(sql.Identifier(table.name))
        return len(conn.execute(at_once, {"tenant_id": tenant_id}).fetchall())
    place = "id" if table.name == "users" else "ctid"  # of users this role sees no more than whose they are
    some = sql.SQL(
        "DELETE FROM {table} WHERE tenant_id = %(tenant_id)s AND {place} = ANY(ARRAY("
        "SELECT {place} FROM {table} WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s)) RETURNING 1"
    ).format(table=sql.Identifier(table.name), place=sql.Identifier(place))
    return len(conn.execute(some, {"tenant_id": tenant_id, "limit": limit}).fetchall())


def delete_row(conn: Connection[Any], tenant_id: UUID) -> bool:
    """The tenant itself, last, and only if it was to be deleted."""
    gone = conn.execute("DELETE FROM tenants WHERE id = %(tenant_id)s AND status = 'deleting'", {"tenant_id": tenant_id})
    return gone.rowcount > 0
