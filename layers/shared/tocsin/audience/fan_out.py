"""Fan out: read domain events in order and tell everyone who cares, once; a large audience page by page, beside the cursor."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.audience import reach
from tocsin.content import inbox_text
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.foundation.due import Due
from tocsin.store import domain_events, domain_events_processed, outbox
from tocsin.store.flow import fan_out as statements
from tocsin.store.flow import set_aside
from tocsin.store.rows import Event, Page

BATCH = 200  # events in one transaction
MOST_IN_BATCH = 1_000  # recipients of an event that is told at once; one that has more becomes work of its own
PAGE = 5_000  # recipients told in one transaction of that work
LEASE = timedelta(seconds=40)  # outlives the longest statement
MAX_TRIES = 3
UNTOLD = f"this event could not be fanned out in {MAX_TRIES} tries"
_UNTELLABLE = (psycopg.DataError, psycopg.IntegrityError, psycopg.InternalError, ValueError)

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class FannedOut:
    """What came of it: work that is due, and whether to ask somebody to look again soon (there is more, or it is not
    readable yet)."""

    due: list[Due]
    look_again: bool


def fan_out(
    conn: Connection[Any], *, has_time: Callable[[], bool], lease_token: UUID | None = None, most_due: int = 10_000
) -> FannedOut:
    """Go on from the cursor until nothing is left to read or the time is up. A repetition brings the same token."""
    lease_token = lease_token or uuid4()
    due: list[Due] = []
    look = BATCH  # at how many events
    careful = 0  # events to take one at a time, after a batch that failed
    while True:
        place = domain_events_processed.claim(conn, lease_token=lease_token, lease=LEASE)
        if place is None:
            # Whoever has the cursor looks once more after letting go of it, and so sees what we came for.
            return FannedOut(due, look_again=False)
        careful = BATCH if place.claim_count > 1 else max(0, careful - 1)
        events = domain_events.read_next(conn, limit=1 if careful > 0 else look)
        if not events or not has_time() or len(due) >= most_due:
            domain_events_processed.release(conn, lease_token=lease_token)
            return FannedOut(due, look_again=domain_events_processed.ask_for_another_look(conn))
        if place.claim_count > MAX_TRIES:
            _set_aside(conn, events[0], lease_token)
            continue
        try:
            made = _tell(conn, events, lease_token)
        except _UNTELLABLE as error:
            log.error("fan-out failed", extra={"events": [one.id for one in events][:20], "error": type(error).__name__})
            continue
        if not made.moved:
            log.warning("lost the cursor before moving it; told nobody")
            return FannedOut(due, look_again=False)
        due += made.due
        look = reach.next_look(len(events), made.finished, most=BATCH)


def fan_out_page(conn: Connection[Any], page: Page, *, lease_token: UUID) -> list[Due]:
    """Tell the next page of a large audience. Returns what is due now: deliveries, and the rest of the audience.

    A page that cannot be told is tried again, three times in all; then whoever claims it buries what is left of the event."""
    events = domain_events.read_one(conn, page.event_id)
    try:
        made = statements.fan_out(
            conn,
            _batch(conn, events, {}),
            most=PAGE,
            page_of=page.outbox_id,
            after_user_id=page.after_user_id,
            past_expiry=page.past_expiry,
            lease_token=lease_token,
        )
    except _UNTELLABLE as error:
        log.error("fan-out of a page failed", extra={"event": page.event_id, "error": type(error).__name__})
        outbox.release(conn, [page.outbox_id], lease_token=lease_token, is_tried=True)
        return [Due(page.outbox_id, "plan", page.tenant_id)]
    if not made.moved:
        log.warning("lost the lease before telling a page; told nobody")
    return made.due


def _tell(conn: Connection[Any], events: list[Event], lease_token: UUID) -> statements.FanOutStep:
    """Tell as many of them as can be told together; the rest is for the next batch."""
    followed = reach.followed(events)
    newcomers = statements.find_newcomers(conn, followed) if followed else {}
    batch = _batch(conn, events[: reach.how_far(events, newcomers)], newcomers)
    return statements.fan_out(conn, batch, most=MOST_IN_BATCH, lease_token=lease_token, lease=LEASE)


def _batch(conn: Connection[Any], events: list[Event], newcomers: dict[int, list[UUID]]) -> list[dict[str, Any]]:
    """As many of them as there is time to find words for: the rest is for the next round."""
    words = inbox_text.of_events(conn, events)
    return [
        {"place": n, "id": one.id, "inbox": inbox, "newcomers": _text(newcomers.get(one.id))}
        for n, (one, inbox) in enumerate(zip(events, words, strict=False), 1)
    ]


def _text(ids: list[UUID] | None) -> list[str] | None:
    return None if ids is None else [str(one) for one in ids]


def _set_aside(conn: Connection[Any], event: Event, lease_token: UUID) -> None:
    log.error("event set aside", extra={"event": event.id, "tries": MAX_TRIES})
    set_aside.set_aside(
        conn,
        event.id,
        lease_token=lease_token,
        tries=MAX_TRIES,
        message=UNTOLD,
        hint=hint_for("poison_event"),
    )
