"""Verify the audit log: walk a tenant's chain of rows, and name the first that is not as it was written."""

import hmac
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.store import audit_logs
from tocsin.store.audit_logs import Walk

PAGE = 5_000  # rows, some 200 ms


@dataclass(frozen=True, slots=True)
class ChainPlace:
    """A row of the chain by its number and hash; whoever keeps one elsewhere finds out when what led to it was rewritten."""

    seq: int
    hash: bytes


BEGINNING = ChainPlace(0, bytes(32))


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is wrong, and how: `altered`, `missing`, `reordered` (it does not follow the row before it), `unchained`
    (added past the chain), or `head` (the note of the chain's end is wrong). `id` is None for a row that is not there."""

    seq: int | None
    id: UUID | None
    problem: str
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found on a stretch of the chain; `next` is where the following one begins, None at the end or at a break."""

    checked: int
    broken: Broken | None
    first_seq: int
    head: ChainPlace
    next: ChainPlace | None


def verify(
    conn: Connection[Any], tenant_id: UUID, *, after: ChainPlace = BEGINNING, limit: int = PAGE, known: ChainPlace | None = None
) -> Verification:
    with tenant_transaction(conn, tenant_id):
        return verify_within(conn, tenant_id, after=after, limit=limit, known=known)


def verify_within(
    conn: Connection[Any], tenant_id: UUID, *, after: ChainPlace = BEGINNING, limit: int = PAGE, known: ChainPlace | None = None
) -> Verification:
    """The same in the caller's transaction. `known` is a place that somebody kept: the chain must still go through it."""
    walk = audit_logs.walk(conn, tenant_id, after_seq=after.seq, after_hash=after.hash, limit=limit)
    is_end = walk.checked < limit
    broken = _unlike(conn, tenant_id, walk, known) or _broken(walk) or (_wrong_end(walk) if is_end else None)
    following = None if broken or is_end else ChainPlace(walk.last_seq, walk.last_hash)
    return Verification(walk.checked, broken, walk.forgotten_seq + 1, ChainPlace(walk.head_seq, walk.head_hash), following)


def shown(verdict: Verification) -> dict[str, Any]:
    """As it is told, by HTTP and by the command line."""
    broken, following = verdict.broken, verdict.next
    row_id = str(broken.id) if broken and broken.id else None
    return {
        "holds": broken is None,
        "broken": {"seq": broken.seq, "id": row_id, "problem": broken.problem, "detail": broken.detail} if broken else None,
        "checked": verdict.checked,
        "first_seq": verdict.first_seq,
        "head": {"seq": verdict.head.seq, "hash": verdict.head.hash.hex()},
        "next_cursor": f"{following.seq}:{following.hash.hex()}" if following else None,
    }


def _broken(walk: Walk) -> Broken | None:
    if walk.unchained_id is not None:
        return Broken(None, walk.unchained_id, "unchained", "It was added past the chain.")
    match walk.problem:
        case "missing":
            return _missing(walk.expected_seq or 0, (walk.broken_seq or 0) - 1)
        case "altered":
            return Broken(walk.broken_seq, walk.broken_id, "altered", "It is not what was written.")
        case "reordered":
            detail = "It does not follow the row before it: rows were moved, or removed and counted anew."
            return Broken(walk.broken_seq, walk.broken_id, "reordered", detail)
        case _:
            return None


def _wrong_end(walk: Walk) -> Broken | None:
    if walk.last_seq < walk.head_seq:
        return _missing(walk.last_seq + 1, walk.head_seq)
    if walk.last_seq > walk.head_seq or not hmac.compare_digest(walk.last_hash, walk.head_hash):
        return Broken(walk.last_seq, None, "head", "The chain's end was noted as another row than the last one.")
    return None


def _unlike(conn: Connection[Any], tenant_id: UUID, walk: Walk, known: ChainPlace | None) -> Broken | None:
    if known is None or known.seq < walk.forgotten_seq:
        return None  # what was forgotten cannot be compared
    is_forgotten = known.seq == walk.forgotten_seq
    found = walk.forgotten_hash if is_forgotten else audit_logs.hash_at(conn, tenant_id, known.seq)
    if found is None:
        return _missing(known.seq, known.seq)
    if not hmac.compare_digest(found, known.hash):
        return Broken(known.seq, None, "altered", "It has another hash than the one you know.")
    return None


def _missing(first: int, last: int) -> Broken:
    return Broken(
        first, None, "missing", f"Row {first} is not there." if first == last else f"Rows {first} to {last} are not there."
    )
