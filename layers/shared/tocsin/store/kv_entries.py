"""Small JSON values that producers keep, by collection and key. They are written by flow.write_kv."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row, class_row

from tocsin.foundation.strict_json import MAX_INTEGER

CONSTRAINT = "kv_entries_value_bound"
_AFTER_ALL = "\x7f"  # behind every character that a key can have


@dataclass(frozen=True, slots=True)
class KvEntry:
    """`write_id` names this state of the entry, and no other ever."""

    collection: str
    key: str
    value: Any
    version: int
    write_id: UUID
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class KvPage:
    entries: list[KvEntry]
    is_last: bool


@dataclass(frozen=True, slots=True)
class KvCollection:
    collection: str
    count: int
    updated_at: datetime  # when one of those that were counted was last written


def entry_of(collection: str, key: str, value: str, *rest: Any) -> KvEntry:
    """Made of a row with the value as text."""
    return KvEntry(collection, key, json.loads(value, parse_int=_number), *rest)


def _number(digits: str) -> int | float:
    """Beyond the integers that every reader understands it was written as 1e22, and is kept with all its noughts."""
    number = int(digits)
    return number if abs(number) <= MAX_INTEGER else float(number)


def find(conn: Connection[Any], tenant_id: UUID, collection: str, key: str) -> KvEntry | None:
    return (
        conn.cursor(row_factory=args_row(entry_of))
        .execute(
            """
            SELECT collection, key, value::text, version, write_id, created_at, updated_at
            FROM kv_entries
            WHERE tenant_id = %(tenant_id)s AND collection = %(collection)s AND key = %(key)s
            """,
            {"tenant_id": tenant_id, "collection": collection, "key": key},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, collection: str, *, prefix: str, after: str, limit: int, max_bytes: int
) -> KvPage:
    """Entries in the order of their keys: at most `limit`, and none after the one with which the values reach `max_bytes`."""
    rows = conn.execute(
        """
        WITH found AS (
            SELECT collection, key, value::text AS value, version, write_id, created_at, updated_at,
                   octet_length(value::text) AS size
            FROM kv_entries
            WHERE tenant_id = %(tenant_id)s AND collection = %(collection)s
              AND key >= %(prefix)s AND key < %(prefix_end)s AND key > %(after)s
            ORDER BY key
            LIMIT %(limit)s + 1
        ), placed AS (
            SELECT *, row_number() OVER in_order AS place, sum(size) OVER in_order - size AS before, count(*) OVER () AS total
            FROM found
            WINDOW in_order AS (ORDER BY key)
        )
        SELECT place = total, collection, key, value, version, write_id, created_at, updated_at
        FROM placed
        WHERE place <= %(limit)s AND before < %(max_bytes)s
        ORDER BY key
        """,
        {
            "tenant_id": tenant_id,
            "collection": collection,
            "prefix": prefix,
            "prefix_end": prefix + _AFTER_ALL,
            "after": after,
            "limit": limit,
            "max_bytes": max_bytes,
        },
    ).fetchall()
    return KvPage([entry_of(*entry) for _, *entry in rows], is_last=not rows or rows[-1][0])


def list_collections(conn: Connection[Any], tenant_id: UUID, *, after: str, limit: int, most: int) -> list[KvCollection]:
    """In the order of their names, from one to the next along the primary key; of each at most `most` entries are counted."""
    return (
        conn.cursor(row_factory=class_row(KvCollection))
        .execute(
            """
            WITH RECURSIVE walk AS (
                (SELECT collection FROM kv_entries
                 WHERE tenant_id = %(tenant_id)s AND collection > %(after)s
                 ORDER BY collection LIMIT 1)
                UNION ALL
                SELECT (SELECT kv_entries.collection FROM kv_entries
                        WHERE kv_entries.tenant_id = %(tenant_id)s AND kv_entries.collection > walk.collection
                        ORDER BY kv_entries.collection LIMIT 1)
                FROM walk
                WHERE walk.collection IS NOT NULL
            ), named AS MATERIALIZED (
                SELECT collection FROM walk WHERE collection IS NOT NULL LIMIT %(limit)s
            )
            SELECT named.collection, counted.count, counted.updated_at
            FROM named
            CROSS JOIN LATERAL (
                SELECT count(*) AS count, max(entry.updated_at) AS updated_at
                FROM (SELECT kv_entries.updated_at FROM kv_entries
                      WHERE kv_entries.tenant_id = %(tenant_id)s AND kv_entries.collection = named.collection
                      LIMIT %(most)s) AS entry
            ) AS counted
            ORDER BY named.collection
            """,
            {"tenant_id": tenant_id, "after": after, "limit": limit, "most": most},
        )
        .fetchall()
    )
