"""Count what erasing a person would reach: the rows that `erase` deletes and masks, looked for in the same way, and left be."""

from typing import Any
from uuid import UUID

from psycopg import Connection


def count_own(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, most: int) -> dict[str, int]:
    """The user, what hangs on them, their inbox and what they did; of each at most so many are counted."""
    return _counted(
        conn.execute(
            """
            SELECT jsonb_build_object(
                'users', 1,
                'devices', (SELECT count(*) FROM devices WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s),
                'preferences', (SELECT count(*) FROM preferences WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s),
                'watches', (SELECT count(*) FROM (
                    SELECT FROM watches WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s LIMIT %(most)s) AS one),
                'notification_threads', (SELECT count(*) FROM (
                    SELECT FROM notification_threads
                    WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s LIMIT %(most)s) AS one),
                'digests', (SELECT count(*) FROM (
                    SELECT FROM digests WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s LIMIT %(most)s) AS one),
                'notifications', (SELECT count(*) FROM (
                    SELECT FROM notifications
                    WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s LIMIT %(most)s) AS one),
                'notification_email_log', (SELECT count(*) FROM (
                    SELECT FROM notification_email_log
                    WHERE tenant_id = %(tenant_id)s AND recipient_user_id = %(user_id)s LIMIT %(most)s) AS one),
                'domain_events_acted', (SELECT count(*) FROM (
                    SELECT FROM domain_events
                    WHERE tenant_id = %(tenant_id)s AND actor_user_id = %(user_id)s LIMIT %(most)s) AS one))
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "most": most},
        ).fetchone()
    )


def count_sent(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    recipient: str,
    external_id: str,
    email: str | None,
    phone: str | None,
    pattern: str,
    most: int,
) -> dict[str, int]:
    """What was sent to them, to their bare address, or waits to be planned; and all that was told of it."""
    return _counted(
        conn.execute(
            """
            WITH hers AS MATERIALIZED (
                SELECT notification_id, route_id
                FROM routes
                WHERE tenant_id = %(tenant_id)s AND recipient_ref = %(recipient)s
                LIMIT %(most)s
            ), addressed AS MATERIALIZED (
                (SELECT notification_id FROM records
                 WHERE tenant_id = %(tenant_id)s AND address_email = lower(%(email)s) LIMIT %(most)s)
                UNION
                (SELECT notification_id FROM records
                 WHERE tenant_id = %(tenant_id)s AND address_phone = %(phone)s LIMIT %(most)s)
            ), unplanned AS MATERIALIZED (
                SELECT records.notification_id
                FROM outbox JOIN records USING (notification_id)
                WHERE outbox.queue = 'plan' AND outbox.tenant_id = %(tenant_id)s AND outbox.source_kind = 'plan'
                  AND records.tenant_id = %(tenant_id)s AND records.recipient_user_ids ? %(external_id)s
                LIMIT %(most)s
            ), route AS MATERIALIZED (
                SELECT notification_id, route_id FROM hers
                UNION
                SELECT routes.notification_id, routes.route_id
                FROM addressed JOIN routes USING (notification_id)
                WHERE routes.tenant_id = %(tenant_id)s
            ), record AS MATERIALIZED (
                SELECT notification_id, false AS is_addressed FROM hers
                UNION
                SELECT notification_id, true FROM addressed
                UNION
                SELECT notification_id, false FROM unplanned
            )
            SELECT jsonb_build_object(
                'routes', (SELECT count(*) FROM route),
                'records', (SELECT count(DISTINCT notification_id) FROM record),
                'attempts', (
                    SELECT count(*) FROM route JOIN attempts USING (notification_id, route_id)
                    WHERE attempts.tenant_id = %(tenant_id)s AND attempts.error_message <> ''),
                'dead_letters', (
                    SELECT count(*) FROM route JOIN dead_letters USING (notification_id, route_id)
                    WHERE dead_letters.tenant_id = %(tenant_id)s),
                'provider_events', (
                    SELECT count(*) FROM route JOIN provider_events USING (notification_id, route_id)
                    WHERE provider_events.tenant_id = %(tenant_id)s AND provider_events.detail <> ''),
                'webhook_deliveries', (
                    SELECT count(DISTINCT told.id) FROM record JOIN webhook_deliveries AS told USING (notification_id)
                    WHERE told.tenant_id = %(tenant_id)s
                      AND (record.is_addressed OR told.response_body <> '' OR told.payload::text ~ %(pattern)s)))
            """,
            {
                "tenant_id": tenant_id,
                "recipient": recipient,
                "external_id": external_id,
                "email": email,
                "phone": phone,
                "pattern": pattern,
                "most": most,
            },
        ).fetchone()
    )


def count_events(
    conn: Connection[Any], tenant_id: UUID, *, likely: list[str], pattern: str, after: int, size: int
) -> tuple[int, int | None]:
    """How many events of a stretch of the log speak of them, and where the next one begins. None: there is none."""
    row = conn.execute(
        """
        WITH stretch AS MATERIALIZED (
            SELECT id, data FROM domain_events WHERE tenant_id = %(tenant_id)s AND id > %(after)s ORDER BY id LIMIT %(size)s
        )
        SELECT count(*) FILTER (WHERE CASE WHEN lower(data::text) LIKE ANY(%(likely)s) THEN data::text ~ %(pattern)s END),
               CASE WHEN count(*) = %(size)s THEN max(id) END
        FROM stretch
        """,
        {"tenant_id": tenant_id, "likely": likely, "pattern": pattern, "after": after, "size": size},
    ).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return row[0], row[1]


def count_the_rest(
    conn: Connection[Any],
    tenant_id: UUID,
    user_id: UUID,
    *,
    recipient: str,
    likely: list[str],
    pattern: str,
    words: str,
    keys: str,
    email: str | None,
    phone: str | None,
) -> dict[str, int]:
    """What speaks of them elsewhere; of letters and of the email log what was not counted before."""
    return _counted(
        conn.execute(
            """
            SELECT jsonb_build_object(
                'malformed_intents', (
                    SELECT count(*) FROM malformed_intents
                    WHERE tenant_id = %(tenant_id)s
                      AND CASE WHEN lower(raw_fields::text || failure_message || resolution_reason || idempotency_key)
                                    LIKE ANY(%(likely)s)
                               THEN raw_fields::text ~ %(pattern)s OR failure_message ~ %(pattern)s
                                    OR resolution_reason ~ %(words)s OR idempotency_key ~ %(keys)s END),
                'dead_letters', (
                    SELECT count(*) FROM dead_letters AS letter
                    WHERE letter.tenant_id = %(tenant_id)s AND letter.recipient_ref <> %(recipient)s
                      AND CASE WHEN lower(COALESCE(payload::text, '') || failure_message || resolution_reason)
                                    LIKE ANY(%(likely)s)
                               THEN payload::text ~ %(pattern)s OR failure_message ~ %(pattern)s
                                    OR resolution_reason ~ %(words)s END
                      AND NOT EXISTS (
                          SELECT FROM records
                          WHERE records.notification_id = letter.notification_id AND letter.route_id IS NOT NULL
                            AND (records.address_email = lower(%(email)s) OR records.address_phone = %(phone)s))),
                'records', (
                    -- mails to others that they got a copy of
                    SELECT count(*) FROM records
                    WHERE tenant_id = %(tenant_id)s AND email_options IS NOT NULL
                      AND CASE WHEN lower(email_options::text) LIKE ANY(%(likely)s) THEN email_options::text ~ %(pattern)s END
                      AND COALESCE(address_email <> lower(%(email)s), true)
                      AND NOT EXISTS (
                          SELECT FROM routes
                          WHERE routes.notification_id = records.notification_id AND routes.recipient_ref = %(recipient)s)),
                'jobs', (SELECT count(*) FROM jobs WHERE tenant_id = %(tenant_id)s AND arguments::text ~ %(pattern)s),
                'notification_email_log', (
                    SELECT count(*) FROM notification_email_log
                    WHERE tenant_id = %(tenant_id)s AND recipient_user_id IS DISTINCT FROM %(user_id)s AND address_hash IN (
                        tocsin_address_hash(%(tenant_id)s, 'email', %(email)s),
                        tocsin_address_hash(%(tenant_id)s, 'sms', %(phone)s))),
                'outbox', (
                    SELECT count(*) FROM outbox
                    WHERE tenant_id = %(tenant_id)s AND payload IS NOT NULL
                      AND CASE WHEN lower(payload::text) LIKE ANY(%(likely)s) THEN payload::text ~ %(pattern)s END),
                'abandoned_executions', (
                    SELECT count(*) FROM abandoned_executions
                    WHERE tenant_id = %(tenant_id)s
                      AND CASE WHEN lower(outcome::text) LIKE ANY(%(likely)s) THEN outcome::text ~ %(pattern)s END),
                'admin_system_events', (
                    SELECT count(*) FROM admin_system_events
                    WHERE tenant_id = %(tenant_id)s
                      AND (user_id = %(user_id)s OR details::text ~ %(pattern)s OR description ~ %(pattern)s
                           OR resolution_reason ~ %(words)s)),
                'suppressions', (
                    SELECT count(*) FROM suppressions
                    WHERE tenant_id = %(tenant_id)s AND address IS NOT NULL
                      AND (channel = 'email' AND address_hash = tocsin_address_hash(%(tenant_id)s, 'email', %(email)s)
                           OR channel = 'sms' AND address_hash = tocsin_address_hash(%(tenant_id)s, 'sms', %(phone)s))))
            """,
            {
                "tenant_id": tenant_id,
                "user_id": user_id,
                "recipient": recipient,
                "likely": likely,
                "pattern": pattern,
                "words": words,
                "keys": keys,
                "email": email,
                "phone": phone,
            },
        ).fetchone()
    )


def _counted(row: tuple[Any, ...] | None) -> dict[str, int]:
    assert row is not None  # noqa: S101 - these count, and a count is always a row
    found: dict[str, int] = row[0]
    return found
