"""Write or delete an entry of the KV store, together with the work of the triggers that this fires and its audit row."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from tocsin.store.kv_entries import KvEntry, entry_of

CONSTRAINT = "kv_usage_within_bound"


@dataclass(frozen=True, slots=True)
class KvCondition:
    """What must hold for a write to happen. `write_ids` or `versions`: one of these states is the present one."""

    must_exist: bool = False
    must_be_new: bool = False
    write_ids: list[UUID] | None = None
    versions: list[int] | None = None


def put(
    conn: Connection[Any],
    tenant_id: UUID,
    collection: str,
    key: str,
    *,
    value: Any,
    condition: KvCondition,
    write_id: UUID,
    depth: int,
    mode: str,
    max_entries: int,
    actor: dict[str, Any],
) -> Cursor[KvEntry]:
    """Insert or update, as the database finds; no row when the condition does not hold, or this very write has happened before.

    Rivals for one key take turns in its row, and the condition is asked of what the one before has left."""
    return conn.cursor(row_factory=args_row(entry_of)).execute(
        """
        WITH updated AS (
            UPDATE kv_entries
            SET value = %(value)s, version = version + 1, write_id = %(write_id)s, updated_at = tocsin_now()
            WHERE %(must_exist)s AND tenant_id = %(tenant_id)s AND collection = %(collection)s AND key = %(key)s
              AND (%(write_ids)s::uuid[] IS NULL OR write_id = ANY(%(write_ids)s) OR version = ANY(%(versions)s::bigint[]))
              AND write_id <> %(write_id)s
            RETURNING collection, key, value, version, write_id, created_at, updated_at
        ), upserted AS (
            INSERT INTO kv_entries (tenant_id, collection, key, value, write_id)
            SELECT %(tenant_id)s, %(collection)s, %(key)s, %(value)s, %(write_id)s
            WHERE NOT %(must_exist)s
            ON CONFLICT (tenant_id, collection, key) DO UPDATE
                SET value = EXCLUDED.value, version = kv_entries.version + 1, write_id = EXCLUDED.write_id,
                    updated_at = tocsin_now()
                WHERE NOT %(must_be_new)s AND kv_entries.write_id <> EXCLUDED.write_id
            RETURNING collection, key, value, version, write_id, created_at, updated_at
        ), written AS (
            SELECT *, CASE version WHEN 1 THEN 'insert' ELSE 'update' END AS op
            FROM (SELECT * FROM updated UNION ALL SELECT * FROM upserted) AS either
        ), audited AS (
            -- It takes the tenant's turn, so it comes last: of parts that nothing reads, Postgres runs the first at the end.
            INSERT INTO audit_logs (
                id, tenant_id, actor, user_id, action, resource_type, resource_id, ip_address, user_agent, person, changes)
            SELECT tocsin_uuid7(), %(tenant_id)s, %(actor)s, %(user_id)s::uuid,
                   CASE op WHEN 'insert' THEN 'create' ELSE op END, 'kv', collection || '/' || key, %(ip_address)s::inet,
                   %(user_agent)s, %(person)s, jsonb_build_object('new', jsonb_build_object('version', version))
            FROM written
        ), counted AS (
            -- After the entry, so that the counter's row is locked only for the moment of the commit.
            INSERT INTO kv_usage (tenant_id, entries, max_entries)
            SELECT %(tenant_id)s, 1, %(max_entries)s FROM written WHERE op = 'insert'
            ON CONFLICT (tenant_id) DO UPDATE SET entries = kv_usage.entries + 1, max_entries = EXCLUDED.max_entries
        ), fired AS (
            INSERT INTO outbox (
                id, tenant_id, source_kind, queue, payload, due_at, max_attempts, retry_backoff, retry_base_ms, principal_id,
                trigger_depth)
            SELECT tocsin_uuid7(), %(tenant_id)s, 'trigger', wanted.queue,
                   jsonb_build_object('trigger_id', wanted.trigger_id, 'op', op, 'collection', collection, 'key', key,
                                      'value', value, 'version', version),
                   tocsin_now(), wanted.max_attempts, wanted.retry_backoff, wanted.retry_base_ms, wanted.principal_id,
                   %(depth)s + 1
            FROM written CROSS JOIN LATERAL tocsin_matching_kv_triggers(%(tenant_id)s, collection, op, %(mode)s) AS wanted
        )
        SELECT collection, key, value::text, version, write_id, created_at, updated_at FROM written
        """,
        {
            "tenant_id": tenant_id,
            "collection": collection,
            "key": key,
            "value": Jsonb(value),
            "must_exist": condition.must_exist,
            "must_be_new": condition.must_be_new,
            "write_ids": condition.write_ids,
            "versions": condition.versions,
            "write_id": write_id,
            "depth": depth,
            "mode": mode,
            "max_entries": max_entries,
        }
        | actor,
    )


def delete(
    conn: Connection[Any],
    tenant_id: UUID,
    collection: str,
    key: str,
    *,
    condition: KvCondition,
    depth: int,
    mode: str,
    actor: dict[str, Any],
) -> Cursor[tuple[int]]:
    """The version that was deleted; no row, and nothing fires, when there is none or the present state is none of these."""
    return conn.execute(
        """
        WITH gone AS (
            DELETE FROM kv_entries
            WHERE tenant_id = %(tenant_id)s AND collection = %(collection)s AND key = %(key)s
              AND (%(write_ids)s::uuid[] IS NULL OR write_id = ANY(%(write_ids)s) OR version = ANY(%(versions)s::bigint[]))
            RETURNING collection, key, version
        ), audited AS (
            -- last, as above
            INSERT INTO audit_logs (
                id, tenant_id, actor, user_id, action, resource_type, resource_id, ip_address, user_agent, person, changes)
            SELECT tocsin_uuid7(), %(tenant_id)s, %(actor)s, %(user_id)s::uuid, 'delete', 'kv', collection || '/' || key,
                   %(ip_address)s::inet, %(user_agent)s, %(person)s,
                   jsonb_build_object('old', jsonb_build_object('version', version))
            FROM gone
        ), counted AS (
            UPDATE kv_usage SET entries = entries - 1 WHERE tenant_id = %(tenant_id)s AND EXISTS (SELECT FROM gone)
        ), fired AS (
            INSERT INTO outbox (
                id, tenant_id, source_kind, queue, payload, due_at, max_attempts, retry_backoff, retry_base_ms, principal_id,
                trigger_depth)
            SELECT tocsin_uuid7(), %(tenant_id)s, 'trigger', wanted.queue,
                   jsonb_build_object('trigger_id', wanted.trigger_id, 'op', 'delete', 'collection', collection, 'key', key,
                                      'value', NULL, 'version', version),
                   tocsin_now(), wanted.max_attempts, wanted.retry_backoff, wanted.retry_base_ms, wanted.principal_id,
                   %(depth)s + 1
            FROM gone CROSS JOIN LATERAL tocsin_matching_kv_triggers(%(tenant_id)s, collection, 'delete', %(mode)s) AS wanted
        )
        SELECT version FROM gone
        """,
        {
            "tenant_id": tenant_id,
            "collection": collection,
            "key": key,
            "write_ids": condition.write_ids,
            "versions": condition.versions,
            "depth": depth,
            "mode": mode,
        }
        | actor,
    )
