"""Reserve: take each intent whose key is free, in one round trip; the users it gives are made known in the same transaction."""

from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

from psycopg import Connection, Cursor, Rollback, errors

from tocsin.foundation.database import tenant_attempt, tenant_round_trip
from tocsin.intake.admission import KeyInFlight, Sender, refusals
from tocsin.people import given_users
from tocsin.people.given_users import Patch, Said, Vanished
from tocsin.store import rate_limits, records
from tocsin.store.flow import accept_intents as statements
from tocsin.store.flow.accept_intents import Reserved

Row = dict[str, Any]  # an intent as the statement takes it
_MOST_RACES = 5
_MOST_ROUNDS = 20

Given = dict[str, Patch]  # users by their ids, with what is said of them


class Entangled(Exception):
    """So many intents of one batch need users whom only others give, which are refused, that it is not worth finding out. The
    producer gives each user in the intent that needs them."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """How intents came in: on whose behalf, by which request, and how long their keys are kept."""

    sender: Sender
    request_id: str
    trace_id: str
    window: timedelta


def reserve(conn: Connection[Any], rows: list[Row], arrival: Arrival, *, release: list[str] | None = None) -> list[Reserved]:
    """Take what is free and count it, after releasing keys whose reservations have run out."""
    with refusals("records"), tenant_round_trip(conn, arrival.sender.tenant_id):
        cursor = _taken(conn, rows, arrival, release, cost=len(rows))
    return cursor.fetchall()


def reserve_with_users(
    conn: Connection[Any], rows: list[Row], given: dict[int, Given], arrival: Arrival, *, release: list[str] | None = None
) -> list[Reserved]:
    """The same, and make the users known whom these rows (by `n`) give; all in one transaction.

    A row that is not taken makes nobody known. So when one turns out to be refused, or its key to be another's, all is undone
    and begun again without it: its refusal is known then. It counts all the same. A row whose key an earlier one has is not
    tried: whoever accepts looks what has become of that one, and tries again if nothing has."""
    refused = _repeating(rows)
    races = rounds = 0
    while races < _MOST_RACES:
        rounds += 1
        if rounds > _MOST_ROUNDS:
            raise Entangled
        left = [row for row in rows if row["n"] not in refused]
        if not left:
            return _counted(conn, refused, arrival)
        try:
            with refusals("records"), tenant_attempt(conn, arrival.sender.tenant_id):
                attempt = _attempt(conn, left, given, arrival, release, cost=len(rows))
                final = {one.n: one for one in attempt.undone if one.is_refused and not _lost(one, given)}
                if attempt.undone:
                    raise Rollback
        except (errors.UniqueViolation, Vanished):  # somebody else was quicker between our look and our write
            races += 1
            continue
        if not attempt.undone:
            return sorted([*attempt.reserved, *refused.values()], key=lambda one: one.n)
        refused |= final
        races += len(final) < len(attempt.undone)
    raise KeyInFlight


def _repeating(rows: list[Row]) -> dict[int, Reserved]:
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row["idempotency_key"], row["n"])
    return {row["n"]: _untaken(row["n"]) for row in rows if first[row["idempotency_key"]] != row["n"]}


def _lost(reserved: Reserved, given: dict[int, Given]) -> bool:
    """Whether users whom it gives itself were erased meanwhile."""
    return not given[reserved.n].keys().isdisjoint(reserved.unknown_user_ids or ())


def _counted(conn: Connection[Any], refused: dict[int, Reserved], arrival: Arrival) -> list[Reserved]:
    """What is refused counts as well."""
    sender = arrival.sender
    with refusals("records"), tenant_round_trip(conn, sender.tenant_id):
        counted = rate_limits.add(
            conn, sender.tenant_id, sender.rate_subject, "intents", count=len(refused), limit=sender.rate_limit
        )
    (used,) = counted.fetchall()
    return [replace(refused[n], rate_used=used[0]) for n in sorted(refused)]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What was taken; and the rows whose users must not be made known, because they were not."""

    reserved: list[Reserved]
    undone: list[Reserved]


def _attempt(
    conn: Connection[Any],
    rows: list[Row],
    given: dict[int, Given],
    arrival: Arrival,
    release: list[str] | None,
    *,
    cost: int,
) -> _Attempt:
    sender = arrival.sender
    assert sender.actor  # noqa: S101 - for the type checker: whoever may not manage users was refused before
    fresh = _fresh(conn, [row for row in rows if row["n"] in given], arrival, release)
    said: Said = {}
    for n in fresh:
        for name, patch in given[n].items():
            said.setdefault(name, []).append(patch)
    news = given_users.news(conn, sender.tenant_id, said)
    if clashes := given_users.taken(conn, sender.tenant_id, news) if news else {}:
        return _Attempt([], _clashing(fresh, given, said, clashes))
    changes = given_users.merge(conn, sender.tenant_id, news)
    if clashes := given_users.overfull(changes):
        return _Attempt([], _clashing(fresh, given, said, clashes))
    reserved = _taken(conn, rows, arrival, release, cost=cost).fetchall()
    undone = [one for one in reserved if one.n in fresh and one.accepted_at is None]
    if not undone:
        given_users.record(conn, sender.actor, changes)
    return _Attempt(reserved, undone)


def _fresh(conn: Connection[Any], rows: list[Row], arrival: Arrival, release: list[str] | None) -> list[int]:
    """Those whose keys nobody holds: what repeats an intent repeats nothing of its users."""
    sender = arrival.sender
    keys = [row["idempotency_key"] for row in rows]
    held = records.find_reservations(conn, tenant_id=sender.tenant_id, producer=sender.producer, keys=keys).fetchall()
    kept = {one.idempotency_key for one in held if not (one.is_expired and one.idempotency_key in (release or ()))}
    return [row["n"] for row in rows if row["idempotency_key"] not in kept]


def _clashing(fresh: list[int], given: dict[int, Given], said: Said, clashes: dict[str, str]) -> list[Reserved]:
    """The rows that want what cannot be had. Of attributes all have their share in it."""
    found: dict[int, tuple[str, str]] = {}
    for n in fresh:
        for name, patch in given[n].items():
            field = clashes.get(name)
            if field in patch and (field == "attributes" or patch[field] == given_users.last_said(said[name], field)):
                found.setdefault(n, (name, field))
    return [_untaken(n, clash) for n, clash in found.items()]


def _untaken(n: int, clash: tuple[str, str] | None = None) -> Reserved:
    nothing: dict[str, Any] = {each.name: None for each in fields(Reserved)}
    return Reserved(**nothing | {"n": n, "rate_used": 0, "says_nothing": False, "clash": clash})


def _taken(conn: Connection[Any], rows: list[Row], arrival: Arrival, release: list[str] | None, *, cost: int) -> Cursor[Reserved]:
    sender = arrival.sender
    if release:
        records.release_keys(conn, tenant_id=sender.tenant_id, producer=sender.producer, keys=release)
    return statements.reserve(
        conn,
        rows,
        tenant_id=sender.tenant_id,
        producer=sender.producer,
        mode=sender.mode,
        request_id=arrival.request_id,
        trace_id=arrival.trace_id,
        window=arrival.window,
        rate_subject=sender.rate_subject,
        rate_limit=sender.rate_limit,
        cost=cost,
    )
