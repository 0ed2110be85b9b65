"""The intent: a closed shape whose every limit is told with a pointer to the place."""

from typing import Any

import pytest
from pydantic import ValidationError

from tocsin.foundation.field_errors import errors_of
from tocsin.intake.intents import Intent


def an_intent(**fields: Any) -> dict[str, Any]:
    return {"type": "order.shipped", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {}} | fields


def to(kind: str, **fields: Any) -> dict[str, Any]:
    return an_intent(audience={"kind": kind} | fields)


def wrong(value: Any) -> dict[str, str]:
    """What is wrong with this intent: messages by pointer."""
    with pytest.raises(ValidationError) as caught:
        Intent.model_validate(value)
    return {error["pointer"]: error["message"] for error in errors_of(caught.value)}


GOOD = {
    "the least": an_intent(),
    "a type of 100 characters": an_intent(type="x" * 100),
    "a thousand users": to("users", user_ids=[str(n) for n in range(1000)]),
    "a user id of 255 characters": to("users", user_ids=["x" * 255]),
    "an email address": to("address", email="alice@example.com"),
    "a phone number": to("address", phone="+14155550100"),
    "both": to("address", email="alice@example.com", phone="+14155550100"),
    "everyone": to("tenant"),
    "every channel": an_intent(channels=["email", "sms", "push", "in_app"]),
    "no channels": an_intent(channels=None),
    "a template": an_intent(template="x" * 100),
    "a thread": an_intent(thread={"kind": "x" * 64, "id": "y" * 255}),
    "the smallest retry": an_intent(retry={"max_attempts": 1, "backoff": "linear", "base_ms": 100}),
    "the largest retry": an_intent(retry={"max_attempts": 20, "backoff": "constant", "base_ms": 3_600_000}),
    "a critical one": an_intent(priority="critical"),
    "a test": an_intent(mode="test"),
    "one that says it is live": an_intent(mode="live"),
}

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("no type", {"audience": {"kind": "tenant"}, "payload": {}}, "/type"),
    ("an empty type", an_intent(type=""), "/type"),
    ("a type of 101 characters", an_intent(type="x" * 101), "/type"),
    ("a number as type", an_intent(type=5), "/type"),
    ("no audience", {"type": "t", "payload": {}}, "/audience"),
    ("an audience of no kind", an_intent(audience={}), "/audience/kind"),
    ("an audience of an unknown kind", to("planet"), "/audience/kind"),
    ("a word as audience", an_intent(audience="everyone"), "/audience"),
    ("no users", to("users", user_ids=[]), "/audience/user_ids"),
    ("users left out", to("users"), "/audience/user_ids"),
    ("1001 users", to("users", user_ids=[str(n) for n in range(1001)]), "/audience/user_ids"),
    ("an empty fourth user", to("users", user_ids=["a", "b", "c", ""]), "/audience/user_ids/3"),
    ("a fourth user that is a number", to("users", user_ids=["a", "b", "c", 4]), "/audience/user_ids/3"),
    ("a user id of 256 characters", to("users", user_ids=["x" * 256]), "/audience/user_ids/0"),
    ("an address of nothing", to("address"), "/audience/email"),
    ("a broken email", to("address", email="alice@"), "/audience/email"),
    ("a broken phone", to("address", phone="12"), "/audience/phone"),
    ("users among an address", to("address", email="a@b.co", user_ids=["x"]), "/audience/user_ids"),
    ("an email for everyone", to("tenant", email="a@b.co"), "/audience/email"),
    ("no payload", {"type": "t", "audience": {"kind": "tenant"}}, "/payload"),
    ("a list as payload", an_intent(payload=[]), "/payload"),
    ("null as payload", an_intent(payload=None), "/payload"),
    ("an empty list of channels", an_intent(channels=[]), "/channels"),
    ("a channel twice", an_intent(channels=["email", "email"]), "/channels"),
    ("an unknown channel", an_intent(channels=["email", "fax"]), "/channels/1"),
    ("an unknown mode", an_intent(mode="dry"), "/mode"),
    ("an empty template", an_intent(template=""), "/template"),
    ("a template of 101 characters", an_intent(template="x" * 101), "/template"),
    ("a thread without id", an_intent(thread={"kind": "issue"}), "/thread/id"),
    ("a thread kind of 65 characters", an_intent(thread={"kind": "x" * 65, "id": "1"}), "/thread/kind"),
    ("a thread id of 256 characters", an_intent(thread={"kind": "x", "id": "1" * 256}), "/thread/id"),
    ("an unknown priority", an_intent(priority="urgent"), "/priority"),
    ("no attempts", an_intent(retry={"max_attempts": 0}), "/retry/max_attempts"),
    ("21 attempts", an_intent(retry={"max_attempts": 21}), "/retry/max_attempts"),
    ("attempts as text", an_intent(retry={"max_attempts": "5"}), "/retry/max_attempts"),
    ("attempts as truth", an_intent(retry={"max_attempts": True}), "/retry/max_attempts"),
    ("attempts as a fraction", an_intent(retry={"max_attempts": 5.0}), "/retry/max_attempts"),
    ("an unknown back-off", an_intent(retry={"backoff": "random"}), "/retry/backoff"),
    ("a base of 99 ms", an_intent(retry={"base_ms": 99}), "/retry/base_ms"),
    ("a base above an hour", an_intent(retry={"base_ms": 3_600_001}), "/retry/base_ms"),
    ("null as retry", an_intent(retry=None), "/retry"),
    ("a misspelt field", an_intent(chanels=["email"]), "/chanels"),
    ("somebody else's tenant", an_intent(tenant_id="x"), "/tenant_id"),
    ("a status of one's own", an_intent(status="published"), "/status"),
    ("a misspelt retry field", an_intent(retry={"attempts": 3}), "/retry/attempts"),
    ("a field with a slash and a tilde", an_intent(**{"a/b~c": 1}), "/a~1b~0c"),
]


@pytest.mark.parametrize("value", GOOD.values(), ids=GOOD.keys())
def test_what_is_within_the_limits_is_taken(value: dict[str, Any]) -> None:
    Intent.model_validate(value)


@pytest.mark.parametrize(("value", "pointer"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_not_is_refused_with_a_pointer_to_the_place(value: dict[str, Any], pointer: str) -> None:
    assert list(wrong(value)) == [pointer]


@pytest.mark.parametrize("value", [None, [], "x", 5, True])
def test_what_is_not_an_object_is_refused_as_a_whole(value: Any) -> None:
    assert list(wrong(value)) == [""]


def test_what_an_intent_does_not_say_is_left_to_its_type_and_then_to_the_documentation() -> None:
    intent = Intent.model_validate(an_intent())

    assert (intent.priority, intent.channels, intent.template) == (None, None, None)
    assert intent.retry.model_dump() == {"max_attempts": 5, "backoff": "exponential", "base_ms": 5000}


def test_unknown_and_missing_fields_are_told_in_plain_words() -> None:
    told = wrong({"type": "t", "audience": {"kind": "users"}, "payload": {}, "colour": "red"})

    assert told == {"/audience/user_ids": "is required", "/colour": "is not a known field"}


def test_at_most_twenty_mistakes_are_listed() -> None:
    assert len(wrong(an_intent(**{f"field{n}": 1 for n in range(50)}))) == 20


CANARY = "canary-value"


@pytest.mark.parametrize(
    "value",
    [
        an_intent(type=[CANARY]),
        an_intent(audience=CANARY),
        to(CANARY),
        to("users", user_ids=CANARY),
        to("users", user_ids=["x" * 300 + CANARY]),
        to("address", email=CANARY),
        to("address", phone=CANARY),
        an_intent(payload=CANARY),
        an_intent(channels=[CANARY]),
        an_intent(priority=CANARY),
        an_intent(send_at=CANARY),
        an_intent(retry={"backoff": CANARY}),
        an_intent(colour=CANARY),
    ],
)
def test_a_mistake_is_told_without_repeating_the_value(value: dict[str, Any]) -> None:
    assert CANARY not in str(wrong(value))
