"""The books, from the other side: what work, letters, events, webhooks and digests promise."""

from typing import Any

from psycopg import Connection

from tocsin.store.domain_events_processed import CONSUMER
from tocsin.store.flow.books import Residue, Span, residue


def work_without_live_route(conn: Connection[Any], span: Span) -> list[Residue]:
    """In the outbox to be delivered, and there is no such route, or it has ended, or other work is its own.

    All of the outbox, which holds only what is unfinished."""
    return residue(
        conn.execute(
            """
            SELECT outbox.tenant_id, outbox.id
            FROM outbox
            WHERE outbox.source_kind = 'deliver' AND outbox.queue = ANY('{email,sms,push}')
              AND (%(ids)s::uuid[] IS NULL OR outbox.id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR outbox.tenant_id = %(tenant_id)s)
              AND NOT EXISTS (
                  SELECT FROM routes
                  WHERE routes.notification_id = outbox.notification_id AND routes.route_id = outbox.route_id
                    AND routes.outbox_id = outbox.id AND routes.status IN ('pending', 'failed'))
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def letters_without_dead_route(conn: Connection[Any], span: Span) -> list[Residue]:
    """A letter that nobody has resolved, and its route is not dead."""
    return residue(
        conn.execute(
            """
            SELECT dead_letters.tenant_id, dead_letters.id
            FROM dead_letters JOIN routes USING (notification_id, route_id, generation)
            WHERE dead_letters.created_at >= %(since)s AND dead_letters.created_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR dead_letters.id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR dead_letters.tenant_id = %(tenant_id)s)
              AND dead_letters.source_kind = 'deliver' AND dead_letters.resolution IS NULL AND routes.status <> 'dead_letter'
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def events_passed_over(conn: Connection[Any], span: Span) -> list[Residue]:
    """The cursor is past it and it still waits, and no work of its own goes on with it."""
    return residue(
        conn.execute(
            """
            SELECT domain_events.tenant_id, domain_events.notification_id AS id
            FROM domain_events
            JOIN domain_events_processed AS processed
                ON (domain_events.txid, domain_events.id) <= (processed.last_txid, processed.last_event_id)
            WHERE domain_events.recorded_at >= %(since)s AND domain_events.recorded_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR domain_events.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR domain_events.tenant_id = %(tenant_id)s)
              AND processed.consumer = %(consumer)s AND domain_events.outcome = 'waiting'
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = domain_events.notification_id)
            LIMIT %(most)s
            """,
            span.as_parameters() | {"consumer": CONSUMER},
            prepare=False,
        )
    )


def webhooks_without_work(conn: Connection[Any], span: Span) -> list[Residue]:
    """A webhook is owed a message, and nothing in the outbox says so."""
    return residue(
        conn.execute(
            """
            SELECT delivery.tenant_id, delivery.id
            FROM webhook_deliveries AS delivery
            WHERE delivery.created_at >= %(since)s AND delivery.created_at < %(until)s
              AND (%(ids)s::uuid[] IS NULL OR delivery.id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR delivery.tenant_id = %(tenant_id)s)
              AND delivery.status = 'pending'
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = delivery.id AND outbox.source_kind = 'webhook')
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )


def digests_without_route(conn: Connection[Any], span: Span) -> list[Residue]:
    """A digest collects, and no email of its own will carry it. All of them: they live for a day."""
    return residue(
        conn.execute(
            """
            SELECT digests.tenant_id, digests.notification_id AS id
            FROM digests
            WHERE (%(ids)s::uuid[] IS NULL OR digests.notification_id = ANY(%(ids)s))
              AND (%(tenant_id)s::uuid IS NULL OR digests.tenant_id = %(tenant_id)s)
              AND NOT EXISTS (
                  SELECT FROM routes
                  WHERE routes.notification_id = digests.notification_id
                    AND (routes.status NOT IN ('pending', 'failed') OR routes.outbox_id = digests.outbox_id))
            LIMIT %(most)s
            """,
            span.as_parameters(),
            prepare=False,
        )
    )
