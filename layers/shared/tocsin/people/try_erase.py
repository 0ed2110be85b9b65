"""Try an erasure: what it would reach is counted, table by table, and nothing is changed, begun or written down."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.people import masking, users
from tocsin.people.masking import Identity
from tocsin.store.flow import count_erasure

MOST = 100_000  # of each kind that are counted
STRETCH = 10_000  # events that one statement looks at


@dataclass(frozen=True, slots=True)
class Reach:
    """How many rows of each table an erasure would delete or mask; of some of them there are at least so many."""

    counts: dict[str, int]
    cut: frozenset[str] = field(default_factory=frozenset)


def try_erase(conn: Connection[Any], tenant_id: UUID, external_id: str, *, has_time: Callable[[], bool]) -> Reach:
    """Raises UnknownUser."""
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        subject = Identity(user.id, external_id, user.email, user.phone, user.username)
        address = {"email": subject.email, "phone": subject.phone}
        pattern, likely = masking.in_json(subject), masking.likely(subject)
        counts = Counter(count_erasure.count_own(conn, tenant_id, user.id, most=MOST))
        counts.update(
            count_erasure.count_sent(
                conn, tenant_id, recipient=subject.recipient, external_id=external_id, pattern=pattern, most=MOST, **address
            )
        )
        counts.update(
            count_erasure.count_the_rest(
                conn,
                tenant_id,
                user.id,
                recipient=subject.recipient,
                likely=likely,
                pattern=pattern,
                words=masking.in_words(subject),
                keys=masking.in_keys(subject),
                **address,
            )
        )
    cut = {table for table, count in counts.items() if count >= MOST}
    if counts["routes"] >= MOST:
        cut |= {"records", "attempts", "dead_letters", "provider_events", "webhook_deliveries"}
    after: int | None = 0
    while after is not None and has_time():
        with tenant_transaction(conn, tenant_id):
            found, after = count_erasure.count_events(conn, tenant_id, likely=likely, pattern=pattern, after=after, size=STRETCH)
        counts["domain_events"] += found
    if after is not None:
        cut.add("domain_events")
    return Reach({table: counts[table] for table in counts.keys() | cut if counts[table] or table in cut}, frozenset(cut))
