"""Reserve: decide how much each person is told, before anything is sent to them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin import quiet_hours, settling
from tocsin.dampening import Granted, Held, Later, Ledger, Skipped, State
from tocsin.gate import Defer, End
from tocsin.ids import uuid7
from tocsin.store import digests, notification_email_log, routes
from tocsin.store.digests import Holding
from tocsin.store.outbox import Claimed, Due
from tocsin.store.routes import Settlement


@dataclass(frozen=True, slots=True)
class Reservation:
    """What may be sent (with the record's payload as it is now), what may not and is settled already, and new digests."""

    granted: dict[UUID, dict[str, Any]] = field(default_factory=dict)
    refused: list[Settlement] = field(default_factory=list)
    digests: list[tuple[timedelta, Due]] = field(default_factory=list)


def reserve(conn: Connection[Any], wanted: list[tuple[Claimed, str]], *, lease_token: UUID) -> Reservation:
    """Decide under the recipients' locks and write it down, in the caller's transaction. `wanted`: deliveries with their titles.

    What is in neither part of the answer is not under our lease any more."""
    claimed = {one.outbox_id: (one, title) for one, title in wanted}
    notification_email_log.lock_recipients(conn, {one.user_id for one, _ in wanted if one.user_id})
    states = notification_email_log.read_states(conn, [_with_day(one) for one, _ in wanted], lease_token=lease_token)
    ledger, reservation = Ledger(), Reservation()
    holdings: dict[tuple[UUID | None, str | None, str | None], Holding] = {}
    granted: list[Claimed] = []
    for state in states:
        one, title = claimed[state.outbox_id]
        match ledger.decide(one, state):
            case Granted():
                granted.append(one)
                reservation.granted[one.outbox_id] = state.payload
            case Skipped(reason, is_told):
                reservation.refused.append(settling.of_decision(one, End("skipped", reason, is_told=is_told)))
            case Later(reason, until):
                reservation.refused.append(settling.of_decision(one, Defer(reason, until)))
            case Held() as held:
                holding = _hold(holdings, one, state, held, title)
                told = End("skipped", f"dampened: told by digest {holding.digest_id}", is_told=True)
                reservation.refused.append(settling.of_decision(one, told))
                if held.opens_at:
                    digest = Due(holding.outbox_id, "email", one.tenant_id)
                    reservation.digests.append((held.opens_at - state.now, digest))
    _write(conn, granted, list(holdings.values()), reservation, claimed, lease_token)
    return reservation


def _hold(
    holdings: dict[tuple[UUID | None, str | None, str | None], Holding], one: Claimed, state: State, held: Held, title: str
) -> Holding:
    key = (one.user_id, one.thread_kind, one.thread_id)
    if key in holdings:
        holdings[key].titles.append(title)
    else:
        holdings[key] = Holding(
            state.digest_id or uuid7(),
            state.digest_outbox_id or uuid7(),
            one.notification_id,
            one.route_id or "",
            [title],
            held.opens_at,
        )
    return holdings[key]


def _write(
    conn: Connection[Any],
    granted: list[Claimed],
    holdings: list[Holding],
    reservation: Reservation,
    claimed: dict[UUID, tuple[Claimed, str]],
    lease_token: UUID,
) -> None:
    if granted:
        notification_email_log.reserve(conn, granted)
    if holdings:
        digests.hold(conn, holdings)
    decided = [*reservation.granted, *(one.outbox_id for one in reservation.refused if one.delay is None)]
    over = {
        claimed[outbox_id][0].notification_id: outbox_id
        for outbox_id in decided
        if claimed[outbox_id][0].audience_kind == "digest"
    }
    if over:
        for digest_id, payload in digests.close(conn, list(over)).items():
            if over[digest_id] in reservation.granted:  # with what this batch added to it
                reservation.granted[over[digest_id]] = payload
    if reservation.refused:
        routes.settle(conn, reservation.refused, lease_token=lease_token)


def _with_day(one: Claimed) -> tuple[Claimed, Any, Any]:
    """With the day that the cap counts: the recipient's, where they are."""
    if one.frequency_cap is None:
        return one, None, None
    return one, *quiet_hours.local_day(one.claimed_at, one.cap_timezone or "UTC")
