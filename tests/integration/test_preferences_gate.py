"""What people want counts at the moment of sending: their switches, their quiet hours, and which obstacle is written down."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.content import add_suppression
from tests.crash.staging import plan_only
from tests.providers import add_provider, deliver_by
from tests.recipients import THREAD, end, forget_preference, now, prefer, route_of, send, set_clock, subjects
from tests.world import OTHER_TENANT, World
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ways import Message, Way, Ways

NOON = "2026-11-15T12:00:00+00:00"
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
SECOND = timedelta(seconds=1)


def try_again(world: World) -> None:
    """As if a nudge came early: whatever waits is due at once."""
    world.admin.execute("UPDATE outbox SET due_at = tocsin_now()")
    world.dispatch()


def test_who_has_said_nothing_hears_everything(world: World) -> None:
    world.add_device(world.add_user(phone="+14155550100"))

    world.accept(channels=["email", "sms", "push", "in_app"])
    world.dispatch()

    assert [(route["channel"], route["status"]) for route in world.routes()] == [
        ("email", "published"), ("in_app", "published"), ("push", "published"), ("sms", "published"),
    ]  # fmt: skip


@pytest.mark.parametrize("off", ["email", "sms", "push", "in_app"])
def test_a_channel_that_is_off_is_skipped_and_the_others_are_not(off: str, world: World) -> None:
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)
    prefer(world, alice, off, enabled=False)

    world.accept(channels=["email", "sms", "push", "in_app"])
    world.dispatch()

    ends = {route["channel"]: end(route) for route in world.routes()}
    assert ends.pop(off) == ("skipped", f"preference: {off} off")
    assert set(ends.values()) == {("published", "")}
    assert (world.email.calls, world.sms.calls, world.push.calls) == tuple(int(one != off) for one in ("email", "sms", "push"))
    assert len(world.inbox()) == (off != "in_app")


def test_a_wish_is_that_of_one_person_in_one_tenant(world: World) -> None:
    world.add_tenant()
    prefer(world, world.add_user(), enabled=False)
    world.add_user("bob")
    world.add_user(tenant=OTHER_TENANT)

    ends = [
        end(send(world)),
        end(send(world, audience={"kind": "users", "user_ids": ["bob"]})),
        end(send(world, tenant=OTHER_TENANT)),
        end(send(world, audience={"kind": "address", "email": "alice@example.com"})),
    ]

    assert ends == [("skipped", "preference: email off"), ("published", ""), ("published", ""), ("published", "")]


def test_the_rule_of_a_type_comes_before_that_of_the_channel_when_it_switches_on(world: World) -> None:
    alice = world.add_user()
    prefer(world, alice, enabled=False)
    prefer(world, alice, of_type="alarm")

    assert end(send(world, type="alarm")) == ("published", "")
    assert end(send(world, type="newsletter")) == ("skipped", "preference: email off")


def test_the_rule_of_a_type_comes_before_that_of_the_channel_when_it_switches_off(world: World) -> None:
    prefer(world, world.add_user(), of_type="newsletter", enabled=False)

    assert end(send(world, type="newsletter")) == ("skipped", "preference: email off")
    assert end(send(world, type="alarm")) == ("published", "")


@pytest.mark.parametrize("enabled", [True, False])
def test_a_rule_of_a_type_that_switches_nothing_leaves_the_channels_switch_in_force(enabled: bool, world: World) -> None:
    alice = world.add_user()
    prefer(world, alice, enabled=enabled)
    prefer(world, alice, of_type="alarm", enabled=None, frequency_cap=9)

    assert send(world, type="alarm")["status"] == ("published" if enabled else "skipped")


def test_quiet_hours_of_a_type_take_the_place_of_the_channels_with_their_own_time_zone(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    prefer(world, alice, quiet="11:00-13:00", timezone="UTC")
    prefer(world, alice, of_type="alarm", quiet="11:00-13:00", timezone="Asia/Tokyo")
    prefer(world, alice, of_type="report", quiet="20:00-22:00", timezone="Asia/Tokyo")
    prefer(world, alice, of_type="late", quiet="22:00-23:00")
    prefer(world, alice, of_type="early", quiet="09:00-10:00")

    assert [end(send(world, type=kind)) for kind in ("alarm", "late", "early")] == [("published", "")] * 3
    assert end(send(world, type="report")) == ("pending", "quiet_hours")
    assert end(send(world, type="newsletter")) == ("pending", "quiet_hours")


def test_a_rule_of_a_type_without_quiet_hours_leaves_those_of_the_channel_in_force(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    prefer(world, alice, quiet="11:00-13:00", timezone="Europe/Lisbon", frequency_cap=7)
    prefer(world, alice, of_type="alarm", frequency_cap=9, timezone="Asia/Tokyo")

    assert end(send(world, type="alarm")) == ("pending", "quiet_hours")


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_what_comes_in_quiet_hours_waits_for_their_end_at_no_cost_and_is_sent_then(channel: str, world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)
    prefer(world, alice, channel, quiet="22:00-07:00", timezone="Europe/Lisbon")
    box = {"email": world.email, "sms": world.sms, "push": world.push}[channel]

    route = send(world, channels=[channel])
    waits_until = route["next_attempt_at"]
    calls_at_night = box.calls
    set_clock(world, "2026-11-16T06:59:00+00:00")
    try_again(world)
    calls_before_seven = box.calls
    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()

    seven = datetime.fromisoformat("2026-11-16T07:00:00+00:00")
    assert end(route) == ("pending", "quiet_hours")
    assert seven <= waits_until <= seven + timedelta(minutes=1), "not all at the same moment, and none before"
    assert (calls_at_night, calls_before_seven, box.calls) == (0, 0, 1)
    sent = world.route()
    assert (sent["status"], sent["attempt_count"], sent["deferred_reason"]) == ("published", 1, "quiet_hours")
    assert world.count("attempts") == 1


@pytest.mark.parametrize(
    ("zone", "at", "quiet", "until"),
    [
        ("America/New_York", "2026-11-01T02:00:00+00:00", "22:00-01:30", "2026-11-01T06:30:00+00:00"),
        ("America/New_York", "2026-03-08T06:30:00+00:00", "02:30-05:00", "2026-03-08T09:00:00+00:00"),
        ("Africa/Cairo", "2026-04-23T21:00:00+00:00", "00:00-06:00", "2026-04-24T03:00:00+00:00"),
        ("Australia/Lord_Howe", "2026-04-04T10:00:00+00:00", "20:00-01:45", "2026-04-04T15:15:00+00:00"),
    ],
)
def test_a_clock_change_never_shortens_a_night(zone: str, at: str, quiet: str, until: str, world: World) -> None:
    set_clock(world, at)
    prefer(world, world.add_user(), quiet=quiet, timezone=zone)

    route = send(world)
    set_clock(world, datetime.fromisoformat(until) - SECOND)
    try_again(world)
    still = world.route()
    set_clock(world, datetime.fromisoformat(until) + timedelta(minutes=2))
    world.dispatch()

    assert end(route) == end(still) == ("pending", "quiet_hours")
    assert datetime.fromisoformat(until) <= route["next_attempt_at"] <= datetime.fromisoformat(until) + timedelta(minutes=1)
    assert world.route()["status"] == "published"


Change = Callable[[World, UUID], None]


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        (lambda world, alice: None, ("published", "")),
        (forget_preference, ("published", "")),
        (lambda world, alice: prefer(world, alice, enabled=False), ("skipped", "preference: email off")),
        (lambda world, alice: prefer(world, alice, quiet="22:00-09:00"), ("pending", "quiet_hours")),
        (lambda world, alice: prefer(world, alice, quiet="22:00-07:00", timezone="America/New_York"), ("pending", "quiet_hours")),
        (lambda world, alice: prefer(world, alice, of_type="order.shipped", enabled=False), ("skipped", "preference: email off")),
        (lambda world, alice: prefer(world, alice, frequency_cap=0), ("skipped", "frequency_cap: 0 a day")),
        (lambda world, alice: add_suppression(world), ("skipped", "suppressed: manual")),
    ],
    ids=["nothing", "forgotten", "off", "longer", "moved to New York", "type off", "capped", "suppressed"],
)
def test_what_is_wished_when_the_night_is_over_counts(change: Change, ends: tuple[str, str], world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    alice = world.add_user()
    prefer(world, alice, quiet="22:00-07:00")
    send(world)

    change(world, alice)
    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()

    assert end(world.route()) == ends


def test_who_moved_to_where_it_is_day_is_told_at_the_next_claim(world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    alice = world.add_user()
    prefer(world, alice, quiet="22:00-07:00")
    send(world)

    prefer(world, alice, quiet="22:00-07:00", timezone="Asia/Tokyo")
    try_again(world)

    assert end(world.route()) == ("published", "")


def test_a_retry_waits_for_the_morning_too(world: World) -> None:
    set_clock(world, "2026-11-15T21:58:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    world.email.answers.append(TRANSIENT)
    send(world)

    set_clock(world, "2026-11-15T22:00:30+00:00")
    world.dispatch()
    deferred = world.route()
    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()

    assert (end(deferred), deferred["attempt_count"]) == (("failed", "quiet_hours"), 1)
    assert (world.route()["status"], world.route()["attempt_count"]) == ("published", 2)


def test_what_expires_in_the_night_is_not_sent_in_the_morning(world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    send(world, expires_at="2026-11-16T03:00:00Z")

    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()

    assert (end(world.route()), world.email.calls) == (("skipped", "expired"), 0)


def test_what_is_critical_comes_at_night(world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")

    assert end(send(world, priority="critical")) == ("published", "")
    assert end(send(world, priority="high")) == ("pending", "quiet_hours")


@pytest.mark.parametrize(
    ("rule", "reason"), [({"enabled": False}, "preference: email off"), ({"frequency_cap": 1}, "frequency_cap: 1 a day")]
)
def test_what_is_critical_is_not_exempt_from_anything_else(rule: dict[str, Any], reason: str, world: World) -> None:
    set_clock(world, "2026-11-15T23:30:00+00:00")
    alice = world.add_user()
    send(world)
    prefer(world, alice, quiet="22:00-07:00", **rule)

    assert end(send(world, priority="critical")) == ("skipped", reason)


def test_what_is_critical_is_dampened_as_everything_is(world: World) -> None:
    world.add_user()

    ends = [end(send(world, priority="critical", thread=THREAD)) for _ in range(2)]

    assert ends[0] == ("published", "")
    assert ends[1][1].startswith("dampened: told by digest ")


class Watch:
    """A clock for one process, that goes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds

    def go_on(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    for module in ("tocsin.outbox.dispatch", "tocsin.outbox.worker", "tocsin.delivery.send"):
        monkeypatch.setattr(f"{module}.time", watch)
    return watch


def test_a_batch_so_slow_that_quiet_hours_begin_stops_there_and_the_rest_waits_for_morning(world: World, watch: Watch) -> None:
    set_clock(world, "2026-11-15T21:50:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    for _ in range(3):
        world.accept()
    plan_only(world)

    def slowly(message: Message) -> Outcome:
        watch.go_on(11)
        return Accepted("m")

    world.email.answers.append(slowly)
    set_clock(world, "2026-11-15T21:59:51+00:00")
    world.dispatch(concurrency=1)
    calls_in_the_evening = world.email.calls
    stopped = [route for route in world.routes() if route["status"] == "pending"]
    set_clock(world, "2026-11-15T22:00:10+00:00")
    world.dispatch()
    calls_at_night = world.email.calls
    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()

    assert (calls_in_the_evening, calls_at_night, world.email.calls) == (1, 1, 3)
    assert [end(route) for route in stopped] == [("pending", "quiet_hours")] * 2
    assert {route["status"] for route in world.routes()} == {"published"}
    outcomes = sorted(str(attempt["outcome"]) for attempt in world.attempts())
    assert outcomes == ["accepted"] * 3 + ["not_sent"] * 2
    assert {route["attempt_count"] for route in world.routes()} == {1}, "a send that was not made costs nothing"


def test_what_is_critical_goes_on_in_a_slow_batch(world: World, watch: Watch) -> None:
    set_clock(world, "2026-11-15T21:50:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    for _ in range(2):
        world.accept(priority="critical")
    plan_only(world)

    def slowly(message: Message) -> Outcome:
        watch.go_on(11)
        return Accepted("m")

    world.email.answers.append(slowly)
    set_clock(world, "2026-11-15T21:59:51+00:00")
    world.dispatch(concurrency=1)

    assert world.email.calls == 2


def test_time_that_passes_between_the_claim_and_the_gate_counts_as_well(world: World, watch: Watch) -> None:
    """Planning, or asking for a tenant's providers, may take seconds: the recipient's clock does not wait for them."""
    set_clock(world, "2026-11-15T21:50:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    world.accept()
    plan_only(world)

    class SlowWays(Ways):
        def prepare(self, conn: Connection[Any], tenant_ids: set[UUID]) -> None:
            watch.go_on(11)

    set_clock(world, "2026-11-15T21:59:51+00:00")
    deliver_by(world, SlowWays({"email": world.email}, Sandbox()))

    assert world.email.calls == 0, "it is past ten there"
    assert end(world.route()) == ("pending", "quiet_hours")


def _set(column: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        world.admin.execute(f"UPDATE records SET {column} = tocsin_now() WHERE payload_json ->> 'title' = 'The one'")

    return change


def _without_address(world: World) -> None:
    world.admin.execute(
        """
        UPDATE routes SET resolved_email = '' FROM records
        WHERE records.notification_id = routes.notification_id AND records.payload_json ->> 'title' = 'The one'
        """
    )


# In the order in which they are written down. What a preference says comes as its part of the rule, the rest is done.
OBSTACLES: list[tuple[str, Callable[[World], object] | dict[str, Any]]] = [
    ("cancelled", _set("cancelled_at")),
    ("expired", _set("expires_at")),
    ("suppressed: manual", add_suppression),
    ("no_address", _without_address),
    ("preference: email off", {"enabled": False}),
    ("quiet_hours", {"quiet": "11:00-13:00"}),
    ("frequency_cap: 1 a day", {"frequency_cap": 1}),
    ("dampened: told by digest", lambda world: None),  # the thread was told of a moment ago
    ("provider_rate_limit", lambda world: None),  # the bucket is empty
]


@pytest.mark.parametrize("first", range(len(OBSTACLES)), ids=[name for name, _ in OBSTACLES])
def test_with_every_obstacle_from_here_on_in_the_way_the_first_is_written_down(first: int, world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    is_dampened = first <= [name for name, _ in OBSTACLES].index("dampened: told by digest")
    send(world, thread=THREAD if is_dampened else {"kind": "pr", "id": "another"})
    config_id = add_provider(world, "ses", rate_limit=1).id
    world.admin.execute("UPDATE provider_configs SET tokens = 0, tokens_at = tocsin_now()")
    asked = world.accept(thread=THREAD, payload={"title": "The one"})
    plan_only(world)
    rule: dict[str, Any] = {}
    for _, obstacle in OBSTACLES[first:]:
        if isinstance(obstacle, dict):
            rule |= obstacle
        elif obstacle is not _without_address or OBSTACLES[first][1] is obstacle:  # else there were nothing to suppress
            obstacle(world)
    if rule:
        prefer(world, alice, **rule)
    ways = Ways({"email": world.email}, Sandbox())
    ways.default["email"] = [Way(world.email, config_id, rate_limit=1)]

    deliver_by(world, ways)

    assert route_of(world, asked.notification_id)["reason"].startswith(OBSTACLES[first][0])
    assert subjects(world) == ["Shipped"]


def test_what_is_held_back_takes_no_token_from_the_provider(world: World) -> None:
    """A storm for one recipient would else use up the rate of everybody."""
    world.add_user()
    world.add_user("bob")
    config_id = add_provider(world, "ses", rate_limit=3).id
    for _ in range(10):
        world.accept(thread=THREAD)
    world.accept(audience={"kind": "users", "user_ids": ["bob"]})
    ways = Ways({"email": world.email}, Sandbox())
    ways.default["email"] = [Way(world.email, config_id, rate_limit=3)]

    deliver_by(world, ways)

    assert sorted(message.email for message in world.email.accepted) == ["alice@example.com", "bob@example.com"]


def test_a_clock_set_by_a_test_is_the_databases(world: World) -> None:
    set_clock(world, NOON)

    assert abs(now(world) - datetime.fromisoformat(NOON)) < timedelta(seconds=30)
