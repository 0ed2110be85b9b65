"""Fan out: read domain events in order and tell everyone who cares, once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin import inbox_words
from tocsin.recovery_hints import hint_for
from tocsin.store import domain_events, domain_events_processed
from tocsin.store.domain_events import Event

BATCH = 200  # events in one transaction
MOST_IN_BATCH = 1_000  # recipients of an event that shares a transaction with others
PAGE = 5_000  # recipients of an event that has more: page by page
LEASE = timedelta(seconds=40)  # outlives the longest statement
MAX_TRIES = 3

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class FannedOut:
    """What came of it: deliveries that are due, and whether to ask somebody to look again soon (there is more, or it is not
    readable yet)."""

    deliveries: list[UUID]
    look_again: bool


def fan_out(
    conn: Connection[Any], *, has_time: Callable[[], bool], lease_token: UUID | None = None, most_deliveries: int = 10_000
) -> FannedOut:
    """Go on from the cursor until nothing is left to read or the time is up. A repetition brings the same token."""
    lease_token = lease_token or uuid4()
    deliveries: list[UUID] = []
    reach = BATCH  # how many to look at: few after a batch that was cut short, by a thread whose participants become more
    careful = 0  # events to take one at a time, after a batch that failed
    while True:
        place = domain_events_processed.claim(conn, lease_token=lease_token, lease=LEASE)
        if place is None:
            # Whoever has the cursor looks once more after letting go of it, and so sees what we came for.
            return FannedOut(deliveries, look_again=False)
        careful = BATCH if place.claim_count > 1 else max(0, careful - 1)
        is_alone = careful > 0 or place.current_event_id is not None
        events = domain_events.read_next(conn, limit=1 if is_alone else reach)
        if not events or not has_time() or len(deliveries) >= most_deliveries:
            domain_events_processed.release(conn, lease_token=lease_token)
            return FannedOut(deliveries, look_again=domain_events_processed.ask_for_another_look(conn))
        if place.claim_count > MAX_TRIES:
            _set_aside(conn, events[0], lease_token)
            continue
        try:
            made = _tell(conn, events, place.after_user_id, lease_token)
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.InternalError, ValueError) as error:
            log.error("fan-out failed", extra={"events": [one.id for one in events][:20], "error": type(error).__name__})
            continue
        if not made.moved:
            log.warning("lost the cursor before moving it; told nobody")
            return FannedOut(deliveries, look_again=False)
        deliveries += made.deliveries
        reach = min(BATCH, max(2, 2 * made.finished))


def _tell(conn: Connection[Any], events: list[Event], after_user_id: UUID | None, lease_token: UUID) -> domain_events.FannedOut:
    words = inbox_words.of_events(conn, events)
    batch = [{"place": n, "id": one.id, "inbox": words[one.id]} for n, one in enumerate(events, 1)]
    most = PAGE if len(events) == 1 else MOST_IN_BATCH
    return domain_events.fan_out(conn, batch, after_user_id=after_user_id, most=most, lease_token=lease_token, lease=LEASE)


def _set_aside(conn: Connection[Any], event: Event, lease_token: UUID) -> None:
    log.error("event set aside", extra={"event": event.id, "tries": MAX_TRIES})
    domain_events_processed.set_aside(
        conn,
        event.id,
        lease_token=lease_token,
        tries=MAX_TRIES,
        message=f"this event could not be fanned out in {MAX_TRIES} tries",
        hint=hint_for("poison_event"),
    )
