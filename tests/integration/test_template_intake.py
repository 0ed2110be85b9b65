"""What an intent leaves open, its type and its template say; what a template needs is asked for at intake."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.content import add_template, add_type
from tests.world import TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.database import tenant_transaction
from tocsin.intake.accept_intents import Admitted, MissingVariables, UnknownTemplate
from tocsin.intake.accept_messages import Defaults, Entry, accept_entry
from tocsin.store import templates

AMBIGUOUS = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")


def _record(world: World) -> dict[str, Any]:
    (record,) = world.rows("SELECT * FROM records")
    return record


def _queue(world: World, **intent: Any) -> str:
    body = {"type": "order.shipped", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {}} | intent
    return accept_entry(world.app, Entry("m-1", json.dumps(body)), Defaults(TENANT, timedelta(days=7)))


def test_an_intent_without_what_its_template_declares_is_refused_and_says_what_is_missing(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order", "eta", "name"])

    (end,) = world.try_accept(world.asked(template="shipped", payload={"order": "A-17"}))

    assert end == MissingVariables(["eta", "name"])
    assert (world.count("records"), world.count("outbox"), world.nudges()) == (0, 0, [])


def test_a_variable_that_is_null_is_there(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order"])

    (end,) = world.try_accept(world.asked(template="shipped", payload={"order": None}))

    assert isinstance(end, Admitted)


def test_every_channel_and_language_that_may_be_used_is_asked_what_it_needs(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order"])
    add_template(world, locale="pt", variables=["pedido"])
    add_template(world, channel="sms", variables=["code"])

    asked = [world.asked(template="shipped", channels=channels, payload={}) for channels in (["email"], ["email", "sms"], None)]
    ends = world.try_accept(*asked)

    assert ends == [
        MissingVariables(["order", "pedido"]),
        MissingVariables(["code", "order", "pedido"]),
        MissingVariables(["code", "order", "pedido"]),
    ]


def test_only_the_active_version_is_asked(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order"])
    add_template(world, variables=[])

    (end,) = world.try_accept(world.asked(template="shipped", payload={}))

    assert isinstance(end, Admitted)


def test_of_a_batch_only_what_lacks_something_is_refused(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order"])

    ends = world.try_accept(
        world.asked(template="shipped", payload={"order": 1}),
        world.asked(template="shipped", payload={}),
        world.asked(template="nameless", payload={}),
        world.asked(),
    )

    assert [type(end) for end in ends] == [Admitted, MissingVariables, UnknownTemplate, Admitted]
    assert world.count("records") == world.count("outbox") == 2


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("shipped", "missing_variables", "the payload lacks order"),
        ("nameless", "unknown_template", "no active template nameless"),
    ],
)
def test_by_queue_it_is_kept_as_malformed_with_its_reason(world: World, name: str, code: str, message: str) -> None:
    world.add_user()
    add_template(world, variables=["order"])

    ended = _queue(world, template=name)

    (kept,) = world.rows("SELECT * FROM malformed_intents")
    assert (ended, kept["failure_code"], world.count("records")) == ("malformed", code, 0)
    assert message in kept["failure_message"]
    assert kept["raw_fields"]["template"] == name


@pytest.mark.parametrize("channels", [["sms"], ["in_app", "push"]])
def test_a_template_with_words_for_none_of_the_channels_is_not_known(world: World, channels: list[str]) -> None:
    world.add_user()
    add_template(world)

    (end,) = world.try_accept(world.asked(template="shipped", channels=channels))

    assert end == UnknownTemplate("shipped")


def test_a_template_taken_out_of_use_is_not_known_but_a_repeated_request_gets_its_first_answer(world: World) -> None:
    world.add_user()
    add_template(world)
    first = world.accept(key="k-1", template="shipped")
    with tenant_transaction(world.app, TENANT):
        templates.deactivate(world.app, TENANT, "shipped")

    again, fresh = world.try_accept(world.asked(key="k-1", template="shipped"), world.asked(template="shipped"))

    assert isinstance(again, Admitted)
    assert (again.notification_id, again.is_replay) == (first.notification_id, True)
    assert fresh == UnknownTemplate("shipped")


def test_what_the_intent_does_not_say_its_type_says(world: World) -> None:
    world.add_user(phone="+14155550100")
    add_template(world, channel="sms")
    add_type(world, channels=["sms"], template="shipped", priority="high", expires_after_seconds=3600)

    world.accept(channels=None)

    record = _record(world)
    assert (record["channels"], record["template"], record["priority"]) == (["sms"], "shipped", "high")
    assert record["expires_at"] - record["accepted_at"] == timedelta(hours=1)


def test_what_the_intent_says_comes_before_its_type(world: World) -> None:
    world.add_user()
    add_template(world, "own")
    add_type(world, channels=["sms"], template="shipped", priority="high", expires_after_seconds=3600)
    expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)

    world.accept(channels=["email"], template="own", priority="low", expires_at=expires_at.isoformat())

    record = _record(world)
    assert (record["channels"], record["template"], record["priority"]) == (["email"], "own", "low")
    assert record["expires_at"] == expires_at


def test_without_a_type_the_priority_is_normal_and_nothing_expires(world: World) -> None:
    world.add_user()

    world.accept()

    record = _record(world)
    assert (record["priority"], record["template"], record["expires_at"]) == ("normal", None, None)


def test_a_types_expiry_counts_from_the_time_of_sending(world: World) -> None:
    world.add_user()
    add_type(world, expires_after_seconds=600)
    send_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)

    world.accept(send_at=send_at.isoformat())

    assert _record(world)["expires_at"] == send_at + timedelta(minutes=10)


def test_what_its_type_lets_expire_is_not_sent_late(world: World) -> None:
    world.add_user()
    add_type(world, expires_after_seconds=60)
    world.accept()

    world.pass_time(timedelta(minutes=2))
    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("skipped", "expired", 0)


def test_a_types_template_is_asked_what_it_needs_too(world: World) -> None:
    world.add_user()
    add_template(world, variables=["order"])
    add_type(world, template="shipped")

    missing, unknown = world.try_accept(world.asked(payload={}), world.asked(channels=["push"], payload={"order": 1}))

    assert (missing, unknown) == (MissingVariables(["order"]), UnknownTemplate("shipped"))


def test_a_type_of_another_tenant_says_nothing(world: World) -> None:
    world.add_user()
    add_type(world, tenant=world.add_tenant(), priority="critical", template="theirs")

    world.accept()

    assert (_record(world)["priority"], _record(world)["template"]) == ("normal", None)


def test_when_nobody_names_channels_the_template_goes_out_on_those_it_has_words_for(world: World) -> None:
    world.add_user(phone="+14155550100")
    add_template(world, channel="sms")
    add_template(world, channel="in_app")
    add_template(world, channel="in_app", locale="pt")

    world.accept(channels=None, template="shipped")
    world.dispatch()

    assert _record(world)["channels"] == ["in_app", "sms"]
    assert {(route["channel"], route["status"]) for route in world.routes()} == {("in_app", "published"), ("sms", "published")}


@pytest.mark.parametrize(
    ("channel", "policy", "ended"),
    [("email", "hold", "dead_letter"), ("email", None, "published"), ("sms", None, "dead_letter"), ("sms", "retry", "published")],
)
def test_after_a_lost_answer_the_types_policy_decides(world: World, channel: str, policy: str | None, ended: str) -> None:
    world.add_user(phone="+14155550100")
    add_type(world, ambiguous_policy=policy)
    world.accept(channels=[channel])
    {"email": world.email, "sms": world.sms}[channel].answers.append(AMBIGUOUS)
    world.dispatch()

    world.pass_time(WINDOW + timedelta(minutes=1))
    world.dispatch()

    route = world.route()
    assert (route["status"], route["duplicate_suspected"]) == (ended, ended == "published")
    assert [letter["failure_classification"] for letter in world.dead_letters()] == ["ambiguous"] * (ended == "dead_letter")
