"""The badge is exact: however many read, hide, put off and nudge at once, it is what a recount of the rows says."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from psycopg import Connection, errors

from tests.events import fan_out_all, route, told, try_record
from tests.world import TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.outbox.dispatch import dispatch
from tocsin.store import inbox_visits, notification_reads, notifications
from tocsin.store.notifications import COUNT_CAP, Change

THREADS = 25  # of conversations, not of workers
ROUNDS = 4
STEPS = 15
Result = TypeVar("Result")

# Row by row, from what the columns mean; nothing is put off but for hours, so no row changes by itself meanwhile.
RECOUNT = """
    SELECT count(*)
    FROM notifications AS row
    LEFT JOIN notification_reads AS mine ON mine.notification_id = row.id AND mine.user_id = %(user_id)s
    WHERE row.tenant_id = %(tenant_id)s AND (row.user_id = %(user_id)s OR row.user_id IS NULL)
      AND row.unread AND row.deleted_at IS NULL AND row.done_at IS NULL AND row.shown_at <= tocsin_now()
      AND NOT COALESCE(mine.read_at >= row.last_event_at, false) AND NOT COALESCE(mine.hidden_at >= row.last_event_at, false)
      AND NOT COALESCE(mine.done_at >= row.last_event_at, false)
"""


def _count(conn: Connection[Any], user_id: UUID) -> int:
    row = notifications.count_unread(conn, TENANT, user_id).fetchone()
    assert row is not None
    return row[0]


def _recount(conn: Connection[Any], user_id: UUID) -> int:
    row = conn.execute(RECOUNT, {"tenant_id": TENANT, "user_id": user_id}).fetchone()
    assert row is not None
    count: int = row[0]
    return count


def _both(conn: Connection[Any], user_id: UUID) -> tuple[int, int]:
    """The badge and a recount of the very same moment."""
    conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    conn.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    pair = _count(conn, user_id), _recount(conn, user_id)
    conn.execute("COMMIT")
    return pair


def _insist(work: Callable[[], Result]) -> Result:
    """As database.run does: who loses a deadlock tries again."""
    while True:
        try:
            return work()
        except errors.DeadlockDetected:
            continue


class Crowd:
    """Two people, their browsers, and everything that writes into their inboxes at once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.people = [world.add_user(name) for name in ("alice", "bob")]
        self.planner, self.teller = world.connect("tocsin_app"), world.connect("tocsin_app")
        route(world)

    def _change(self, conn: Connection[Any], user_id: UUID, dice: random.Random) -> None:
        rows = conn.execute(
            "SELECT id, user_id FROM notifications WHERE user_id = %s OR user_id IS NULL ORDER BY id", [user_id]
        ).fetchall()
        if not rows:
            return
        row_id, owner = dice.choice(rows)
        later = datetime.now(UTC) + timedelta(hours=dice.randint(1, 9))
        changes = [Change(read=True), Change(read=False), Change(done=True), Change(done=False), Change(hide=True)]
        if owner is not None:
            changes += [Change(snooze=True, snoozed_until=later), Change(snooze=True)]
        change = notifications.change_own if owner else notification_reads.change
        change(conn, TENANT, user_id, row_id, dice.choice(changes))

    def browse(self, conn: Connection[Any], dice: random.Random) -> None:
        user_id = dice.choice(self.people)

        def change() -> None:
            with tenant_transaction(conn, TENANT):
                self._change(conn, user_id, dice)

        _insist(change)

    def read_all(self, conn: Connection[Any], dice: random.Random) -> None:
        user_id = dice.choice(self.people)

        def read() -> None:
            with tenant_transaction(conn, TENANT):
                notifications.read_own(conn, TENANT, user_id, before=None, limit=5)
                notification_reads.read_all(conn, TENANT, user_id, before=None, limit=2)

        _insist(read)

    def plan(self, conn: Connection[Any], dice: random.Random) -> None:
        audience: dict[str, Any] = dice.choice([{"kind": "tenant"}, {"kind": "users", "user_ids": ["alice", "bob"]}])
        about: dict[str, Any] = {"thread": {"kind": "issue", "id": str(dice.randint(1, THREADS))}} if dice.random() < 0.8 else {}
        asked = self.world.asked(channels=["in_app"], audience=audience, **about)
        self.world.try_accept(asked, conn=self.planner)
        _insist(lambda: dispatch(conn, [asked.notification_id], self.world.worker_policy()))

    def tell(self, conn: Connection[Any], dice: random.Random) -> None:
        thread = {"kind": "issue", "id": str(dice.randint(1, THREADS))}
        try_record(self.world, told(thread=thread, mentions=["alice", "bob"]), conn=self.teller)
        _insist(lambda: fan_out_all(self.world, conn))


def test_the_badge_is_what_a_recount_says_at_every_moment_of_a_busy_day(world: World) -> None:
    crowd = Crowd(world)
    work = [
        ("tocsin_app", crowd.browse),
        ("tocsin_app", crowd.browse),
        ("tocsin_app", crowd.browse),
        ("tocsin_app", crowd.read_all),
        ("tocsin_worker", crowd.plan),
        ("tocsin_worker", crowd.tell),
    ]
    barrier = threading.Barrier(len(work) + 1, timeout=60)
    pauses: list[tuple[int, int]] = []
    meanwhile: list[tuple[int, int]] = []
    is_over = threading.Event()

    def labour(n: int) -> None:
        role, do = work[n]
        conn, dice = world.connect(role), random.Random(n)  # noqa: S311 - dice
        try:
            for _ in range(ROUNDS):
                for _ in range(STEPS):
                    do(conn, dice)
                barrier.wait()  # everyone pauses
                barrier.wait()  # and goes on
        except Exception:
            barrier.abort()
            raise

    def watch() -> None:
        conn = world.connect("tocsin_app")
        while not is_over.is_set():
            meanwhile.extend(_both(conn, user_id) for user_id in crowd.people)

    with ThreadPoolExecutor(len(work) + 1) as pool:
        watching = pool.submit(watch)
        labours = [pool.submit(labour, n) for n in range(len(work))]
        try:
            for _ in range(ROUNDS):
                barrier.wait()
                pauses.extend(_both(world.app, user_id) for user_id in crowd.people)
                barrier.wait()
        except threading.BrokenBarrierError:
            pass  # whoever failed says why below
        finally:
            is_over.set()
        for one in [*labours, watching]:
            one.result()

    assert [badge for badge, _ in pauses] == [recount for _, recount in pauses]
    assert [badge for badge, _ in meanwhile] == [recount for _, recount in meanwhile]
    assert len(pauses) == ROUNDS * 2
    assert max(badge for badge, _ in pauses) > 0
    assert len({badge for badge, _ in meanwhile}) > 5


@pytest.mark.parametrize(("own", "shared"), [(COUNT_CAP - 1, 0), (COUNT_CAP, 0), (COUNT_CAP + 1, 0), (990, 20), (5, 1_200)])
def test_it_counts_to_a_thousand_and_no_further(world: World, own: int, shared: int) -> None:
    alice = world.add_user("alice")
    for owner, count in ((alice, own), (None, shared)):
        _add_rows(world, owner, count)

    badge, recount = _both(world.app, alice)

    assert (badge, recount) == (min(own + shared, COUNT_CAP), own + shared)


@pytest.mark.parametrize(("own", "shared"), [(COUNT_CAP + 100, 3), (3, COUNT_CAP + 100)])
def test_what_is_unseen_is_counted_however_much_is_seen_and_unread(world: World, own: int, shared: int) -> None:
    alice = world.add_user("alice")
    for owner, count in ((alice, own), (None, shared)):
        _add_rows(world, owner, count, age=timedelta(hours=2))
    with tenant_transaction(world.app, TENANT):
        inbox_visits.upsert(world.app, TENANT, alice, before=None)
    for owner in (alice, None):
        _add_rows(world, owner, 4)

    with tenant_transaction(world.app, TENANT):
        badge = notifications.count_unread(world.app, TENANT, alice).fetchone()

    assert badge == (COUNT_CAP, 8)


def _add_rows(world: World, owner: UUID | None, count: int, age: timedelta = timedelta(0)) -> None:
    world.admin.execute(
        """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, title, message, last_event_at, shown_at,
                                      created_at, updated_at)
           SELECT tocsin_uuid7(), %(tenant)s, %(owner)s, 'k', 'intent', 't', '', at, at, at, at
           FROM generate_series(1, %(count)s) CROSS JOIN LATERAL (SELECT tocsin_now() - %(age)s) AS row (at)""",
        {"tenant": TENANT, "owner": owner, "count": count, "age": age},
    )
