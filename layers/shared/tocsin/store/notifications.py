"""The inbox: one row per person and thread, and rows for everyone with a state per person."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import DictRow, dict_row

COUNT_CAP = 1_000
BOXES = {"all": ["unread", "read"], "unread": ["unread"], "read": ["read"], "done": ["done"], "snoozed": ["unread", "read"]}


@dataclass(frozen=True, slots=True)
class View:
    """What to show: one of the boxes, `saved` or `snoozed`; perhaps only some kinds, by name or beginning, or a thread."""

    name: str = "all"
    kinds: tuple[str, ...] = ()
    kind_beginnings: tuple[str, ...] = ()
    thread_kind: str | None = None
    thread_id: str | None = None


def list_page(
    conn: Connection[Any], tenant_id: UUID, user_id: UUID, view: View, *, limit: int, after: tuple[datetime, UUID] | None
) -> Cursor[DictRow]:
    """A person's own rows and those for everyone, latest first; read the cursor after the round trip.

    Each branch reads one stretch of an index. What is everyone's and was put off by this person stands where they put it."""
    return conn.cursor(row_factory=dict_row).execute(
        """
        WITH own AS (
            SELECT listed.*
            FROM unnest(%(boxes)s::text[]) AS wanted (box) CROSS JOIN LATERAL (
                SELECT notifications.*
                FROM notifications
                WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND box = wanted.box
                  AND shown_at > CASE WHEN %(is_snoozed)s THEN (SELECT tocsin_now()) ELSE '-infinity' END
                  AND shown_at <= CASE WHEN %(is_snoozed)s THEN 'infinity' ELSE (SELECT tocsin_now()) END
                  AND (expires_at IS NULL OR expires_at > tocsin_now())
                  AND (shown_at, id) < (%(after_at)s, %(after_id)s)
                  AND (%(any_kind)s OR kind = ANY(%(kinds)s) OR kind ^@ ANY(%(kind_beginnings)s))
                  AND (%(thread_id)s::text IS NULL OR thread_kind = %(thread_kind)s AND thread_id = %(thread_id)s)
                ORDER BY shown_at DESC, id DESC
                LIMIT %(limit)s
            ) AS listed
        ), saved AS (
            SELECT notifications.*
            FROM notifications
            WHERE %(view)s = 'saved' AND tenant_id = %(tenant_id)s AND user_id = %(user_id)s
              AND saved_at IS NOT NULL AND deleted_at IS NULL
              AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (shown_at, id) < (%(after_at)s, %(after_id)s)
              AND (%(any_kind)s OR kind = ANY(%(kinds)s) OR kind ^@ ANY(%(kind_beginnings)s))
              AND (%(thread_id)s::text IS NULL OR thread_kind = %(thread_kind)s AND thread_id = %(thread_id)s)
            ORDER BY shown_at DESC, id DESC
            LIMIT %(limit)s
        ), announced AS (
            SELECT shared.*, mine.read_at AS my_read_at, mine.done_at AS my_done_at, mine.saved_at AS my_saved_at,
                   shared.shown_at AS my_shown_at, GREATEST(shared.updated_at, mine.updated_at) AS my_updated_at
            FROM notifications AS shared
            LEFT JOIN notification_reads AS mine ON mine.notification_id = shared.id AND mine.user_id = %(user_id)s
            WHERE shared.tenant_id = %(tenant_id)s AND shared.user_id IS NULL AND shared.box = 'unread'
              AND mine.snoozed_at >= shared.last_event_at IS NOT TRUE
              AND (mine.hidden_at IS NULL OR mine.hidden_at < shared.last_event_at)
              AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
              AND (shared.shown_at, shared.id) < (%(after_at)s, %(after_id)s)
              AND (%(any_kind)s OR shared.kind = ANY(%(kinds)s) OR shared.kind ^@ ANY(%(kind_beginnings)s))
              AND (%(thread_id)s::text IS NULL
                   OR shared.thread_kind = %(thread_kind)s AND shared.thread_id = %(thread_id)s)
              AND CASE
                      WHEN %(view)s = 'saved' THEN mine.saved_at IS NOT NULL
                      WHEN mine.done_at >= shared.last_event_at THEN %(view)s = 'done'
                      WHEN mine.read_at >= shared.last_event_at THEN %(view)s IN ('all', 'read')
                      ELSE %(view)s IN ('all', 'unread')
                  END
            ORDER BY shared.shown_at DESC, shared.id DESC
            LIMIT %(limit)s
        ), put_off AS (
            SELECT shared.*, mine.read_at AS my_read_at, mine.done_at AS my_done_at, mine.saved_at AS my_saved_at,
                   mine.snoozed_until AS my_shown_at, GREATEST(shared.updated_at, mine.updated_at) AS my_updated_at
            FROM notification_reads AS mine
            JOIN notifications AS shared ON shared.id = mine.notification_id AND shared.user_id IS NULL
            WHERE mine.tenant_id = %(tenant_id)s AND mine.user_id = %(user_id)s
              AND mine.snoozed_at >= shared.last_event_at
              AND (mine.hidden_at IS NULL OR mine.hidden_at < shared.last_event_at)
              AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
              AND (mine.snoozed_until, shared.id) < (%(after_at)s, %(after_id)s)
              AND (%(any_kind)s OR shared.kind = ANY(%(kinds)s) OR shared.kind ^@ ANY(%(kind_beginnings)s))
              AND (%(thread_id)s::text IS NULL
                   OR shared.thread_kind = %(thread_kind)s AND shared.thread_id = %(thread_id)s)
              AND CASE
                      WHEN %(view)s = 'saved' THEN mine.saved_at IS NOT NULL
                      WHEN mine.snoozed_until > tocsin_now() THEN %(view)s = 'snoozed'
                      WHEN mine.done_at >= shared.last_event_at THEN %(view)s = 'done'
                      WHEN mine.read_at >= shared.last_event_at THEN %(view)s IN ('all', 'read')
                      ELSE %(view)s IN ('all', 'unread')
                  END
            ORDER BY mine.snoozed_until DESC, shared.id DESC
            LIMIT %(limit)s
        ), listed AS (
            SELECT id, kind, reason, scope, thread_kind, thread_id, title, message, summary, event_count, unread, read_at,
                   last_event_at, last_actor_user_id, created_at, done_at, saved_at, shown_at, updated_at, false AS for_everyone,
                   source_event_id, source_notification_id
            FROM (SELECT * FROM own UNION ALL SELECT * FROM saved) AS mine
            UNION ALL
            SELECT id, kind, reason, scope, thread_kind, thread_id, title, message, summary, event_count,
                   COALESCE(my_read_at < last_event_at, true), CASE WHEN my_read_at >= last_event_at THEN my_read_at END,
                   last_event_at, last_actor_user_id, created_at,
                   CASE WHEN my_done_at >= last_event_at THEN my_done_at END, my_saved_at, my_shown_at, my_updated_at, true,
                   source_event_id, source_notification_id
            FROM (SELECT * FROM announced UNION ALL SELECT * FROM put_off) AS shared
            ORDER BY shown_at DESC, id DESC
            LIMIT %(limit)s
        ), titles AS (
            -- all kinds of the page at once: joined, each row would be looked for by itself
            SELECT jsonb_object_agg(name, title) AS by_kind
            FROM notification_types
            WHERE tenant_id = %(tenant_id)s AND name = ANY(ARRAY(SELECT kind FROM listed)) AND title IS NOT NULL
        )
        SELECT listed.id, listed.kind, listed.reason, listed.scope, listed.thread_kind, listed.thread_id, listed.title,
               listed.message, listed.summary, listed.event_count, listed.unread, listed.read_at, listed.last_event_at,
               listed.created_at, listed.done_at, listed.saved_at, listed.shown_at, listed.updated_at, listed.for_everyone,
               listed.source_notification_id, users.external_id AS last_actor,
               tocsin_display_name(users.attributes, users.username, users.external_id) AS actor_name, users.avatar_url,
               event.source AS event_source, event.event_id, (SELECT by_kind FROM titles) ->> listed.kind AS type_title,
               COALESCE(listed.shown_at <= (SELECT seen_at FROM inbox_visits
                                            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s), false) AS seen,
               CASE WHEN listed.shown_at > GREATEST(listed.last_event_at, (SELECT tocsin_now())) THEN listed.shown_at
               END AS snoozed_until
        FROM listed
        LEFT JOIN users ON users.tenant_id = %(tenant_id)s AND users.id = listed.last_actor_user_id
        LEFT JOIN domain_events AS event ON event.tenant_id = %(tenant_id)s AND event.id = listed.source_event_id
        ORDER BY listed.shown_at DESC, listed.id DESC
        """,
        {
            "tenant_id": tenant_id,
            "user_id": user_id,
            "boxes": BOXES.get(view.name, []),
            "view": view.name,
            "is_snoozed": view.name == "snoozed",
            "any_kind": not (view.kinds or view.kind_beginnings),
            "kinds": list(view.kinds),
            "kind_beginnings": list(view.kind_beginnings),
            "thread_kind": view.thread_kind,
            "thread_id": view.thread_id,
            "limit": limit,
            "after_at": after[0] if after else "infinity",
            "after_id": after[1] if after else UUID(int=2**128 - 1),
        },
    )


def find_words(
    conn: Connection[Any], tenant_id: UUID, user_id: UUID | None, notification_id: UUID, *, planned_at: datetime
) -> tuple[str, str] | None:
    """The title and message of the inbox row that planning this notification made, for a person or (None) for everyone. None: it
    says something newer by now, or is gone.

    A row is shown no earlier than its last event, so what is looked through is what the person was told since."""
    return conn.execute(
        """
        SELECT title, message
        FROM (
            SELECT title, message, last_event_at, source_notification_id
            FROM notifications
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s
              AND box IN ('unread', 'read', 'done', 'hidden') AND shown_at >= %(planned_at)s
            UNION ALL
            SELECT title, message, last_event_at, source_notification_id
            FROM notifications
            WHERE tenant_id = %(tenant_id)s AND user_id IS NULL AND %(user_id)s::uuid IS NULL
              AND box IN ('unread', 'read', 'done', 'hidden') AND shown_at >= %(planned_at)s
        ) AS row
        WHERE last_event_at = %(planned_at)s AND source_notification_id = %(notification_id)s
        LIMIT 1
        """,
        {"tenant_id": tenant_id, "planned_at": planned_at, "notification_id": notification_id, "user_id": user_id},
    ).fetchone()


def count_unread(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> Cursor[tuple[int, int]]:
    """How many rows are unread, and how many of those were shown since the last visit; each up to the cap, from the index alone.
    Read the cursor after the round trip."""
    return conn.execute(
        """
        SELECT LEAST(count(*), %(cap)s),
               LEAST(count(*) FILTER (WHERE unread.shown_at > COALESCE((
                   SELECT seen_at FROM inbox_visits WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s), '-infinity')),
                   %(cap)s)
        FROM (
            (SELECT shown_at
             FROM notifications
             WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND box = 'unread' AND shown_at <= tocsin_now()
               AND (expires_at IS NULL OR expires_at > tocsin_now())
             ORDER BY shown_at DESC
             LIMIT %(cap)s)
            UNION ALL
            (SELECT CASE WHEN mine.snoozed_at >= shared.shown_at THEN mine.snoozed_until ELSE shared.shown_at END
             FROM notifications AS shared
             LEFT JOIN notification_reads AS mine ON mine.notification_id = shared.id AND mine.user_id = %(user_id)s
             WHERE shared.tenant_id = %(tenant_id)s AND shared.user_id IS NULL AND shared.box = 'unread'
               AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
               -- shown_at is in the index, and last_event_at of a row for everyone
               AND GREATEST(mine.read_at, mine.hidden_at, mine.done_at) >= shared.shown_at IS NOT TRUE
               AND (mine.snoozed_until > tocsin_now() AND mine.snoozed_at >= shared.shown_at) IS NOT TRUE
             ORDER BY shared.shown_at DESC
             LIMIT %(cap)s)
        ) AS unread
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "cap": COUNT_CAP},
    )


@dataclass(frozen=True, slots=True)
class Change:
    """What a person does with a row; None leaves a thing as it is. `snooze`: whether snoozed_until is to be set (or cleared)."""

    read: bool | None = None
    done: bool | None = None
    saved: bool | None = None
    hide: bool = False
    snooze: bool = False
    snoozed_until: datetime | None = None

    def as_parameters(self) -> dict[str, Any]:
        read, snoozed_until = self.read, None if self.done else self.snoozed_until  # what is done is not put off
        if read is None and self.done:
            read = True  # what is done is read
        if read is None and snoozed_until:
            read = False  # what was put off comes back as news
        return {
            "read": read,
            "done": False if self.done is None and snoozed_until else self.done,
            "saved": self.saved,
            "hide": self.hide,
            "snooze": self.snooze or bool(self.done),
            "snoozed_until": snoozed_until,
        }


def change_own(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID, change: Change) -> bool:
    found = conn.execute(
        """
        UPDATE notifications
        SET unread = COALESCE(NOT %(read)s::boolean, unread),
            read_at = CASE WHEN %(read)s THEN COALESCE(read_at, tocsin_now()) WHEN NOT %(read)s THEN NULL ELSE read_at END,
            done_at = CASE WHEN %(done)s THEN COALESCE(done_at, tocsin_now()) WHEN NOT %(done)s THEN NULL ELSE done_at END,
            saved_at = CASE WHEN %(saved)s THEN COALESCE(saved_at, tocsin_now()) WHEN NOT %(saved)s THEN NULL ELSE saved_at END,
            deleted_at = CASE WHEN %(hide)s THEN tocsin_now() ELSE deleted_at END,
            shown_at = CASE WHEN %(snooze)s THEN COALESCE(%(snoozed_until)s, last_event_at) ELSE shown_at END,
            updated_at = CASE WHEN %(hide)s OR %(read)s::boolean = unread OR %(done)s::boolean = (done_at IS NULL)
                                   OR %(saved)s::boolean = (saved_at IS NULL)
                                   OR (%(snooze)s AND COALESCE(%(snoozed_until)s, last_event_at) <> shown_at)
                              THEN tocsin_now() ELSE updated_at END
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND id = %(row_id)s AND deleted_at IS NULL
          AND (expires_at IS NULL OR expires_at > tocsin_now())
        RETURNING true
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "row_id": row_id} | change.as_parameters(),
    ).fetchone()
    return found is not None


def find(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID) -> dict[str, Any] | None:
    """One row as its reader sees it, wherever it lies, unless it is hidden."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT row.id, kind, reason, row.scope, row.thread_kind, row.thread_id, row.title, message, summary, event_count,
                   CASE WHEN row.user_id IS NULL THEN mine.read_at >= last_event_at IS NOT TRUE ELSE unread END AS unread,
                   CASE WHEN row.user_id IS NOT NULL THEN row.read_at
                        WHEN mine.read_at >= last_event_at THEN mine.read_at END AS read_at,
                   last_event_at, row.created_at, GREATEST(row.updated_at, mine.updated_at) AS updated_at,
                   CASE WHEN row.user_id IS NOT NULL THEN row.done_at
                        WHEN mine.done_at >= last_event_at THEN mine.done_at END AS done_at,
                   CASE WHEN row.user_id IS NULL THEN mine.saved_at ELSE row.saved_at END AS saved_at,
                   CASE WHEN row.user_id IS NULL THEN CASE WHEN mine.snoozed_at >= last_event_at
                                                                AND mine.snoozed_until > tocsin_now()
                                                           THEN mine.snoozed_until END
                        WHEN shown_at > GREATEST(last_event_at, tocsin_now()) THEN shown_at END AS snoozed_until,
                   row.user_id IS NULL AS for_everyone, users.external_id AS last_actor,
                   tocsin_display_name(users.attributes, users.username, users.external_id) AS actor_name, users.avatar_url,
                   row.source_event_id, row.source_notification_id, event.source AS event_source, event.event_id,
                   type.title AS type_title,
                   COALESCE(CASE WHEN row.user_id IS NULL AND mine.snoozed_at >= last_event_at THEN mine.snoozed_until
                                 ELSE shown_at END <= visit.seen_at, false) AS seen
            FROM notifications AS row
            LEFT JOIN notification_reads AS mine
                ON row.user_id IS NULL AND mine.notification_id = row.id AND mine.user_id = %(user_id)s
            LEFT JOIN users ON users.tenant_id = row.tenant_id AND users.id = row.last_actor_user_id
            LEFT JOIN domain_events AS event ON event.tenant_id = row.tenant_id AND event.id = row.source_event_id
            LEFT JOIN notification_types AS type ON type.tenant_id = row.tenant_id AND type.name = row.kind
            LEFT JOIN inbox_visits AS visit ON visit.tenant_id = row.tenant_id AND visit.user_id = %(user_id)s
            WHERE row.tenant_id = %(tenant_id)s AND row.id = %(row_id)s
              AND (row.user_id = %(user_id)s OR row.user_id IS NULL) AND deleted_at IS NULL
              AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (mine.hidden_at IS NULL OR mine.hidden_at < last_event_at)
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "row_id": row_id},
        )
        .fetchone()
    )


def read_own(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, before: datetime | None, limit: int) -> int:
    """Mark a batch of a person's rows as read: what had its last event before the given time. Returns how many."""
    row = conn.execute(
        """
        WITH unread AS (
            SELECT id FROM notifications
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND box = 'unread' AND shown_at <= tocsin_now()
              AND last_event_at <= COALESCE(%(before)s, tocsin_now()) AND (expires_at IS NULL OR expires_at > tocsin_now())
            ORDER BY shown_at DESC, id DESC
            LIMIT %(limit)s
            FOR UPDATE
        ), marked AS (
            UPDATE notifications
            SET unread = false, read_at = tocsin_now(), updated_at = tocsin_now()
            FROM unread
            WHERE notifications.id = unread.id
            RETURNING notifications.id
        )
        SELECT count(*) FROM marked
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "before": before, "limit": limit},
    ).fetchone()
    return row[0] if row else 0


def finish_own(conn: Connection[Any], tenant_id: UUID, user_id: UUID, box: str, *, before: datetime | None, limit: int) -> int:
    """Mark a batch of a person's rows as done, of those that lie in this box, as `read_own` marks them as read."""
    row = conn.execute(
        """
        WITH listed AS (
            SELECT id FROM notifications
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND box = %(box)s AND shown_at <= tocsin_now()
              AND last_event_at <= COALESCE(%(before)s, tocsin_now()) AND (expires_at IS NULL OR expires_at > tocsin_now())
            ORDER BY shown_at DESC, id DESC
            LIMIT %(limit)s
            FOR UPDATE
        ), marked AS (
            UPDATE notifications
            SET done_at = tocsin_now(), unread = false, read_at = COALESCE(read_at, tocsin_now()), shown_at = last_event_at,
                updated_at = tocsin_now()
            FROM listed
            WHERE notifications.id = listed.id
            RETURNING notifications.id
        )
        SELECT count(*) FROM marked
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "box": box, "before": before, "limit": limit},
    ).fetchone()
    return row[0] if row else 0


def delete_expired(conn: Connection[Any], *, limit: int) -> int:
    """Forget rows whose own time has come."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM notifications
            WHERE expires_at < tocsin_now()
            ORDER BY expires_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM notifications USING expired WHERE notifications.id = expired.id
        """,
        {"limit": limit},
    ).rowcount


def delete_old(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Forget rows without a time of their own on which nothing has happened for so long, and which nobody has saved."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('notifications_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT notifications.id FROM notifications
                WHERE notifications.tenant_id = kept.tenant_id AND notifications.last_event_at < tocsin_now() - kept.age
                  AND notifications.expires_at IS NULL AND notifications.saved_at IS NULL
                ORDER BY notifications.last_event_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM notifications USING expired WHERE notifications.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount


def delete_saved(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """The same for what is saved; a tenant that keeps the others even longer keeps these as long."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('notifications_days', %(age)s, %(age)s) AS kept
            CROSS JOIN LATERAL (
                SELECT notifications.id FROM notifications
                WHERE notifications.tenant_id = kept.tenant_id AND notifications.last_event_at < tocsin_now() - kept.age
                  AND notifications.expires_at IS NULL AND notifications.saved_at IS NOT NULL
                ORDER BY notifications.last_event_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM notifications USING expired WHERE notifications.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount


def delete_hidden(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Forget rows that their reader took away so long ago."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('hidden_notifications_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT notifications.id FROM notifications
                WHERE notifications.tenant_id = kept.tenant_id AND notifications.deleted_at < tocsin_now() - kept.age
                ORDER BY notifications.deleted_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM notifications USING expired WHERE notifications.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
