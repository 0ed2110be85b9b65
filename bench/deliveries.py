"""Work for a worker: deliveries that are due, and a provider that accepts everything at once."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection, Cursor

from bench.ground import Ground, accept_all, asked
from tocsin.audience.plan import plan
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message, Ways
from tocsin.delivery.prepare import Policy
from tocsin.foundation.database import worker_round_trip
from tocsin.outbox.worker import Worker
from tocsin.store.flow import claim as flow
from tocsin.store.flow.settle import settle
from tocsin.store.rows import Delivery, Planning, Settlement, Work

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
    work = {one.id: one for one in _claim(conn, ids, token)}
    claimed = [Planning(work[one], record) for one, record in flow.load_plans(conn, ids, lease_token=token)]
    return [one.id for one in plan(conn, claimed, lease_token=token).deliveries]


def _claim(conn: Connection[Any], ids: list[UUID], token: UUID) -> Cursor[Work]:
    return flow.claim(conn, ids, lease_token=token, lease=LEASE, suspects=False, limit=len(ids))


def claim(conn: Connection[Any], ids: list[UUID], token: UUID) -> list[Delivery]:
    """With all that delivering needs, in one round trip."""
    with worker_round_trip(conn):
        leased, loaded = _claim(conn, ids, token), flow.load_deliveries(conn, ids, lease_token=token)
    work = {one.id: one for one in leased.fetchall()}
    return [Delivery(work[one[0]], *one[1:]) for one in loaded.fetchall()]


def complete(conn: Connection[Any], claimed: list[Delivery], token: UUID) -> None:
    done = [Settlement(one.work.id, "published", provider="ses") for one in claimed]
    settled = settle(conn, done, lease_token=token).fetchall()
    assert len(settled) == len(claimed)


def claim_and_complete(conn: Connection[Any], ids: list[UUID]) -> None:
    """The queue alone: lease the work and record it as done, with no attempt and no send in between."""
    token = uuid4()
    complete(conn, claim(conn, ids, token), token)
