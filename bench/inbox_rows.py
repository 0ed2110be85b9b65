"""Millions of inbox rows, quickly: loaded without the secondary indexes, which are made again as the migrations made them."""

from typing import Any

from psycopg import Connection, sql

from bench.ground import TENANT

ROWS_EACH = 100  # of an ordinary reader
HEAVY_SHARE = 50  # every 50th row is the heavy reader's
ANNOUNCEMENTS = 5  # rows for everyone; every tenth reader has read them


def fill(admin: Connection[Any], count: int) -> None:
    """Rows as the years leave them: readers' rows lie scattered, most are read, some done, hidden, saved or put off."""
    admin.execute("SET maintenance_work_mem = '512MB'")
    admin.execute("SET synchronous_commit = off")
    admin.execute("SET session_replication_role = replica")  # foreign keys hold by construction
    for table in ("notification_reads", "notifications"):
        admin.execute(sql.SQL("ALTER TABLE {} SET UNLOGGED").format(sql.Identifier(table)))  # no difference to readers
    definitions = _drop_secondary_indexes(admin)
    readers = count // ROWS_EACH // 10 * 10 + 1  # no common divisor with the shares below: everyone gets some of everything
    _add_readers(admin, readers)
    _add_rows(admin, count, readers)
    for definition in definitions:
        admin.execute(definition)
    _announce(admin)
    admin.execute("VACUUM (ANALYZE, FREEZE) users, notifications, notification_reads")
    admin.execute("CHECKPOINT")


def _drop_secondary_indexes(admin: Connection[Any]) -> list[sql.SQL]:
    found = admin.execute(
        """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
        FROM pg_index
        WHERE indrelid = 'notifications'::regclass AND NOT indisprimary
        """
    ).fetchall()
    for name, _ in found:
        admin.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    return [sql.SQL(definition) for _, definition in found]


def _add_readers(admin: Connection[Any], count: int) -> None:
    admin.execute(
        """
        INSERT INTO users (id, tenant_id, external_id)
        SELECT tocsin_uuid7(), %s, COALESCE('reader-' || NULLIF(n, 0), 'heavy') FROM generate_series(0, %s) AS n
        """,
        [TENANT, count],
    )
    admin.execute(
        """
        CREATE TEMPORARY TABLE reader AS
        SELECT id, CASE external_id WHEN 'heavy' THEN 0 ELSE split_part(external_id, '-', 2)::integer END AS n
        FROM users WHERE external_id = 'heavy' OR external_id LIKE 'reader-%'
        """
    )
    admin.execute("ANALYZE reader")


def _add_rows(admin: Connection[Any], count: int, readers: int) -> None:
    """Ids and times ascend together, as they would have; all the heavy reader's rows are read but the last three."""
    admin.execute(
        """
        WITH event AS (
            SELECT n, n / %(readers)s AS pick, n %% %(heavy_share)s = 0 AS is_heavy,
                   CASE WHEN n %% %(heavy_share)s = 0 THEN n > %(count)s - 3 * %(heavy_share)s ELSE n %% 5 = 0 END AS is_unread,
                   (SELECT tocsin_now()) - (%(count)s - n) * interval '1 second' AS at
            FROM generate_series(1, %(count)s) AS n
        )
        INSERT INTO notifications (
            id, tenant_id, user_id, kind, reason, scope, thread_kind, thread_id, title, message, summary, event_count, unread,
            read_at, last_event_at, shown_at, last_actor_user_id, created_at, updated_at, done_at, deleted_at, saved_at)
        SELECT ('01' || lpad(to_hex(event.n), 10, '0') || '70008000' || lpad(to_hex(event.n), 12, '0'))::uuid, %(tenant)s,
               reader.id, 'issue.commented', 'watching', 'repository-' || event.n %% 1000, 'issue', event.n::text,
               'Somebody commented on issue ' || event.n, 'It is still broken since Tuesday, and the log says why.',
               jsonb_build_object('url', 'https://example.com/issues/' || event.n), 1 + event.n %% 3, is_unread,
               CASE WHEN NOT is_unread THEN at END, at,
               CASE WHEN NOT is_heavy AND pick = 9 THEN (SELECT tocsin_now()) + interval '1 day' ELSE at END, actor.id, at, at,
               CASE WHEN NOT is_heavy AND NOT is_unread AND pick = 10 THEN at END,
               CASE WHEN NOT is_heavy AND pick = 11 THEN at END,
               CASE WHEN NOT is_heavy AND pick = 12 THEN at END
        FROM event
        JOIN reader ON reader.n = CASE WHEN is_heavy THEN 0 ELSE 1 + event.n %% %(readers)s END
        JOIN reader AS actor ON actor.n = 1 + event.n * 7::bigint %% %(readers)s
        """,
        {"tenant": TENANT, "count": count, "readers": readers, "heavy_share": HEAVY_SHARE},
    )


def _announce(admin: Connection[Any]) -> None:
    admin.execute(
        """
        INSERT INTO notifications (id, tenant_id, kind, reason, title, message, last_event_at, shown_at, created_at, updated_at)
        SELECT tocsin_uuid7(), %s, 'maintenance', 'intent', 'Maintenance on Sunday', 'It takes an hour.', at, at, at, at
        FROM (SELECT tocsin_now() - n * interval '1 day' AS at FROM generate_series(1, %s) AS n) AS announcement
        """,
        [TENANT, ANNOUNCEMENTS],
    )
    admin.execute(
        """
        INSERT INTO notification_reads (notification_id, user_id, tenant_id, read_at)
        SELECT notifications.id, reader.id, %s, tocsin_now()
        FROM notifications CROSS JOIN reader
        WHERE notifications.user_id IS NULL AND reader.n %% 10 = 0
        """,
        [TENANT],
    )
