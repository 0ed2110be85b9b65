"""Scenarios of many events for one person. Each raises AssertionError when a promise is broken: for its test, and a mutation."""

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import nullcontext, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection, OperationalError

from tests.crash.boundaries import _place
from tests.crash.desk import Crew, Pause
from tests.crash.staging import PAST_LEASE, PAST_WINDOW
from tests.crash.waiting import wait_until
from tests.recipients import comment, digests, fan_out, record, route_events
from tests.world import World
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message
from tocsin.outbox.dispatch import dispatch

EVENTS = 100
WORKERS = 8
PAST_DAMPENING = timedelta(minutes=10, seconds=1)
_HELD = re.compile(r"dampened: told by digest ([0-9a-f-]{36})")


class Watched(Connection[Any]):
    """A connection that tells of each exchange with Postgres while what is to be sent is reserved: before it, and after."""

    on_boundary: Callable[[str], None] | None = None
    pid = 0

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
        if self.on_boundary is None or not _is_reserving():
            return super().wait(gen, *args, **options)
        place = _place()
        self.on_boundary(f"before {place}")
        answer = super().wait(gen, *args, **options)
        self.on_boundary(f"after {place}")
        return answer


def eight_workers_tell_of_a_hundred_events_once(world: World) -> None:
    """Each records some of them, fans out what it finds and delivers what there is, all at the same moment."""
    world.add_user()
    route_events(world)
    crew, start = Crew(), threading.Barrier(WORKERS)

    def work(n: int) -> None:
        conn, door, policy = world.connect(), world.connect("tocsin_app"), world.worker_policy(batch_size=7)
        share = range(n, EVENTS, WORKERS)
        start.wait(30)
        for some in (share[:5], share[5:]):
            record(world, *[comment(m) for m in some], conn=door)
            fan_out(world, conn)
            ids = world.due()
            dispatch(conn, ids[n * 5 :] + ids[: n * 5], policy)

    for n in range(WORKERS):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    dispatch(world.worker, [*fan_out(world), *world.due()], world.worker_policy())

    assert len(world.email.accepted) == 1, "more than one email in the window"
    (digest,), (row,) = digests(world), world.inbox()
    assert (digest["payload_json"]["count"], digest["status"]) == (EVENTS - 1, "pending")
    assert (row["event_count"], row["unread"]) == (EVENTS, True)
    world.pass_time(PAST_DAMPENING)
    world.dispatch()
    world.dispatch()
    assert len(world.email.accepted) == 2, "one digest, once"
    assert world.email.accepted[1].content.title.startswith("99 more updates: ")
    assert world.email.accepted[1].content.text.partition("\n\n-- \n")[0].endswith("… and 79 more")
    assert_everything_was_told_once(world, EVENTS)


def eight_workers_share_a_storm_and_five_of_them_die(world: World) -> None:
    """Their connections break while they reserve, each at another boundary; when their leases are over, others go on."""
    world.add_user()
    route_events(world)
    record(world, *[comment(n) for n in range(EVENTS)])
    ids = fan_out(world)
    deaths: list[str] = []
    crew, start = Crew(), threading.Barrier(WORKERS)
    conns = [_dying(world, 3 * n + 2, deaths) if n < 5 else world.connect() for n in range(WORKERS)]

    def work(n: int) -> None:
        start.wait(30)
        with suppress(OperationalError) if n < 5 else nullcontext():
            dispatch(conns[n], ids[n::WORKERS], world.worker_policy(batch_size=4))

    for n in range(WORKERS):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    _bury_the_dead(world)
    told_at_once = len(world.email.accepted)
    drain(world)

    assert len(deaths) == 5
    assert told_at_once <= 1
    assert_everything_was_told_once(world, EVENTS, where=f"{deaths}")


def a_worker_that_dies_at_any_boundary_of_its_reservation_changes_no_count(world: World) -> None:
    """Each boundary has a person and a thread of its own; then one drain for all of them."""
    route_events(world)
    deaths: list[str] = []
    for n in range(1, 100):
        thread, person, died = {"kind": "pr", "id": f"t-{n}"}, f"person-{n}", list[str]()
        world.add_user(person)
        record(world, *[comment(m, thread=thread, mentions=(person,)) for m in range(6)])
        deliveries = fan_out(world)
        assert len(deliveries) == 6
        with suppress(OperationalError):
            dispatch(_dying(world, n, died), deliveries, world.worker_policy())
        _bury_the_dead(world)
        if not died:
            break
        deaths += died
    drain(world)

    assert len(deaths) > 8, f"too few boundaries to be true: {deaths}"
    for n, where in enumerate([*deaths, "none"], 1):
        assert_everything_was_told_once(world, 6, thread_id=f"t-{n}", where=f"boundary {n}: {where}")


def a_worker_waits_while_another_decides_about_the_same_person(world: World) -> None:
    """The lock: the first has read what the log says and written nothing yet when the second comes."""
    first, second = _two_deliveries(world)
    reading, crew = Pause(), Crew()
    slow, quick = _watched(world), world.connect()
    slow.on_boundary = lambda name: reading() if name.endswith("read_states") and name.startswith("after") else None

    crew.start(lambda: dispatch(slow, [first], world.worker_policy()))
    reading.wait_until_reached()
    late = crew.start(lambda: dispatch(quick, [second], world.worker_policy()))
    wait_until(lambda: not late.is_alive() or _waits_for_a_lock(world, quick))
    reading.end()
    crew.join()

    assert len(world.email.accepted) == 1, "both decided on the same state of the log"
    drain(world)
    assert_everything_was_told_once(world, 2)


def a_worker_does_not_wait_for_one_that_decides_about_somebody_else(world: World) -> None:
    route_events(world)
    for person in ("alice", "bob"):
        world.add_user(person)
        record(world, comment(1, mentions=(person,)))
    first, second = fan_out(world)
    reading, crew = Pause(), Crew()
    slow = _watched(world)
    slow.on_boundary = lambda name: reading() if name.endswith("read_states") and name.startswith("after") else None

    crew.start(lambda: dispatch(slow, [first], world.worker_policy()))
    reading.wait_until_reached()
    dispatch(world.connect(), [second], world.worker_policy())
    told_meanwhile = len(world.email.accepted)
    reading.end()
    crew.join()

    assert (told_meanwhile, len(world.email.accepted)) == (1, 2)


def what_is_being_sent_counts_already(world: World) -> None:
    """The log row first: while the provider thinks, another worker comes with news of the same thread."""
    first, second = _two_deliveries(world)
    rival = world.connect()

    def come_meanwhile(message: Message) -> Outcome:
        dispatch(rival, [second], world.worker_policy())
        return Accepted("m-1")

    world.email.answers.append(come_meanwhile)
    dispatch(world.worker, [first], world.worker_policy())

    assert len(world.email.accepted) == 1, "a second email went out while the first was under way"
    drain(world)
    assert_everything_was_told_once(world, 2)


SCENARIOS = [
    eight_workers_tell_of_a_hundred_events_once,
    eight_workers_share_a_storm_and_five_of_them_die,
    a_worker_that_dies_at_any_boundary_of_its_reservation_changes_no_count,
    a_worker_waits_while_another_decides_about_the_same_person,
    a_worker_does_not_wait_for_one_that_decides_about_somebody_else,
    what_is_being_sent_counts_already,
]


def assert_everything_was_told_once(world: World, events: int, *, thread_id: str = "7", where: str = "") -> None:
    """Each event by an email of its own or by one digest; each digest tells as many as it holds; the inbox has them all."""
    of_thread = "SELECT * FROM routes JOIN records USING (notification_id) WHERE channel = 'email' AND thread_id = %(id)s"
    rows = world.rows(of_thread, id=thread_id)
    sent = Counter(message.tags["tocsin_route"].split("_")[0] for message in world.email.accepted)
    titles = {message.tags["tocsin_route"].split("_")[0]: message.content.title for message in world.email.accepted}
    held: Counter[str] = Counter()
    told_itself = 0
    for row in rows:
        if row["audience_kind"] == "digest":
            continue
        if row["status"] == "published":
            told_itself += 1
            assert sent[str(row["notification_id"])] >= 1, f"{where}: published and not sent"
        else:
            match = _HELD.fullmatch(row["reason"])
            assert match, f"{where}: {row['status']} {row['reason']}"
            held[match[1]] += 1
    collected = {str(row["notification_id"]): row for row in rows if row["audience_kind"] == "digest"}
    assert told_itself + sum(held.values()) == events, f"{where}: {told_itself} told, {sum(held.values())} held"
    assert set(collected) == set(held), f"{where}: a digest without news, or news without a digest"
    for digest_id, count in held.items():
        assert collected[digest_id]["status"] == "published", f"{where}: digest {collected[digest_id]['reason']}"
        assert sent[digest_id] == 1, f"{where}: a digest went out {sent[digest_id]} times"
        assert titles[digest_id].startswith(f"{count} more update"), f"{where}: {count} held, and told: {titles[digest_id]}"
    inbox = [row["event_count"] for row in world.inbox() if row["thread_id"] == thread_id]
    assert inbox == [events], f"{where}: inbox {inbox}"
    assert world.due() == []


def drain(world: World) -> None:
    """Leases lapse, windows pass, and a healthy worker comes until nothing is left."""
    world.pass_time(PAST_LEASE)
    for _ in range(8):
        dispatch(world.worker, [*fan_out(world), *world.due()], world.worker_policy())
        if not world.due():
            return
        world.pass_time(PAST_WINDOW)
    raise AssertionError("something still waits")


def _two_deliveries(world: World) -> tuple[UUID, UUID]:
    """Two emails about one thread for one person, planned."""
    world.add_user()
    route_events(world)
    record(world, comment(1), comment(2))
    first, second = fan_out(world)
    return first, second


def _watched(world: World) -> Watched:
    conn = Watched.connect(world.dsn("tocsin_worker"), autocommit=True)
    conn.execute("SELECT set_config('tocsin.clock_offset', %s, false)", [str(world.now)])
    world.extra.append(conn)
    conn.pid = conn.info.backend_pid
    return conn


def _bury_the_dead(world: World) -> None:
    """A session outlives its client for a moment, with its transaction, and the fan-out does not read past that."""
    pids = [conn.pid for conn in world.extra if isinstance(conn, Watched) and conn.closed]
    wait_until(lambda: world.one("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%(pids)s)", pids=pids) == 0)


def _dying(world: World, at: int, died: list[str]) -> Watched:
    """A connection that breaks at that boundary, for both sides: the server undoes what was not committed."""
    conn, crossed = _watched(world), 0

    def cross(name: str) -> None:
        nonlocal crossed
        crossed += 1
        if crossed == at:
            died.append(name)
            conn.close()
            raise OperationalError(f"the connection broke {name}")

    conn.on_boundary = cross
    return conn


def _waits_for_a_lock(world: World, conn: psycopg.Connection[Any]) -> bool:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE pid = %(pid)s AND wait_event_type = 'Lock'"
    return bool(world.one(asked, pid=conn.info.backend_pid))


def _is_reserving() -> bool:
    """Whether the product is between the gate and the send: in delivery.open."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "open_all" and frame.f_globals.get("__name__") == "tocsin.delivery.open":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
