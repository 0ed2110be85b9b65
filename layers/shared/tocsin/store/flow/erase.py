"""Erase a person: what is under way ends, what is theirs goes, what speaks of them is masked. Each statement takes a batch."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb


def delete_history(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, limit: int) -> dict[str, int]:
    """What could be too much to go along with the user in one statement: the inbox, what was sent, what they did."""
    return _counted(
        conn.execute(
            """
            WITH inbox AS (
                DELETE FROM notifications
                WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(
                    SELECT id FROM notifications WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s LIMIT %(limit)s))
                RETURNING 1
            ), log AS (
                DELETE FROM notification_email_log
                WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(
                    SELECT id FROM notification_email_log
                    WHERE tenant_id = %(tenant_id)s AND recipient_user_id = %(user_id)s LIMIT %(limit)s))
                RETURNING 1
            ), act AS (
                UPDATE domain_events SET actor_user_id = NULL
                WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(
                    SELECT id FROM domain_events WHERE tenant_id = %(tenant_id)s AND actor_user_id = %(user_id)s LIMIT %(limit)s))
                RETURNING 1
            )
            SELECT jsonb_build_object(
                'notifications', (SELECT count(*) FROM inbox), 'notification_email_log', (SELECT count(*) FROM log),
                'domain_events_acted', (SELECT count(*) FROM act))
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "limit": limit},
        ).fetchone()
    )


def delete_user(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> dict[str, int]:
    """The user, with devices, preferences, threads, watches and whatever else hangs on them. From here on nobody finds them."""
    gone = conn.execute(
        "DELETE FROM users WHERE tenant_id = %(tenant_id)s AND id = %(user_id)s RETURNING 1",
        {"tenant_id": tenant_id, "user_id": user_id},
    ).fetchall()
    return {"users": len(gone)}


def find_who_may_know(conn: Connection[Any]) -> list[str]:
    """The transactions that may have seen the user: those that have read the table, and not ended."""
    rows = conn.execute(
        """
        SELECT DISTINCT virtualtransaction FROM pg_locks
        WHERE relation = 'users'::regclass AND pid <> pg_backend_pid()
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    ).fetchall()
    return [row[0] for row in rows]


def cancel_unsent(conn: Connection[Any], tenant_id: UUID, *, recipient: str, until: datetime, limit: int) -> dict[str, int]:
    """End what surely was not sent to them, as a cancellation does."""
    ended = conn.execute(
        """
        WITH unsent AS (
            SELECT notification_id, route_id, outbox_id
            FROM routes
            WHERE tenant_id = %(tenant_id)s AND recipient_ref = %(recipient)s AND accepted_at <= %(until)s
              AND status IN ('pending', 'failed') AND NOT duplicate_suspected
              AND EXISTS (SELECT FROM outbox WHERE outbox.id = routes.outbox_id AND NOT outbox.attempt_open)
            LIMIT %(limit)s
        ), taken_back AS (
            DELETE FROM outbox
            USING unsent
            WHERE outbox.tenant_id = %(tenant_id)s AND outbox.id = unsent.outbox_id AND NOT outbox.attempt_open
            RETURNING unsent.notification_id, unsent.route_id
        )
        UPDATE routes
        SET status = 'cancelled', reason = 'erased', next_attempt_at = NULL, cancelled_at = tocsin_now(),
            updated_at = tocsin_now()
        FROM taken_back
        WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = taken_back.notification_id
          AND routes.route_id = taken_back.route_id AND routes.status IN ('pending', 'failed')
        RETURNING 1
        """,
        {"tenant_id": tenant_id, "recipient": recipient, "until": until, "limit": limit},
    ).fetchall()
    return {"cancelled": len(ended)}


def forget_unplanned(
    conn: Connection[Any], tenant_id: UUID, *, external_id: str, stand_in: str, pattern: str, keys: str, until: datetime
) -> dict[str, int]:
    """Intents that name them and wait to be planned. What is for them alone is cancelled and says nothing more."""
    return _counted(
        conn.execute(
            """
            WITH forgotten AS (
                UPDATE records
                SET updated_at = tocsin_now(), recipient_user_ids = (
                        SELECT jsonb_agg(CASE WHEN one #>> '{}' = %(external_id)s THEN to_jsonb(%(stand_in)s::text) ELSE one END)
                        FROM jsonb_array_elements(recipient_user_ids) AS one),
                    payload_json = CASE WHEN jsonb_array_length(recipient_user_ids) = 1 THEN '{}'
                                        ELSE regexp_replace(payload_json::text, %(pattern)s, %(stand_in)s, 'g')::jsonb END,
                    email_options = CASE WHEN jsonb_array_length(recipient_user_ids) <> 1 THEN email_options END,
                    idempotency_key = CASE WHEN idempotency_key ~ %(keys)s THEN %(stand_in)s || '_' || records.notification_id
                                           ELSE idempotency_key END,
                    cancelled_at = CASE WHEN jsonb_array_length(recipient_user_ids) = 1
                                        THEN COALESCE(cancelled_at, tocsin_now()) ELSE cancelled_at END
                WHERE tenant_id = %(tenant_id)s AND recipient_user_ids ? %(external_id)s AND accepted_at <= %(until)s
                  AND notification_id = ANY(ARRAY(
                      SELECT outbox.notification_id FROM outbox
                      WHERE outbox.queue = 'plan' AND outbox.tenant_id = %(tenant_id)s AND outbox.source_kind = 'plan'))
                RETURNING 1
            )
            SELECT jsonb_build_object('records', count(*)) FROM forgotten
            """,
            {
                "tenant_id": tenant_id,
                "external_id": external_id,
                "stand_in": stand_in,
                "pattern": pattern,
                "keys": keys,
                "until": until,
            },
        ).fetchone()
    )


def forget_routes(
    conn: Connection[Any], tenant_id: UUID, *, recipient: str, stand_in: str, pattern: str, keys: str, until: datetime, limit: int
) -> dict[str, int]:
    """What was sent to them, and all that was told of it. What was for them alone says nothing more."""
    return _counted(
        conn.execute(
            """
            WITH hers AS MATERIALIZED (
                SELECT notification_id, route_id
                FROM routes
                WHERE tenant_id = %(tenant_id)s AND recipient_ref = %(recipient)s AND accepted_at <= %(until)s
                ORDER BY accepted_at DESC, notification_id DESC
                LIMIT %(limit)s
            ), about AS MATERIALIZED (
                SELECT records.notification_id,
                       jsonb_array_length(records.recipient_user_ids) <= 1 AND NOT EXISTS (
                           SELECT FROM routes
                           WHERE routes.notification_id = records.notification_id AND routes.recipient_ref <> %(recipient)s)
                           AS is_own
                FROM records
                WHERE records.tenant_id = %(tenant_id)s AND records.notification_id IN (SELECT notification_id FROM hers)
            ), record AS (
                UPDATE records
                SET updated_at = tocsin_now(),
                    recipient_user_ids = regexp_replace(recipient_user_ids::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    payload_json = CASE WHEN about.is_own THEN '{}'
                                        ELSE regexp_replace(payload_json::text, %(pattern)s, %(stand_in)s, 'g')::jsonb END,
                    email_options = CASE WHEN NOT about.is_own THEN email_options END,
                    thread_kind = CASE WHEN NOT about.is_own THEN thread_kind END,
                    thread_id = CASE WHEN NOT about.is_own THEN thread_id END,
                    idempotency_key = CASE WHEN idempotency_key ~ %(keys)s THEN %(stand_in)s || '_' || records.notification_id
                                           ELSE idempotency_key END
                FROM about
                WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = about.notification_id
                RETURNING 1
            ), attempt AS (
                UPDATE attempts SET error_message = ''
                FROM hers
                WHERE attempts.tenant_id = %(tenant_id)s AND attempts.notification_id = hers.notification_id
                  AND attempts.route_id = hers.route_id AND attempts.error_message <> ''
                RETURNING 1
            ), letter AS (
                UPDATE dead_letters SET recipient_ref = 'user:' || %(stand_in)s, failure_message = '', payload = NULL
                FROM hers
                WHERE dead_letters.tenant_id = %(tenant_id)s AND dead_letters.notification_id = hers.notification_id
                  AND dead_letters.route_id = hers.route_id
                RETURNING 1
            ), feedback AS (
                UPDATE provider_events SET detail = ''
                FROM hers
                WHERE provider_events.tenant_id = %(tenant_id)s AND provider_events.notification_id = hers.notification_id
                  AND provider_events.route_id = hers.route_id AND provider_events.detail <> ''
                RETURNING 1
            ), told AS (
                UPDATE webhook_deliveries
                SET updated_at = tocsin_now(), payload = regexp_replace(payload::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    response_body = ''
                FROM about
                WHERE webhook_deliveries.tenant_id = %(tenant_id)s
                  AND webhook_deliveries.notification_id = about.notification_id
                  AND (webhook_deliveries.payload::text ~ %(pattern)s OR webhook_deliveries.response_body <> '')
                RETURNING 1
            ), abandoned AS (
                UPDATE abandoned_executions SET outcome = regexp_replace(outcome::text, %(pattern)s, %(stand_in)s, 'g')::jsonb
                FROM about
                WHERE abandoned_executions.tenant_id = %(tenant_id)s
                  AND abandoned_executions.notification_id = about.notification_id
                  AND abandoned_executions.outcome::text ~ %(pattern)s
                RETURNING 1
            ), route AS (
                UPDATE routes
                SET recipient_ref = 'user:' || %(stand_in)s, resolved_email = '', resolved_phone = '', resolved_locale = '',
                    last_error_message = '', provider_response = '', updated_at = tocsin_now()
                FROM hers
                WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = hers.notification_id
                  AND routes.route_id = hers.route_id
                RETURNING 1
            )
            SELECT jsonb_build_object(
                'routes', (SELECT count(*) FROM route), 'records', (SELECT count(*) FROM record),
                'attempts', (SELECT count(*) FROM attempt), 'dead_letters', (SELECT count(*) FROM letter),
                'provider_events', (SELECT count(*) FROM feedback), 'webhook_deliveries', (SELECT count(*) FROM told),
                'abandoned_executions', (SELECT count(*) FROM abandoned))
            """,
            {
                "tenant_id": tenant_id,
                "recipient": recipient,
                "stand_in": stand_in,
                "pattern": pattern,
                "keys": keys,
                "until": until,
                "limit": limit,
            },
        ).fetchone()
    )


def find_to_address(
    conn: Connection[Any], tenant_id: UUID, *, email: str | None, phone: str | None, until: datetime, limit: int
) -> list[UUID]:
    """Intents to their bare address."""
    rows = conn.execute(
        """
        (SELECT notification_id FROM records
         WHERE tenant_id = %(tenant_id)s AND address_email = lower(%(email)s) AND accepted_at <= %(until)s LIMIT %(limit)s)
        UNION
        (SELECT notification_id FROM records
         WHERE tenant_id = %(tenant_id)s AND address_phone = %(phone)s AND accepted_at <= %(until)s LIMIT %(limit)s)
        """,
        {"tenant_id": tenant_id, "email": email, "phone": phone, "until": until, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def forget_to_address(
    conn: Connection[Any], tenant_id: UUID, ids: list[UUID], *, stand_in: str, pattern: str, keys: str
) -> dict[str, int]:
    """The same for these intents; what is not planned yet is planned as cancelled, to nobody."""
    return _counted(
        conn.execute(
            """
            WITH record AS (
                UPDATE records
                SET updated_at = tocsin_now(), audience = NULL, payload_json = '{}', email_options = NULL, thread_kind = NULL,
                    thread_id = NULL,
                    idempotency_key = CASE WHEN idempotency_key ~ %(keys)s THEN %(stand_in)s || '_' || records.notification_id
                                           ELSE idempotency_key END,
                    cancelled_at = CASE WHEN EXISTS (SELECT FROM outbox WHERE outbox.id = records.notification_id)
                                        THEN COALESCE(cancelled_at, tocsin_now()) ELSE cancelled_at END
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
                RETURNING 1
            ), attempt AS (
                UPDATE attempts SET error_message = ''
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s) AND error_message <> ''
                RETURNING 1
            ), letter AS (
                UPDATE dead_letters SET failure_message = '', payload = NULL
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
                RETURNING 1
            ), feedback AS (
                UPDATE provider_events SET detail = ''
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s) AND detail <> ''
                RETURNING 1
            ), told AS (
                UPDATE webhook_deliveries
                SET updated_at = tocsin_now(), payload = regexp_replace(payload::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    response_body = ''
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
                RETURNING 1
            ), route AS (
                UPDATE routes
                SET resolved_email = '', resolved_phone = '', last_error_message = '', provider_response = '',
                    updated_at = tocsin_now()
                WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
                RETURNING 1
            )
            SELECT jsonb_build_object(
                'routes', (SELECT count(*) FROM route), 'records', (SELECT count(*) FROM record),
                'attempts', (SELECT count(*) FROM attempt), 'dead_letters', (SELECT count(*) FROM letter),
                'provider_events', (SELECT count(*) FROM feedback), 'webhook_deliveries', (SELECT count(*) FROM told))
            """,
            {"tenant_id": tenant_id, "ids": ids, "stand_in": stand_in, "pattern": pattern, "keys": keys},
        ).fetchone()
    )


def mask_copies(
    conn: Connection[Any], tenant_id: UUID, *, likely: list[str], pattern: str, stand_in: str, until: datetime, limit: int
) -> dict[str, int]:
    """Mails to others that they got a copy of, or answers to which went to them."""
    masked = conn.execute(
        """
        UPDATE records
        SET updated_at = tocsin_now(), email_options = regexp_replace((
                -- an address goes, a name in a file's address is masked
                CASE WHEN email_options ? 'cc' THEN jsonb_set(email_options, '{cc}', (
                         SELECT COALESCE(jsonb_agg(one) FILTER (WHERE one #>> '{}' !~ %(pattern)s), '[]')
                         FROM jsonb_array_elements(email_options -> 'cc') AS one))
                     ELSE email_options END
                - CASE WHEN email_options ->> 'reply_to' ~ %(pattern)s THEN 'reply_to' ELSE '' END
            )::text, %(pattern)s, %(stand_in)s, 'g')::jsonb
        WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(ARRAY(
            SELECT notification_id FROM records
            WHERE tenant_id = %(tenant_id)s AND email_options IS NOT NULL AND accepted_at <= %(until)s
              AND CASE WHEN lower(email_options::text) LIKE ANY(%(likely)s) THEN email_options::text ~ %(pattern)s END
            LIMIT %(limit)s))
        RETURNING 1
        """,
        {
            "tenant_id": tenant_id,
            "likely": likely,
            "pattern": pattern,
            "stand_in": stand_in,
            "until": until,
            "limit": limit,
        },
    ).fetchall()
    return {"records": len(masked)}


def mask_events(
    conn: Connection[Any], tenant_id: UUID, *, likely: list[str], pattern: str, stand_in: str, after: int, size: int
) -> tuple[dict[str, int], int | None]:
    """What producers told of them: a stretch of the log of events, and where the next one begins. None: there is none."""
    row = conn.execute(
        """
        WITH stretch AS MATERIALIZED (
            SELECT id FROM domain_events WHERE tenant_id = %(tenant_id)s AND id > %(after)s ORDER BY id LIMIT %(size)s
        ), masked AS (
            UPDATE domain_events SET data = regexp_replace(data::text, %(pattern)s, %(stand_in)s, 'g')::jsonb
            WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(SELECT stretch.id FROM stretch))
              -- in this order, here and below: the planner would look closely first
              AND CASE WHEN lower(data::text) LIKE ANY(%(likely)s) THEN data::text ~ %(pattern)s END
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM masked), CASE WHEN count(*) = %(size)s THEN max(id) END FROM stretch
        """,
        {
            "tenant_id": tenant_id,
            "likely": likely,
            "pattern": pattern,
            "stand_in": stand_in,
            "after": after,
            "size": size,
        },
    ).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return {"domain_events": row[0]}, row[1]


def mask_the_rest(
    conn: Connection[Any],
    tenant_id: UUID,
    user_id: UUID,
    *,
    likely: list[str],
    pattern: str,
    words: str,
    keys: str,
    stand_in: str,
    external_id: str,
    email: str | None,
    phone: str | None,
) -> dict[str, int]:
    """What could not be accepted, work that waits or has died, what operators were told; and a suppression is left as a hash."""
    return _counted(
        conn.execute(
            """
            WITH malformed AS (
                UPDATE malformed_intents
                SET raw_fields = regexp_replace(CASE
                        -- of a user who came with it nothing stays but the place
                        WHEN raw_fields @> jsonb_build_object(
                            'audience', jsonb_build_object('user_ids', jsonb_build_array(%(given)s)))
                        THEN jsonb_set(raw_fields, '{audience,user_ids}', (
                            SELECT jsonb_agg(CASE WHEN one @> %(given)s THEN one -> 'id' ELSE one END)
                            FROM jsonb_array_elements(raw_fields #> '{audience,user_ids}') AS one))
                        ELSE raw_fields END::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    failure_message = regexp_replace(failure_message, %(words)s, %(stand_in)s, 'g'),
                    resolution_reason = regexp_replace(resolution_reason, %(words)s, %(stand_in)s, 'g'),
                    idempotency_key = CASE WHEN idempotency_key ~ %(keys)s THEN %(stand_in)s ELSE idempotency_key END
                WHERE tenant_id = %(tenant_id)s
                  AND CASE WHEN lower(raw_fields::text || failure_message || resolution_reason || idempotency_key)
                                LIKE ANY(%(likely)s)
                           THEN raw_fields::text ~ %(pattern)s OR failure_message ~ %(pattern)s OR resolution_reason ~ %(words)s
                                OR idempotency_key ~ %(keys)s END
                RETURNING 1
            ), letter AS (
                UPDATE dead_letters
                SET payload = regexp_replace(payload::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    failure_message = regexp_replace(failure_message, %(words)s, %(stand_in)s, 'g'),
                    resolution_reason = regexp_replace(resolution_reason, %(words)s, %(stand_in)s, 'g')
                WHERE tenant_id = %(tenant_id)s
                  AND CASE WHEN lower(COALESCE(payload::text, '') || failure_message || resolution_reason) LIKE ANY(%(likely)s)
                           THEN payload::text ~ %(pattern)s OR failure_message ~ %(pattern)s OR resolution_reason ~ %(words)s END
                RETURNING 1
            ), job AS (
                -- the filter of a replay may name them
                UPDATE jobs
                SET arguments = regexp_replace(arguments::text, %(pattern)s, %(stand_in)s, 'g')::jsonb, updated_at = tocsin_now()
                WHERE tenant_id = %(tenant_id)s AND arguments::text ~ %(pattern)s
                RETURNING 1
            ), guarded AS (
                -- what the over-sending guard counted of their address, by its hash
                DELETE FROM notification_email_log
                WHERE tenant_id = %(tenant_id)s AND address_hash IN (
                    tocsin_address_hash(%(tenant_id)s, 'email', %(email)s), tocsin_address_hash(%(tenant_id)s, 'sms', %(phone)s))
                RETURNING 1
            ), work AS (
                UPDATE outbox SET payload = regexp_replace(payload::text, %(pattern)s, %(stand_in)s, 'g')::jsonb
                WHERE tenant_id = %(tenant_id)s AND payload IS NOT NULL
                  AND CASE WHEN lower(payload::text) LIKE ANY(%(likely)s) THEN payload::text ~ %(pattern)s END
                RETURNING 1
            ), abandoned AS (
                UPDATE abandoned_executions SET outcome = regexp_replace(outcome::text, %(pattern)s, %(stand_in)s, 'g')::jsonb
                WHERE tenant_id = %(tenant_id)s
                  AND CASE WHEN lower(outcome::text) LIKE ANY(%(likely)s) THEN outcome::text ~ %(pattern)s END
                RETURNING 1
            ), event AS (
                UPDATE admin_system_events
                SET description = regexp_replace(description, %(words)s, %(stand_in)s, 'g'),
                    details = regexp_replace(details::text, %(pattern)s, %(stand_in)s, 'g')::jsonb,
                    resolution_reason = regexp_replace(resolution_reason, %(words)s, %(stand_in)s, 'g'),
                    user_id = NULLIF(user_id, %(user_id)s)
                WHERE tenant_id = %(tenant_id)s
                  AND (user_id = %(user_id)s OR details::text ~ %(pattern)s OR description ~ %(pattern)s
                       OR resolution_reason ~ %(words)s)
                RETURNING 1
            ), suppression AS (
                UPDATE suppressions SET address = NULL
                WHERE tenant_id = %(tenant_id)s AND address IS NOT NULL
                  AND (channel = 'email' AND address_hash = tocsin_address_hash(%(tenant_id)s, 'email', %(email)s)
                       OR channel = 'sms' AND address_hash = tocsin_address_hash(%(tenant_id)s, 'sms', %(phone)s))
                RETURNING 1
            )
            SELECT jsonb_build_object(
                'malformed_intents', (SELECT count(*) FROM malformed), 'dead_letters', (SELECT count(*) FROM letter),
                'jobs', (SELECT count(*) FROM job), 'notification_email_log', (SELECT count(*) FROM guarded),
                'outbox', (SELECT count(*) FROM work), 'abandoned_executions', (SELECT count(*) FROM abandoned),
                'admin_system_events', (SELECT count(*) FROM event), 'suppressions', (SELECT count(*) FROM suppression))
            """,
            {
                "tenant_id": tenant_id,
                "user_id": user_id,
                "pattern": pattern,
                "likely": likely,
                "words": words,
                "keys": keys,
                "stand_in": stand_in,
                "given": Jsonb({"id": external_id}),
                "email": email,
                "phone": phone,
            },
        ).fetchone()
    )


def _counted(row: tuple[Any, ...] | None) -> dict[str, int]:
    assert row is not None  # noqa: S101 - these count, and a count is always a row
    found: dict[str, int] = row[0]
    return found
