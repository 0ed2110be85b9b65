"""Load runs: what the runs of triggers need, in the round trip of their claim."""

from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row

from tocsin.store.rows import FiredTrigger, Lane, RegisteringKey, RunHandler

LoadedRun = tuple[UUID, FiredTrigger | None, RunHandler | None, RegisteringKey | None, dict[str, Any] | None, str, Lane | None]


def load_runs(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID) -> Cursor[LoadedRun]:
    """The triggers of the runs among these that are under this lease, with whatever of them is still there.

    The key is read as it is now. One that was rotated hands its rights on; one that was revoked has none, nor has one of another
    mode than the key it was when the trigger fired."""
    return conn.cursor(row_factory=args_row(_run)).execute(
        """
        SELECT outbox.id,
               -- trigger
               triggers.id, triggers.kind, triggers.enabled,
               -- handler
               handler.id, handler.kind, handler.config, handler.secret,
               CASE WHEN handler.previous_secret_expires_at > tocsin_now() THEN handler.previous_secret END AS previous_secret,
               -- key
               key.id, key.producer, key.mode, key.scopes, key.rate_limit,
               key.is_usable AND (origin.mode = key.mode) IS NOT FALSE AS is_usable,
               -- letter
               CASE WHEN letter.id IS NOT NULL THEN jsonb_build_object(
                   'id', letter.id, 'source_kind', letter.source_kind, 'notification_id', letter.notification_id,
                   'route_id', letter.route_id, 'channel', letter.channel, 'recipient', letter.recipient_ref,
                   'provider', letter.provider, 'provider_code', letter.provider_code, 'trigger_id', letter.trigger_id,
                   'handler_id', letter.handler_id, 'payload', letter.payload, 'attempts', letter.final_attempt_count,
                   'max_attempts', letter.max_attempts, 'failure_classification', letter.failure_classification,
                   'failure_message', letter.failure_message, 'recovery_hint', letter.recovery_hint,
                   'first_attempt_at', tocsin_rfc3339(letter.first_attempt_at),
                   'last_attempt_at', tocsin_rfc3339(letter.last_attempt_at),
                   'created_at', tocsin_rfc3339(letter.created_at)) END AS letter,
               COALESCE(records.trace_id, '') AS trace_id,
               -- lane
               lanes.lane, lanes.state, lanes.reason, lanes.resume_at, lanes.resume_at > tocsin_now() AS is_closed,
               lanes.updated_at, lanes.timed_out, lanes.probe_size, lanes.probe_until
        FROM outbox
        LEFT JOIN triggers
            ON triggers.id = tocsin_id_in(outbox.payload, 'trigger_id') AND triggers.tenant_id = outbox.tenant_id
        LEFT JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
        LEFT JOIN LATERAL (
            WITH RECURSIVE held AS (
                SELECT api_keys.*, 1 AS place FROM api_keys WHERE api_keys.id = triggers.registered_by_principal
                UNION ALL
                SELECT api_keys.*, held.place + 1
                FROM held JOIN api_keys ON api_keys.id = held.replaced_by AND api_keys.tenant_id = held.tenant_id
                WHERE held.is_active
            )
            SELECT held.id, producer, mode, scopes,
                   LEAST(rate_limit, tocsin_cap(tenants.settings, 'intents_per_minute')) AS rate_limit,
                   is_active AND (expires_at IS NULL OR expires_at > tocsin_now()) AS is_usable
            FROM held JOIN tenants ON tenants.id = held.tenant_id
            ORDER BY place DESC
            LIMIT 1
        ) AS key ON true
        LEFT JOIN api_keys AS origin ON origin.id = outbox.principal_id AND origin.tenant_id = outbox.tenant_id
        LEFT JOIN dead_letters AS letter
            ON letter.id = tocsin_id_in(outbox.payload, 'dead_letter_id') AND letter.tenant_id = outbox.tenant_id
        LEFT JOIN records ON records.notification_id = letter.notification_id
        LEFT JOIN lanes ON lanes.lane = 'handler:' || handler.id
        WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s AND outbox.source_kind = 'trigger'
        """,
        {"ids": ids, "lease_token": lease_token},
    )


def _run(outbox_id: UUID, *columns: Any) -> LoadedRun:
    trigger, handler, key, lane = columns[:3], columns[3:8], columns[8:14], columns[16:]
    return (
        outbox_id,
        FiredTrigger(*trigger) if trigger[0] else None,
        RunHandler(*handler) if handler[0] else None,
        RegisteringKey(*key) if key[0] else None,
        columns[14],
        columns[15],
        Lane(*lane) if lane[0] else None,
    )
