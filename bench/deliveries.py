"""Work for a worker: deliveries that are due, and a provider that accepts everything at once."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from bench.ground import Ground, accept_all, asked
from tocsin.audience.plan import plan
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message, Ways
from tocsin.delivery.deliver import Policy
from tocsin.outbox.dispatch import Worker
from tocsin.store import outbox, routes
from tocsin.store.rows import Claimed, Settlement

LEASE = timedelta(seconds=90)
SEND_CONCURRENCY = 16  # as in the template


class InstantProvider:
    provider = "ses"
    lane = "ses:email"

    def send(self, message: Message) -> Outcome:
        return Accepted("0102018f-bench-accepted-000000")


def worker(batch_size: int) -> Worker:
    provider = InstantProvider()
    ways = Ways({"email": provider}, provider)
    policy = Policy(timedelta(minutes=15), SEND_CONCURRENCY)
    return Worker(ways, LEASE, policy, remaining=lambda: timedelta(seconds=30), batch_size=batch_size)


def make_deliveries(ground: Ground, count: int) -> list[UUID]:
    """Accept and plan intents through the real use cases, and stop before delivering: returns what is due, oldest first."""
    with ground.connect("tocsin_app") as app, ground.connect("tocsin_worker") as conn:
        due: list[UUID] = []
        while len(due) < count:
            intents = [asked() for _ in range(min(500, count - len(due)))]
            accept_all(app, intents)
            accepted = [one.notification_id for one in intents]
            plans = conn.execute("SELECT id FROM outbox WHERE notification_id = ANY(%s)", [accepted]).fetchall()
            due += _planned(conn, [row[0] for row in plans])
    return due


def _planned(conn: Connection[Any], ids: list[UUID]) -> list[UUID]:
    token = uuid4()
    claimed = claim(conn, ids, token)
    return [one.id for one in plan(conn, claimed, lease_token=token).deliveries]


def claim(conn: Connection[Any], ids: list[UUID], token: UUID) -> list[Claimed]:
    return outbox.claim(conn, ids, lease_token=token, lease=LEASE, suspects=False, limit=len(ids)).fetchall()


def complete(conn: Connection[Any], claimed: list[Claimed], token: UUID) -> None:
    done = [Settlement(one.outbox_id, "published", provider="ses") for one in claimed]
    settled = routes.settle(conn, done, lease_token=token).fetchall()
    assert len(settled) == len(claimed)


def claim_and_complete(conn: Connection[Any], ids: list[UUID]) -> None:
    """The queue alone: lease the work and record it as done, with no attempt and no send in between."""
    token = uuid4()
    complete(conn, claim(conn, ids, token), token)
