"""Check the audit log: walk every tenant's chain once a day, a stretch at a time, and raise the alarm where one is broken."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access import verify_audit
from tocsin.access.verify_audit import Broken, ChainPlace, Verification
from tocsin.foundation.database import worker_transaction
from tocsin.store import admin_system_events, audit_heads
from tocsin.store.audit_heads import UncheckedChain

JOB = "audit_check"
BROKEN = "audit_chain_broken"
EVERY = timedelta(days=1)
_CHAINS = 100

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Checked:
    chains: int
    rows: int
    broken: int
    is_complete: bool

    def report(self) -> dict[str, Any]:
        return {"chains": self.chains, "rows": self.rows, "broken": self.broken}


def check(conn: Connection[Any], *, has_time: Callable[[], bool], page: int = verify_audit.PAGE) -> Checked:
    """What is left when the time is up, the next run goes on with: each stretch notes how far it came.

    The head of a chain that holds goes to the log: a place outside the database, with which a chain that was rewritten from its
    beginning to its end can be told from the one that was written."""
    chains = rows = 0
    broken = _alarm_of_lost_ends(conn)
    while due := audit_heads.find_due(conn, every=EVERY, limit=_CHAINS):
        for chain in due:
            place = ChainPlace(chain.checked_seq, chain.checked_hash)
            while True:
                if not has_time():
                    return Checked(chains, rows, broken, is_complete=False)
                verdict = _stretch(conn, chain, place, page)
                rows += verdict.checked
                if verdict.next is None:
                    break
                place = verdict.next
            chains, broken = chains + 1, broken + (verdict.broken is not None)
    return Checked(chains, rows, broken, is_complete=True)


def _stretch(conn: Connection[Any], chain: UncheckedChain, place: ChainPlace, page: int) -> Verification:
    with worker_transaction(conn):
        verdict = verify_audit.verify_within(conn, chain.tenant_id, after=place, limit=page)
        if verdict.next:
            audit_heads.note_place(conn, chain.tenant_id, seq=verdict.next.seq, row_hash=verdict.next.hash)
        else:
            audit_heads.note_end(conn, chain.tenant_id)
        if verdict.broken:
            _alarm(conn, chain.tenant_id, verdict.broken)
    if verdict.broken:
        log.error("an audit log is not what was written", extra=_told(chain.tenant_id, verdict.broken))
    elif verdict.next is None:
        head = {"seq": verdict.head.seq, "hash": verdict.head.hash.hex()}
        log.info("an audit log holds", extra={"tenant_id": str(chain.tenant_id), "head": head})
    return verdict


def _alarm_of_lost_ends(conn: Connection[Any]) -> int:
    with worker_transaction(conn):
        lost = audit_heads.find_lost(conn)
        for tenant_id in lost:
            _alarm(conn, tenant_id, Broken(None, None, "head", "The note of the chain's end is gone."))
    return len(lost)


def _alarm(conn: Connection[Any], tenant_id: UUID, broken: Broken) -> None:
    """It stays until somebody resolves it, also when retention has forgotten the row."""
    admin_system_events.raise_once(
        conn,
        event_type=BROKEN,
        severity="critical",
        subject="audit_log",
        description=f"The audit log is not what was written. {broken.detail}",
        details={"seq": broken.seq, "id": str(broken.id) if broken.id else None, "problem": broken.problem},
        tenant_id=tenant_id,
    )


def _told(tenant_id: UUID, broken: Broken) -> dict[str, Any]:
    return {"tenant_id": str(tenant_id), "seq": broken.seq, "problem": broken.problem}
