"""Apply what providers tell us later: prove lost answers, raise the feedback register, suppress addresses not to be used."""

from datetime import timedelta
from typing import Any

from psycopg import Connection

from tocsin.foundation import work_queue
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.store import attempts, outbox, provider_events, routes, suppressions
from tocsin.store.provider_events import Matched
from tocsin.store.rows import Evidence, ProviderEvent

_SUPPRESSING = {"hard_bounced": "hard_bounce", "complained": "complaint"}


def apply_events(conn: Connection[Any], events: list[ProviderEvent]) -> int:
    """Apply events in one transaction; order and repetition do not matter. Returns how many named an attempt of ours."""
    if not events:
        return 0
    suppressing = {event.key for event in events if event.suppresses}
    with conn.transaction():
        matched = provider_events.insert_new(conn, events)
        new = [one for one in matched if one.is_new]
        proven = _prove(conn, new)
        raised = [(one.notification_id, one.route_id, one.feedback) for one in new if not one.is_of_copies]
        routes.raise_feedback(conn, raised)
        for one in new:
            for address in _addresses(one):
                _suppress(conn, one, address, is_final=one.event_key in suppressing)
    if proven:
        work_queue.nudge(proven)
    return len(matched)


def _prove(conn: Connection[Any], matched: list[Matched]) -> list[Due]:
    """Any event about an attempt proves that the provider had accepted it."""
    attempts.record_evidence(
        conn,
        [Evidence(one.notification_id, one.route_id, one.generation, one.attempt_no, one.provider_message_id) for one in matched],
    )
    return outbox.hurry_proven(conn, [(one.notification_id, one.route_id, one.generation) for one in matched])


def _addresses(one: Matched) -> list[str]:
    """Whom it is about: the recipient, unless only copies are."""
    recipient = [one.address] if one.address and not one.is_of_copies else []
    return [*recipient, *(one.copies or ())]


def _suppress(conn: Connection[Any], one: Matched, address: str, *, is_final: bool) -> None:
    if is_final:
        reason, lasts = _SUPPRESSING[one.feedback], None
    elif one.feedback == "soft_bounced" and _soft_bounces(conn, one, address) >= settings().soft_bounce_limit:
        reason, lasts = "soft_bounces", timedelta(days=settings().soft_bounce_suppression_days)
    else:
        return
    suppressions.insert_or_strengthen(
        conn,
        suppression_id=uuid7(),
        tenant_id=one.tenant_id,
        channel=one.channel,
        address=address,
        reason=reason,
        source_notification_id=one.notification_id,
        lasts=lasts,
    )


def _soft_bounces(conn: Connection[Any], one: Matched, address: str) -> int:
    window = timedelta(days=settings().soft_bounce_window_days)
    return provider_events.count_soft_bounces(conn, one.tenant_id, one.channel, address, within=window)
