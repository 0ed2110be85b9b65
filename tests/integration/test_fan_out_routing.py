"""Which events tell whom, and how, is data; what the type means is too."""

from datetime import timedelta
from typing import Any

import pytest

from tests.content import add_template, add_type
from tests.events import fan_out_all, happen, inbox, outcomes, prefer, reasons, route, unroute
from tests.world import OTHER_TENANT, World

INBOX = {"mention": ["in_app"]}
EMAIL = {"mention": ["email"]}


@pytest.fixture
def alice(world: World) -> World:
    world.add_user("alice")
    return world


def _channels(world: World) -> list[str]:
    """Where alice was told of the only event."""
    return sorted([route["channel"] for route in world.routes()] + ["in_app"] * len(world.inbox()))


@pytest.mark.parametrize(
    ("routing", "told"),
    [
        ({"issue.commented": INBOX}, True),
        ({"issue.*": INBOX}, True),
        ({"*": INBOX}, True),
        ({"issue.commented*": INBOX}, True),
        ({"issue.commented.*": INBOX}, False),
        ({"issue": INBOX}, False),
        ({"issue.comment": INBOX}, False),
        ({"Issue.*": INBOX}, False),
        ({"issue_commented": INBOX, "issue%": INBOX, "i.*d": INBOX}, False),
        ({}, False),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, dict) else "",
)
def test_a_type_is_routed_by_its_name_or_the_beginning_of_it(routing: dict[str, Any], told: bool, alice: World) -> None:
    for event_type, rules in routing.items():
        route(alice, event_type, rules)

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    assert outcomes(alice) == [("notified", 1) if told else ("not_routed", 0)]
    assert bool(alice.inbox()) == told


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [("*", "issue.*"), ("issue.*", "issue.comm*"), ("issue.commented*", "issue.commented"), ("issue.*", "issue.commented")],
)
def test_the_exact_type_goes_before_the_longest_beginning_and_that_before_shorter_ones(
    weaker: str, stronger: str, alice: World
) -> None:
    route(alice, weaker, EMAIL)
    route(alice, stronger, INBOX)

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    assert _channels(alice) == ["in_app"]


def test_the_one_that_matches_best_decides_alone_even_if_it_tells_nobody(alice: World) -> None:
    route(alice, "*", INBOX)
    route(alice, "issue.commented", {"author": ["in_app"]})

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    assert outcomes(alice) == [("nobody", 0)]
    assert alice.inbox() == []


def test_a_type_that_nothing_matches_tells_nobody_and_says_so(alice: World) -> None:
    alice.add_tenant()
    route(alice, "*", INBOX, tenant=OTHER_TENANT)

    happen(alice, type="unheard.of", mentions=["alice"])
    fan_out_all(alice)

    assert outcomes(alice) == [("not_routed", 0)]
    assert (alice.inbox(), alice.routes(), alice.count("records")) == ([], [], 0)


def test_an_empty_list_of_channels_tells_nobody(alice: World) -> None:
    route(alice, rules={"mention": [], "author": ["in_app"]})

    happen(alice, mentions=["alice"], author="alice")
    fan_out_all(alice)

    assert outcomes(alice) == [("nobody", 0)]


def test_each_reason_has_channels_of_its_own(world: World) -> None:
    for person in ("alice", "bob", "carol"):
        world.add_user(person, phone="+4915112345678")
    route(world, rules={"mention": ["in_app", "email", "sms"], "assign": ["email"], "author": ["in_app"]})

    happen(world, mentions=["alice"], assignees=["bob"], author="carol")
    fan_out_all(world)

    assert {(one["recipient_ref"], one["channel"], one["audience_reason"], one["status"]) for one in world.routes()} == {
        ("user:alice", "email", "mention", "pending"),
        ("user:alice", "sms", "mention", "pending"),
        ("user:bob", "email", "assign", "pending"),
    }
    assert reasons(world) == {"alice": "mention", "carol": "author"}
    assert outcomes(world) == [("notified", 3)]


def test_the_rules_can_be_edited_between_two_events(alice: World) -> None:
    route(alice, rules=INBOX)
    happen(alice, mentions=["alice"], title="first")
    fan_out_all(alice)

    route(alice, rules=EMAIL)
    happen(alice, mentions=["alice"], title="second")
    fan_out_all(alice)
    unroute(alice)
    happen(alice, mentions=["alice"], title="third")
    fan_out_all(alice)

    assert (inbox(alice)["alice"]["title"], inbox(alice)["alice"]["event_count"]) == ("first", 1)
    assert [one["channel"] for one in alice.routes()] == ["email"]
    assert outcomes(alice) == [("notified", 1), ("notified", 1), ("not_routed", 0)]


def test_an_event_becomes_a_record_that_its_deliveries_belong_to(alice: World) -> None:
    route(alice, rules=EMAIL)

    notification_id = happen(alice, event_id="e-1", source="/repo", title="Hello", mentions=["alice"])
    deliveries = fan_out_all(alice)

    (record,) = alice.rows("SELECT * FROM records")
    assert (record["notification_id"], record["notification_type"], record["producer"], record["idempotency_key"]) == (
        notification_id, "issue.commented", "/repo", "e-1",
    )  # fmt: skip
    assert (record["audience_kind"], record["holds_key"], record["mode"]) == ("event", False, "live")
    assert (record["thread_kind"], record["thread_id"]) == ("issue", "1")
    assert record["payload_json"]["title"] == "Hello"
    assert deliveries == alice.due() == [alice.route()["outbox_id"]]


def test_an_event_that_only_the_inbox_tells_makes_no_record(alice: World) -> None:
    route(alice, rules=INBOX)

    happen(alice, mentions=["alice"])
    deliveries = fan_out_all(alice)

    assert (deliveries, alice.count("records"), alice.count("routes"), alice.count("outbox")) == ([], 0, 0, 0)


def test_the_deliveries_are_sent_and_a_test_event_reaches_no_provider(alice: World) -> None:
    route(alice, rules=EMAIL)
    happen(alice, title="for real", thread=None, mentions=["alice"])
    happen(alice, title="rehearsal", thread=None, mentions=["alice"], mode="test")

    fan_out_all(alice)
    alice.dispatch()

    assert [message.content.title for message in alice.email.accepted] == ["for real"]
    assert sorted((one["status"], one["provider"]) for one in alice.routes()) == [("published", "sandbox"), ("published", "ses")]


def test_who_has_no_address_for_a_channel_has_a_skipped_route_that_says_so(world: World) -> None:
    world.add_user("alice", email=None)
    world.add_device(world.add_user("bob", email=None), "one")
    route(world, rules={"mention": ["email", "sms", "push"]})

    happen(world, mentions=["alice", "bob"])
    fan_out_all(world)

    ends = {(one["recipient_ref"], one["channel"]): (one["status"], one["reason"]) for one in world.routes()}
    skipped = ("skipped", "no_address")
    assert ends == {
        ("user:alice", "email"): skipped, ("user:alice", "sms"): skipped, ("user:alice", "push"): skipped,
        ("user:bob", "email"): skipped, ("user:bob", "sms"): skipped, ("user:bob", "push"): ("pending", ""),
    }  # fmt: skip
    assert world.count("outbox") == 1


def test_each_device_gets_a_push_of_its_own(world: World) -> None:
    user_id = world.add_user("alice")
    devices = {world.add_device(user_id, token) for token in ("one", "two")}
    route(world, rules={"mention": ["push"]})

    happen(world, mentions=["alice"])
    fan_out_all(world)

    assert {one["device_id"] for one in world.routes()} == devices


def test_the_template_of_the_type_gives_the_words_on_every_channel(alice: World) -> None:
    add_template(alice, "said", channel="in_app", subject="{{ actor }} said", body="{{ message }}")
    add_template(alice, "said", channel="email", subject="Mail from {{ actor }}", body="{{ message }} ({{ reason }})")
    add_type(alice, "issue.commented", template="said")
    route(alice, rules={"mention": ["in_app", "email", "sms"]})

    happen(alice, actor="bob", message="hello", mentions=["alice"])
    fan_out_all(alice)
    alice.dispatch()

    row, (message,) = inbox(alice)["alice"], alice.email.accepted
    assert (row["title"], row["message"]) == ("bob said", "hello")
    assert (message.content.title, "hello (mention)" in message.content.text) == ("Mail from bob", True)
    assert {one["channel"]: one["reason"] for one in alice.routes()} == {"email": "", "sms": "no_template"}


def test_each_reads_the_words_in_their_own_language(world: World) -> None:
    for person, locale in [("alice", "de-AT"), ("bob", "pt"), ("carol", None)]:
        user_id = world.add_user(person)
        world.admin.execute("UPDATE users SET locale = %s WHERE id = %s", [locale, user_id])
    for locale, subject in [("default", "said"), ("de", "sagte")]:
        add_template(world, "said", channel="in_app", locale=locale, subject=subject, body=subject)
    add_type(world, "issue.commented", template="said")
    route(world)

    happen(world, mentions=["alice", "bob", "carol"])
    fan_out_all(world)

    assert {person: row["title"] for person, row in inbox(world).items()} == {"alice": "sagte", "bob": "said", "carol": "said"}


def test_an_event_whose_words_cannot_be_made_is_told_all_the_same(alice: World) -> None:
    route(alice, rules=INBOX)

    happen(alice, message="x" * 20_001, mentions=["alice"])
    fan_out_all(alice)

    row = inbox(alice)["alice"]
    assert row["title"] == "issue.commented"
    assert "cannot be shown" in row["message"]


def test_the_priority_and_expiry_of_the_type_are_those_of_the_record_and_the_inbox_row(alice: World) -> None:
    add_type(alice, "issue.commented", priority="high", expires_after_seconds=3_600)
    route(alice, rules={"mention": ["in_app", "email"]})

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    (record,), (event,) = alice.rows("SELECT * FROM records"), alice.rows("SELECT * FROM domain_events")
    assert (record["priority"], record["expires_at"]) == ("high", event["recorded_at"] + timedelta(hours=1))
    assert inbox(alice)["alice"]["expires_at"] == record["expires_at"]


def test_without_a_type_of_its_own_an_event_is_ordinary_and_does_not_expire(alice: World) -> None:
    route(alice, rules={"mention": ["in_app", "email"]})

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    (record,) = alice.rows("SELECT * FROM records")
    assert (record["priority"], record["expires_at"], inbox(alice)["alice"]["expires_at"]) == ("normal", None, None)


def test_what_expired_before_its_fan_out_hides_nothing_that_is_still_good(alice: World) -> None:
    """expires_at wins over everything: as with intents, nobody is told any more, and the thread's row stays as it was."""
    add_type(alice, "issue.pinged", expires_after_seconds=60)
    route(alice, "*", {"mention": ["in_app", "email"]})
    happen(alice, title="still good", mentions=["alice"])
    fan_out_all(alice)

    happen(alice, type="issue.pinged", title="too late", mentions=["alice"])
    alice.pass_time(timedelta(minutes=2))
    fan_out_all(alice)
    alice.dispatch()

    row = inbox(alice)["alice"]
    assert (row["title"], row["event_count"], row["expires_at"]) == ("still good", 1, None)
    assert [message.content.title for message in alice.email.accepted] == ["still good"]


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([("", False)], False),
        ([("issue.commented", False)], False),
        ([("", False), ("issue.commented", True)], True),
        ([("", True), ("issue.commented", False)], False),
        ([("another.type", False)], True),
    ],
    ids=["off", "off for this type", "on for this type", "off for this type only", "off for another type"],
)
def test_who_switched_the_inbox_off_gets_no_row_but_the_other_channels(
    rules: list[tuple[str, bool]], told: bool, alice: World
) -> None:
    route(alice, rules={"mention": ["in_app", "email"]})
    for notification_type, enabled in rules:
        prefer(alice, "alice", enabled=enabled, notification_type=notification_type)

    happen(alice, mentions=["alice"])
    fan_out_all(alice)

    assert bool(alice.inbox()) == told
    assert [one["status"] for one in alice.routes()] == ["pending"]


def test_switching_email_off_leaves_the_inbox_on(alice: World) -> None:
    route(alice, rules={"mention": ["in_app", "email"]})
    prefer(alice, "alice", enabled=False, channel="email")

    happen(alice, mentions=["alice"])
    fan_out_all(alice)
    alice.dispatch()

    assert (len(alice.inbox()), alice.route()["status"], alice.email.calls) == (1, "skipped", 0)
