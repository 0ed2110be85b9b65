"""The over-sending guard: so many messages of a type to one address in a window, and the rest are skipped and say why."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from psycopg import sql

from tests.cancelling import cancel
from tests.content import add_type
from tests.crash.desk import Crew
from tests.crash.staging import plan_only
from tests.functions.doors import Api
from tests.recipients import THREAD, end, route_of, send
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.delivery.dampener import Limits
from tocsin.delivery.over_sending import Guard
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.sweep import sweep

ADDRESS = "mallory-was-here@example.com"
BARE: dict[str, Any] = {"audience": {"kind": "address", "email": ADDRESS}}
RESET = "auth.password-reset"
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
SENT = ("published", "")
SKIPPED = ("skipped", "over_sending: 5 in 3600 s")


def guarded(limit: int, seconds: int = 3600) -> dict[str, int]:
    return {"over_sending_limit": limit, "over_sending_window_seconds": seconds}


def refused(limit: int, seconds: int = 3600) -> tuple[str, str]:
    return "skipped", f"over_sending: {limit} in {seconds} s"


def reset(world: World, **intent: Any) -> tuple[str, str]:
    """Ask for one password reset, by default to the bare address, and say how it ends."""
    return end(send(world, **(BARE | {"type": RESET} | intent)))


def test_of_thirty_password_resets_to_one_address_five_are_sent_though_nobody_configured_anything(world: World) -> None:
    ends = [reset(world) for _ in range(30)]

    assert ends == [SENT] * 5 + [SKIPPED] * 25
    assert (world.email.calls, world.count("attempts"), world.count("outbox"), world.count("dead_letters")) == (5, 5, 0, 0)


def test_it_is_the_same_when_they_all_come_at_once(world: World) -> None:
    world.try_accept(*[world.asked(type=RESET, **BARE) for _ in range(30)])

    world.dispatch()

    assert Counter(end(route) for route in world.routes()) == {SENT: 5, SKIPPED: 25}
    assert world.email.calls == 5


@pytest.mark.parametrize("channel", ["email", "sms"])
def test_eight_workers_with_thirty_messages_send_exactly_five(channel: str, world: World) -> None:
    address = {"kind": "address", "email": ADDRESS, "phone": "+14155550100"}
    world.try_accept(*[world.asked(type=RESET, audience=address, channels=[channel]) for _ in range(30)])
    plan_only(world)
    ids, crew, start = world.due(), Crew(), Barrier(8)

    def work(n: int) -> None:
        conn = world.connect()
        start.wait(30)
        dispatch(conn, ids[n * 4 :] + ids[: n * 4], world.worker_policy(batch_size=3))

    for n in range(8):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    world.dispatch()

    assert Counter(end(route) for route in world.routes()) == {SENT: 5, SKIPPED: 25}
    assert {"email": world.email, "sms": world.sms}[channel].calls == 5
    assert [event["event_type"] for event in world.system_events()] == ["over_sending"]


def test_workers_with_several_addresses_and_people_in_any_order_do_not_wait_for_each_other_in_a_ring(world: World) -> None:
    for name in ("alice", "bob"):
        world.add_user(name)
    audiences: list[dict[str, Any]] = [{"kind": "users", "user_ids": [name]} for name in ("alice", "bob")]
    audiences += [{"kind": "address", "email": f"{name}@example.com"} for name in ("alice", "bob", "carol")]
    world.try_accept(*[world.asked(type=RESET, audience=one) for one in audiences for _ in range(6)])
    plan_only(world)
    ids, crew, start = world.due(), Crew(), Barrier(6)

    def work(n: int) -> None:
        conn = world.connect()
        start.wait(30)
        dispatch(conn, ids[n * 5 :] + ids[: n * 5], world.worker_policy(batch_size=7))

    for n in range(6):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    world.dispatch()

    sent = Counter(message.email for message in world.email.accepted)
    assert sent == {"alice@example.com": 5, "bob@example.com": 5, "carol@example.com": 5}
    assert world.count("outbox") == 0


def test_a_bare_address_and_the_user_who_has_it_share_the_count_however_it_is_spelt(world: World) -> None:
    world.add_user()
    spellings = ["alice@example.com", "Alice@Example.com", "ALICE@EXAMPLE.COM"]

    ends = [reset(world, audience={"kind": "address", "email": one}) for one in spellings]
    ends += [reset(world, audience={"kind": "users", "user_ids": ["alice"]}) for _ in range(3)]

    assert ends == [SENT] * 5 + [SKIPPED]


def test_other_addresses_types_channels_and_tenants_are_not_concerned(world: World) -> None:
    world.add_tenant()
    for _ in range(6):
        reset(world)
    by_phone = {"kind": "address", "email": ADDRESS, "phone": "+14155550100"}

    ends = [
        reset(world, audience={"kind": "address", "email": "bob@example.com"}),
        reset(world, type="auth.verification-email"),
        reset(world, type="order.shipped"),
        reset(world, audience=by_phone, channels=["sms"]),
        reset(world, tenant=OTHER_TENANT),
    ]

    assert ends == [SENT] * 5
    assert reset(world) == SKIPPED


def test_a_type_has_a_guard_of_its_own(world: World) -> None:
    add_type(world, "invitation", **guarded(2, 120))
    add_type(world, RESET, **guarded(1, 600))

    invitations = [reset(world, type="invitation") for _ in range(3)]

    assert invitations == [SENT, SENT, refused(2, 120)]
    assert [reset(world), reset(world)] == [SENT, refused(1, 600)]


def test_a_type_that_says_nothing_and_proves_nothing_is_not_guarded_and_not_logged(world: World) -> None:
    ends = [reset(world, type="order.shipped") for _ in range(7)]

    assert ends == [SENT] * 7
    assert world.count("notification_email_log") == 0


def test_the_installation_says_how_many_where_no_type_does(world: World) -> None:
    worker = world.worker_policy()
    strict = replace(worker, policy=replace(worker.policy, limits=Limits(guard=Guard(2, 2 * MINUTE))))
    world.try_accept(*[world.asked(type=RESET, **BARE) for _ in range(3)])

    dispatch(world.worker, world.due(), strict)

    assert Counter(end(route) for route in world.routes()) == {SENT: 2, refused(2, 120): 1}


def test_the_window_rolls(world: World) -> None:
    """Not so many in an hour of the clock: so many in any hour, so each place is free an hour after it was taken."""
    ends = []
    for _ in range(5):
        ends.append(reset(world))
        world.pass_time(10 * MINUTE)

    world.pass_time(9 * MINUTE)
    too_soon = reset(world)
    world.pass_time(2 * MINUTE)
    one_more = [reset(world), reset(world)]
    world.pass_time(HOUR)

    assert (ends, too_soon, one_more) == ([SENT] * 5, SKIPPED, [SENT, SKIPPED])
    assert [reset(world) for _ in range(6)] == [SENT] * 5 + [SKIPPED]


def test_what_is_critical_does_not_pass(world: World) -> None:
    assert [reset(world, priority="critical") for _ in range(6)][-1] == SKIPPED


def test_the_sandbox_neither_counts_nor_is_counted(world: World) -> None:
    ends = [reset(world, mode=mode) for mode in ["test"] * 6 + ["live"] * 5 + ["test"]]

    assert ends == [SENT] * 12
    assert (reset(world), world.count("notification_email_log")) == (SKIPPED, 5)


def test_a_place_is_taken_before_the_message_is_sent(world: World) -> None:
    add_type(world, RESET, **guarded(1))
    rival = world.connect()
    ends: list[tuple[str, str]] = []

    def come_meanwhile(message: object) -> Accepted:
        asked = world.accept(type=RESET, **BARE)
        dispatch(rival, [asked.notification_id], world.worker_policy())
        ends.append(end(route_of(world, asked.notification_id)))
        return Accepted("m")

    world.email.answers.append(come_meanwhile)

    assert (reset(world), ends) == (SENT, [refused(1)])


def test_a_retry_finds_its_own_place_and_does_not_count_twice(world: World) -> None:
    add_type(world, RESET, **guarded(2))
    world.email.answers.extend([TRANSIENT, TRANSIENT])

    first = reset(world, retry={"base_ms": 900_000})
    second = reset(world)
    for _ in range(4):
        world.pass_time(20 * MINUTE)  # past the dampener's window, which is not the guard's
        world.dispatch()

    assert (first, second) == (("failed", "retry"), ("failed", "retry"))
    assert {end(route) for route in world.routes()} == {SENT}
    assert (world.email.calls, len(world.email.accepted)) == (4, 2)


def test_while_it_waits_for_its_retry_its_place_is_taken(world: World) -> None:
    add_type(world, RESET, **guarded(1))
    world.email.answers.append(TRANSIENT)

    assert [reset(world), reset(world)] == [("failed", "retry"), refused(1)]


def test_a_retry_that_comes_after_its_window_asks_for_a_place_again(world: World) -> None:
    """Others were sent since: so many in any window, retries included."""
    add_type(world, RESET, **guarded(1, 60))
    world.email.answers.append(TRANSIENT)
    first = world.accept(type=RESET, retry={"base_ms": 300_000}, **BARE)
    world.dispatch()
    world.pass_time(7 * MINUTE)
    between = world.accept(type=RESET, **BARE)
    dispatch(world.worker, [between.notification_id], world.worker_policy())

    world.dispatch()

    assert end(route_of(world, between.notification_id)) == SENT
    assert end(route_of(world, first.notification_id)) == refused(1, 60)


@pytest.mark.parametrize("given_up", ["dead", "cancelled"])
def test_what_was_given_up_gives_its_place_back(given_up: str, world: World) -> None:
    add_type(world, RESET, **guarded(1))
    world.email.answers.append(PERMANENT if given_up == "dead" else TRANSIENT)
    asked = world.accept(type=RESET, **BARE)
    world.dispatch()
    if given_up == "cancelled":
        cancel(world.app, TENANT, asked.notification_id)

    assert [reset(world), reset(world)] == [SENT, refused(1)]


def test_what_is_skipped_takes_no_place(world: World) -> None:
    add_type(world, RESET, **guarded(1))
    reset(world)
    for _ in range(5):
        world.pass_time(10 * MINUTE)
        reset(world)

    world.pass_time(11 * MINUTE)

    assert reset(world) == SENT


def test_a_person_with_a_guarded_address_is_dampened_as_before(world: World) -> None:
    world.add_user()
    to_alice: dict[str, Any] = {"audience": {"kind": "users", "user_ids": ["alice"]}, "thread": THREAD}

    ends = [reset(world, **to_alice)[0] for _ in range(3)]

    assert ends == ["published", "skipped", "skipped"]
    reasons = {route["reason"].partition(":")[0] for route in world.routes() if route["status"] == "skipped"}
    assert reasons == {"dampened"}


def test_only_the_hash_of_the_address_is_kept_to_count_it(world: World) -> None:
    reset(world)

    (row,) = world.rows("SELECT * FROM notification_email_log")
    hashed = world.one("SELECT tocsin_address_hash(%(tenant)s, 'email', %(address)s)", tenant=TENANT, address=ADDRESS)

    assert (row["recipient_user_id"], row["address_hash"]) == (None, hashed)
    for table in ("notification_email_log", "rate_limits", "admin_system_events"):
        kept = world.one(sql.SQL("SELECT string_agg(t::text, ' ') FROM {} AS t").format(sql.Identifier(table)).as_string())  # type: ignore[arg-type]
        assert "mallory" not in (kept or "")


def test_an_operator_is_told_once_per_type_and_window_without_any_address(world: World) -> None:
    add_type(world, RESET, **guarded(1))
    world.add_tenant()
    for tenant in (TENANT, TENANT, OTHER_TENANT):
        for address in (ADDRESS, "bob@example.com"):
            for _ in range(7):
                reset(world, tenant=tenant, audience={"kind": "address", "email": address})

    ours, theirs = world.system_events()

    assert (ours["event_type"], ours["subject"], ours["tenant_id"], theirs["tenant_id"]) == (
        "over_sending", RESET, TENANT, OTHER_TENANT,
    )  # fmt: skip
    assert ours["details"] == {"channel": "email", "limit": 1, "window_seconds": 3600}
    assert "@" not in ours["description"]


def test_the_event_is_resolved_when_its_window_is_over_and_raised_anew_if_it_goes_on(world: World) -> None:
    for _ in range(6):
        reset(world)
    sweep(world.worker)
    still_open = [event["is_resolved"] for event in world.system_events()]

    world.pass_time(HOUR + MINUTE)
    sweep(world.worker)
    resolved = [event["is_resolved"] for event in world.system_events()]
    for _ in range(6):
        reset(world)

    assert (still_open, resolved) == ([False], [True])
    assert [event["is_resolved"] for event in world.system_events()] == [True, False]


def test_what_is_skipped_is_counted(world: World) -> None:
    counted: list[tuple[str, int]] = []
    world.try_accept(*[world.asked(type=RESET, **BARE) for _ in range(8)])

    dispatch(
        world.worker, world.due(), replace(world.worker_policy(), count=lambda name, value, **_: counted.append((name, value)))
    )

    assert ("OverSendingSkipped", 3) in counted


def test_the_timeline_says_why(world: World) -> None:
    api = Api(world.add_key(*SCOPES))
    asked = [world.accept(type=RESET, **BARE) for _ in range(6)]
    world.dispatch()
    (skipped,) = [one for one in asked if end(route_of(world, one.notification_id)) == SKIPPED]

    shown = api.get(f"/v1/notifications/{skipped.notification_id}").json

    (route,) = shown["routes"]
    assert (route["status"], route["reason"]) == SKIPPED
    assert (shown["timeline"][-1]["what"], shown["timeline"][-1]["reason"]) == SKIPPED


def test_a_person_gets_as_many_emails_in_an_hour_as_their_tenant_says(world: World) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user(tenant=OTHER_TENANT)
    settings = '{"caps": {"emails_per_user_per_hour": 2}}'
    world.admin.execute("UPDATE tenants SET settings = %s WHERE id = %s", [settings, TENANT])

    ends = [end(send(world)) for _ in range(3)]

    assert ends == [SENT, SENT, ("pending", "dampened: hourly")]
    assert [end(send(world, tenant=OTHER_TENANT)) for _ in range(3)] == [SENT] * 3
    world.pass_time(HOUR + 2 * MINUTE)
    world.dispatch()
    assert {end(route) for route in world.routes()} == {SENT}
