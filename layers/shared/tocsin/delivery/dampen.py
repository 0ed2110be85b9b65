"""Dampen: decide how much each person and each guarded address is told, before anything is sent to them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.delivery import quiet_hours, settlement
from tocsin.delivery.dampener import HOUR, Granted, Held, Later, Ledger, Limits, OverSent, Skipped
from tocsin.delivery.gate import Defer, End
from tocsin.delivery.over_sending import Guard, guard_of
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.store import admin_system_events, digests, notification_email_log
from tocsin.store.flow import dampen as flow
from tocsin.store.flow.dampen import CountedDelivery, Holding
from tocsin.store.flow.settle import settle
from tocsin.store.rows import Delivery, Settlement, State


@dataclass(frozen=True, slots=True)
class Dampened:
    """What may be sent (with the record's payload as it is now), what may not and is settled already, and new digests.
    `over_sent`: of what may not, how many the over-sending guard refused."""

    granted: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    refused: list[Settlement] = field(default_factory=list)
    digests: list[tuple[timedelta, Due]] = field(default_factory=list)
    over_sent: list[tuple[Delivery, Guard]] = field(default_factory=list)


def dampen(conn: Connection[Any], wanted: list[tuple[Delivery, str]], *, lease_token: UUID, limits: Limits) -> Dampened:
    """Decide under the recipients' locks and write it down, in the caller's transaction. `wanted`: deliveries with their titles.

    What is in neither part of the answer is not under our lease any more."""
    claimed = {one.work.id: (one, title) for one, title in wanted}
    # People first, then addresses: whoever takes both kinds of locks takes them in this order.
    notification_email_log.lock_recipients(conn, {one.route.user_id for one, _ in wanted if one.route.user_id})
    if guarded := [one for one, _ in wanted if guard_of(one, limits.guard)]:
        flow.lock_addresses(conn, guarded)
    states = flow.read_states(
        conn,
        [_wanted(one, limits) for one, _ in wanted],
        lease_token=lease_token,
        thread_window=limits.thread_window,
        hour=HOUR,
        hourly_limit=limits.hourly_limit,
    )
    ledger, dampened = Ledger(limits), Dampened()
    holdings: dict[tuple[UUID | None, str | None, str | None], Holding] = {}
    granted: list[tuple[Delivery, bytes | None]] = []
    for state in states:
        one, title = claimed[state.outbox_id]
        match ledger.decide(one, state):
            case Granted():
                granted.append((one, state.address_hash))
                dampened.granted[one.work.id] = state.payload
            case Skipped(reason, is_told):
                dampened.refused.append(settlement.of_decision(one, End("skipped", reason, is_told=is_told)))
            case OverSent(guard):
                dampened.refused.append(settlement.of_decision(one, End("skipped", guard.reason)))
                dampened.over_sent.append((one, guard))
            case Later(reason, until):
                dampened.refused.append(settlement.of_decision(one, Defer(reason, until)))
            case Held() as held:
                holding = _hold(holdings, one, state, held, title)
                told = End("skipped", f"dampened: told by digest {holding.digest_id}", is_told=True)
                dampened.refused.append(settlement.of_decision(one, told))
                if held.opens_at:
                    digest = Due(holding.outbox_id, "email", one.work.tenant_id)
                    dampened.digests.append((held.opens_at - state.now, digest))
    _write(conn, granted, list(holdings.values()), dampened, claimed, lease_token)
    return dampened


def _hold(
    holdings: dict[tuple[UUID | None, str | None, str | None], Holding], one: Delivery, state: State, held: Held, title: str
) -> Holding:
    key = (one.route.user_id, one.record.thread_kind, one.record.thread_id)
    if key in holdings:
        holdings[key].titles.append(title)
    else:
        holdings[key] = Holding(
            state.digest_id or uuid7(),
            state.digest_outbox_id or uuid7(),
            one.record.notification_id,
            one.route.route_id,
            [title],
            held.opens_at,
        )
    return holdings[key]


def _write(
    conn: Connection[Any],
    granted: list[tuple[Delivery, bytes | None]],
    holdings: list[Holding],
    dampened: Dampened,
    claimed: dict[UUID, tuple[Delivery, str]],
    lease_token: UUID,
) -> None:
    if granted:
        notification_email_log.reserve(conn, granted)
    if holdings:
        flow.hold(conn, holdings)
    decided = [*dampened.granted, *(one.outbox_id for one in dampened.refused if one.delay is None)]
    over = {
        claimed[outbox_id][0].record.notification_id: outbox_id
        for outbox_id in decided
        if claimed[outbox_id][0].record.audience_kind == "digest"
    }
    if over:
        for digest_id, payload in digests.close(conn, list(over)).items():
            if over[digest_id] in dampened.granted:  # with what this batch added to it
                dampened.granted[over[digest_id]] = payload
    if dampened.refused:
        settle(conn, dampened.refused, lease_token=lease_token)
    _tell_of_over_sending(conn, dampened)


def _tell_of_over_sending(conn: Connection[Any], dampened: Dampened) -> None:
    """One event per type and window, however many messages and addresses; which addresses is nobody's to read there."""
    of_type = {(one.work.tenant_id, one.record.notification_type): (one, guard) for one, guard in dampened.over_sent}
    for (tenant_id, name), (one, guard) in sorted(of_type.items(), key=lambda item: item[0]):
        admin_system_events.raise_once(
            conn,
            event_type="over_sending",
            severity="medium",
            subject=name,
            description=f"More {name} by {one.route.channel} were asked for to one address than its guard lets through",
            details={"channel": one.route.channel, "limit": guard.limit, "window_seconds": int(guard.window.total_seconds())},
            tenant_id=tenant_id,
        )


def _wanted(one: Delivery, limits: Limits) -> CountedDelivery:
    """With the day that the cap counts, the recipient's where they are, and the window that the guard counts."""
    guard = guard_of(one, limits.guard)
    window = guard.window if guard else None
    if one.wishes.frequency_cap is None:
        return CountedDelivery(one, None, None, window)
    start, end = quiet_hours.local_day(one.work.claimed_at, one.wishes.cap_timezone or "UTC")
    return CountedDelivery(one, start, end, window)
