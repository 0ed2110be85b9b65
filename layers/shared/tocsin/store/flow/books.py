"""The books: what records and routes promise of each other, and of their work, attempts and letters.

Each question is one statement, so it looks at one moment; and whoever changes one side of a promise changes the other in the
same transaction, so there is no moment at which the books of a sound installation do not balance."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor

MOST = 1_000  # of one breach in one look


@dataclass(frozen=True, slots=True)
class Span:
    """What to look at: what was accepted (or written down) in some time, of one tenant or of all; or these alone, however old.

    Letters and inbox rows may be deleted a day after they were written. So what should have one is only looked at while it must
    still be there (`fresh_since`)."""

    since: datetime
    until: datetime
    fresh_since: datetime
    tenant_id: UUID | None = None
    ids: list[UUID] | None = None

    def as_parameters(self) -> dict[str, Any]:
        return {
            "since": self.since,
            "until": self.until,
            "fresh_since": self.fresh_since,
            "tenant_id": self.tenant_id,
            "ids": self.ids,
            "most": MOST,
        }


@dataclass(frozen=True, slots=True)
class Residue:
    """One that does not balance: whose it is, and its id."""

    tenant_id: UUID
    id: UUID


def residue(found: Cursor[Any]) -> list[Residue]:
    """Each statement is planned anew: for an hour, a month or ten ids, and for one tenant or all."""
    return [Residue(*row) for row in found.fetchall()]


def records_without_work(conn: Connection[Any], span: Span) -> list[Residue]:
    """Accepted, and there is no plan, no route and no letter: nobody will ever be told."""
    return residue(
        conn.execute(
            """
            SELECT records.tenant_id, records.notification_id AS id
            FROM records
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NOT NULL OR GREATEST(records.accepted_at, records.send_at) >= %(fresh_since)s)
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND NOT EXISTS (SELECT FROM routes WHERE routes.notification_id = records.notification_id)
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = records.notification_id)
              AND NOT EXISTS (SELECT FROM dead_letters WHERE dead_letters.notification_id = records.notification_id)
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def live_routes_without_work(conn: Connection[Any], span: Span) -> list[Residue]:
    """Pending or to be tried again, and nothing in the outbox says so."""
    return residue(
        conn.execute(
            """
            SELECT routes.tenant_id, routes.notification_id AS id
            FROM records JOIN routes USING (notification_id)
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND routes.status IN ('pending', 'failed')
              AND NOT EXISTS (
                  SELECT FROM outbox
                  WHERE outbox.id = routes.outbox_id AND outbox.source_kind = 'deliver'
                    AND outbox.notification_id = routes.notification_id AND outbox.route_id = routes.route_id
                    AND outbox.generation = routes.generation)
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def published_without_acceptance(conn: Connection[Any], span: Span) -> list[Residue]:
    """Published, and no attempt of this generation was accepted, by a provider or by the sandbox."""
    return residue(
        conn.execute(
            """
            SELECT routes.tenant_id, routes.notification_id AS id
            FROM records JOIN routes USING (notification_id)
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND routes.status = 'published' AND routes.channel <> 'in_app'
              AND NOT EXISTS (
                  SELECT FROM attempts
                  WHERE attempts.notification_id = routes.notification_id AND attempts.route_id = routes.route_id
                    AND attempts.generation = routes.generation AND attempts.outcome = 'accepted')
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def published_without_inbox_row(conn: Connection[Any], span: Span) -> list[Residue]:
    """Published to an inbox, and there is no row: neither its own, nor the one of its thread into which it was folded.

    Rows go with the person they belong to, and when the notification expires."""
    return residue(
        conn.execute(
            """
            SELECT routes.tenant_id, routes.notification_id AS id
            FROM records JOIN routes USING (notification_id)
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NOT NULL OR routes.published_at >= %(fresh_since)s)
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND routes.status = 'published' AND routes.channel = 'in_app'
              AND records.expires_at <= tocsin_now() IS NOT TRUE
              AND (routes.user_id IS NULL OR EXISTS (
                  SELECT FROM users WHERE users.tenant_id = routes.tenant_id AND users.id = routes.user_id))
              AND NOT EXISTS (
                  -- without a thread it is as it was written, in the statement that published the route
                  SELECT FROM notifications AS row
                  WHERE row.source_notification_id = routes.notification_id AND row.last_event_at = routes.published_at
                    AND row.tenant_id = routes.tenant_id
                    AND COALESCE(row.user_id::text, '') = COALESCE(routes.user_id::text, ''))
              AND NOT EXISTS (
                  SELECT FROM notifications AS row
                  WHERE row.tenant_id = routes.tenant_id AND row.thread_kind = records.thread_kind
                    AND row.thread_id = records.thread_id
                    AND COALESCE(row.user_id::text, '') = COALESCE(routes.user_id::text, ''))
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def accepted_without_publication(conn: Connection[Any], span: Span) -> list[Residue]:
    """Accepted by a provider, and the route ended in another way and does not say that it may have arrived."""
    return residue(
        conn.execute(
            """
            SELECT routes.tenant_id, routes.notification_id AS id
            FROM records JOIN routes USING (notification_id)
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND routes.status IN ('dead_letter', 'skipped', 'cancelled') AND NOT routes.may_have_arrived
              AND EXISTS (
                  SELECT FROM attempts
                  WHERE attempts.notification_id = routes.notification_id AND attempts.route_id = routes.route_id
                    AND attempts.generation = routes.generation AND attempts.outcome = 'accepted')
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def dead_routes_without_letter(conn: Connection[Any], span: Span) -> list[Residue]:
    """Given up on, and there is no letter that somebody could read or replay."""
    return residue(
        conn.execute(
            """
            SELECT routes.tenant_id, routes.notification_id AS id
            FROM records JOIN routes USING (notification_id)
            WHERE records.accepted_at >= %(since)s AND records.accepted_at < %(until)s
              AND (%(ids)s::uuid[] IS NOT NULL OR routes.dead_lettered_at >= %(fresh_since)s)
              AND (%(ids)s::uuid[] IS NULL OR records.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR records.tenant_id = %(tenant_id)s)
              AND routes.status = 'dead_letter'
              AND NOT EXISTS (
                  SELECT FROM dead_letters
                  WHERE dead_letters.notification_id = routes.notification_id AND dead_letters.route_id = routes.route_id
                    AND dead_letters.generation = routes.generation)
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )
