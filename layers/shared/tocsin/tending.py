"""Tending: what the outcomes of a batch mean for the lanes and the devices they went by."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.ids import uuid7
from tocsin.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.settling import pause_of
from tocsin.store import admin_system_events, devices, lanes, suppressions
from tocsin.store.lanes import Lane
from tocsin.store.outbox import Claimed

SLOWEST_THROTTLE = timedelta(seconds=60)
BREAKS_AFTER = 5  # failures in a row
BREAKER_PAUSE = timedelta(seconds=30)
LONGEST_BREAK = timedelta(minutes=10)
LONGEST_STOP = timedelta(hours=1)
_CLOSING = (FailureClass.THROTTLED, FailureClass.CONFIGURATION)
_FAILING = (FailureClass.TRANSIENT, FailureClass.AMBIGUOUS)


def closes_lane(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.kind in _CLOSING


def tend_lanes(conn: Connection[Any], sends: Iterable[tuple[str, Outcome]], troubled: dict[str, Lane]) -> None:
    """Close the lanes that were told to slow down or stop; reopen those that had trouble and now went through."""
    told_off: dict[str, Failure] = {}
    failures: Counter[str] = Counter()
    went_through: set[str] = set()
    for lane, outcome in sends:
        if isinstance(outcome, Failure) and outcome.kind in _CLOSING:
            told_off[lane] = outcome
        elif isinstance(outcome, Failure) and outcome.kind in _FAILING:
            failures[lane] += 1
        elif isinstance(outcome, Accepted):
            went_through.add(lane)
    for lane, failure in told_off.items():
        _close(conn, lane, failure)
    for lane in failures.keys() - went_through - told_off.keys():
        _count_failures(conn, lane, failures[lane])
    for lane in went_through - told_off.keys():
        if before := troubled.get(lane):
            lanes.reopen(conn, before)
            admin_system_events.resolve(conn, subject=lane)


def _count_failures(conn: Connection[Any], lane: str, failures: int) -> None:
    """The breaker: a lane that only fails is passed over for a while, where there is another way."""
    lanes.count_failures(conn, lane, failures=failures, breaks_after=BREAKS_AFTER, pause=BREAKER_PAUSE, longest=LONGEST_BREAK)


def _close(conn: Connection[Any], lane: str, failure: Failure) -> None:
    is_slow_only = failure.kind is FailureClass.THROTTLED and failure.pause is None
    lanes.close(
        conn,
        lane,
        state="slowed" if is_slow_only else "stopped",
        reason=failure.code,
        pause=pause_of(failure),
        longest=SLOWEST_THROTTLE if is_slow_only else LONGEST_STOP,
    )
    if not is_slow_only:
        admin_system_events.raise_once(
            conn,
            event_type="quota_reached" if failure.kind is FailureClass.THROTTLED else "lane_stopped",
            severity="critical",
            subject=lane,
            description=f"Sending on {lane} is stopped: {failure.code}. The waiting routes' attempts have the provider's words.",
            details={"lane": lane, "code": failure.code},
        )


def tend_devices(conn: Connection[Any], sends: Iterable[tuple[UUID | None, Outcome]]) -> None:
    """Keep new push endpoints; switch off devices that are gone."""
    for device_id, outcome in sends:
        if device_id is None:
            continue
        if isinstance(outcome, Accepted) and outcome.endpoint_arn:
            devices.keep_endpoint(conn, device_id, outcome.endpoint_arn)
        elif isinstance(outcome, Failure) and outcome.device_gone:
            devices.switch_off(conn, device_id, outcome.code)


def tend_opt_outs(conn: Connection[Any], sends: Iterable[tuple[Claimed, Outcome]]) -> None:
    """Someone told the provider to stop: that holds for us too."""
    for one, outcome in sends:
        if isinstance(outcome, Failure) and outcome.opted_out and one.phone:
            suppressions.insert_or_strengthen(
                conn,
                suppression_id=uuid7(),
                tenant_id=one.tenant_id,
                channel="sms",
                address=one.phone,
                reason="opted_out",
                source_notification_id=one.notification_id,
            )
