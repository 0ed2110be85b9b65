"""What is wrong with a field is said in our words: no sentence of the library, no pattern, no value that was sent."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tocsin.api.about import every_endpoint
from tocsin.api.event_routing import RoutingBody
from tocsin.foundation.field_errors import _WORDS, errors_of, first_of
from tocsin.intake.cloud_events import CloudEvent
from tocsin.intake.intents import GivenUser, Intent, Thread

BODIES = sorted({endpoint.body for endpoint in every_endpoint() if endpoint.body}, key=lambda model: model.__name__)
LIBRARY = re.compile(
    r"input should|should (be|have|match)|value error|pydantic|unable to|valid (string|integer|dictionary|list)|\^|\\|required:",
    re.I,
)
WRONG: list[Any] = [
    None,
    True,
    7,
    -1,
    10**30,
    1.5,
    "",
    "secret-value",
    "x" * 300_000,
    [],
    ["secret-value"],
    [7],
    {},
    {"secret-value": 1},
    {"kind": "secret-value"},
]


def _paths(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The names of a body's fields, also of those within others."""
    schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    for name, part in schema.get("properties", {}).items():
        yield (name,)
        for option in [part, *part.get("anyOf", []), *part.get("oneOf", [])]:
            yield from ((name, *rest) for rest in _paths(option, root))


def _body(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else _body(path[1:], value)}


@pytest.mark.parametrize("model", BODIES, ids=lambda model: model.__name__)
def test_whatever_is_wrong_with_a_body_is_said_in_our_words(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    bodies: list[Any] = list(WRONG)
    bodies += [_body(path, value) for path in dict.fromkeys(_paths(schema, schema)) for value in WRONG]
    bodies += [body | {"unheard_of": 1} for body in bodies if isinstance(body, dict)]

    told = [one for body in bodies for one in _wrong(model, body)]

    for one in told:
        assert not LIBRARY.search(one["message"]), one
        assert "secret-value" not in one["message"], one
        assert one["message"] != "is not valid", one
    assert told or model.__name__ == "ValueBody"  # which takes any JSON


def _wrong(model: type[BaseModel], body: Any) -> list[dict[str, str]]:
    try:
        model.model_validate(body)
    except ValidationError as error:
        kinds = {item["type"] for item in error.errors(include_url=False)}
        assert kinds <= _WORDS.keys(), kinds - _WORDS.keys()
        return errors_of(error)
    return []


def test_the_first_cause_is_named_and_the_others_are_counted() -> None:
    one, two = {"pointer": "/type", "message": "is required"}, {"pointer": "", "message": "must be an object"}

    assert first_of([one]) == "`/type` is required."
    assert first_of([{"pointer": "?statu", "message": "did you mean `status`?"}]) == "`?statu` did you mean `status`?"
    assert first_of([two, one]) == "The body must be an object. There is one more."
    assert first_of([one, two, one]) == "`/type` is required. There are 2 more."


@pytest.mark.parametrize(
    ("changes", "pointer", "message"),
    [
        ({"priority": "urgent"}, "/priority", "must be one of low, normal, high, critical"),
        ({"audience": {"kind": "nobody"}}, "/audience/kind", "must be one of users, address, tenant, thread, scope"),
        ({"audience": {}}, "/audience/kind", "is required"),
        ({"audience": "alice"}, "/audience", "must be an object"),
        ({"payload": "words"}, "/payload", "must be an object"),
        ({"channels": "email"}, "/channels", "must be a list"),
        ({"retry": {"max_attempts": 99}}, "/retry/max_attempts", "must be at most 20"),
        ({"type": 7}, "/type", "must be text"),
    ],
)
def test_each_message_can_stand_alone(changes: dict[str, Any], pointer: str, message: str) -> None:
    body = {"type": "t", "audience": {"kind": "tenant"}, "payload": {}} | changes

    assert _wrong(Intent, body) == [{"pointer": pointer, "message": message}]


@pytest.mark.parametrize(
    ("changes", "pointer", "meant"),
    [
        ({"chanels": ["email"]}, "/chanels", "; did you mean `channels`?"),
        ({"retry": {"max_attempt": 3}}, "/retry/max_attempt", "; did you mean `max_attempts`?"),
        (
            {"audience": {"kind": "users", "users_ids": ["a"], "user_ids": ["a"]}},
            "/audience/users_ids",
            "; did you mean `user_ids`?",
        ),
        (
            {"audience": {"kind": "users", "user_ids": [{"id": "a", "mail": "b"}]}},
            "/audience/user_ids/0/mail",
            "; did you mean `email`?",
        ),
        ({"thread": {"id": "A-17", "kind": "order", "zebra": 1}}, "/thread/zebra", "; there are id, kind"),
        ({"to": "alice"}, "/to", "; did you mean `audience`?"),
        ({"subject": "Shipped"}, "/subject", "; did you mean `payload/title`?"),
    ],
)
def test_a_field_that_is_not_known_is_told_which_one_was_meant(changes: dict[str, Any], pointer: str, meant: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Intent.model_validate({"type": "t", "audience": {"kind": "tenant"}, "payload": {}} | changes)

    assert errors_of(raised.value, Intent) == [{"pointer": pointer, "message": f"is not a known field{meant}"}]


def _told(body: Any, model: type[BaseModel] = Intent) -> list[dict[str, str]]:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(body)
    return errors_of(raised.value, model)


def test_a_misspelt_field_is_told_before_the_one_that_is_missing_for_it() -> None:
    told = _told({"type": "t", "audience": {"kind": "users", "user_id": "alice"}, "payload": {}})

    assert [one["pointer"] for one in told] == ["/audience/user_id", "/audience/user_ids"]


def test_an_audience_without_a_kind_is_told_which_there_are() -> None:
    (told,) = _told({"type": "t", "audience": {"user_ids": ["alice"]}, "payload": {}})

    assert told == {"pointer": "/audience/kind", "message": "is required: one of address, scope, tenant, thread, users"}


def test_a_body_that_is_encoded_twice_is_told_so() -> None:
    assert _told('{"type": "t"}') == [{"pointer": "", "message": "must be an object, not a text: is it encoded twice?"}]


def test_a_name_that_is_not_known_is_pointed_at_by_the_name_alone() -> None:
    (told,) = _told({"rules": {"mentioned": ["email"]}}, RoutingBody)

    assert told["pointer"] == "/rules/mentioned"


def test_a_single_word_that_would_do_is_quoted_as_a_text() -> None:
    event = {"specversion": 1.0, "id": "1", "source": "s", "type": "t"}

    assert _told(event, CloudEvent) == [{"pointer": "/specversion", "message": 'must be "1.0"'}]


@pytest.mark.parametrize("value", ["2026-12-01T09:00:00", "2026-12-01 09:00:00.5"])
def test_a_time_without_a_zone_is_told_that_it_has_none(value: str) -> None:
    (told,) = _told({"type": "t", "audience": {"kind": "tenant"}, "payload": {}, "send_at": value})

    assert told["message"].startswith("has no time zone")


def test_every_name_that_is_often_meant_is_none_of_the_fields_and_leads_to_one() -> None:
    for model in (Intent, GivenUser, Thread):
        for name, field in model.OFTEN_MEANT.items():
            assert name not in model.model_fields, name
            assert field.partition("/")[0] in model.model_fields, field


@pytest.mark.parametrize(
    ("audience", "message"),
    [
        ({"kind": "address", "email": "a@example.com", "user_id": "alice"}, "; there are email, kind, phone"),
        ({"kind": "tenant", "id": "1"}, "; there are kind"),
        ({"kind": "thread", "thread": {"kind": "order", "id": "1", "zebra": 1}}, "; there are id, kind"),
    ],
)
def test_only_what_the_chosen_kind_has_is_suggested(audience: dict[str, Any], message: str) -> None:
    (told,) = _told({"type": "t", "audience": audience, "payload": {}})

    assert told["message"] == f"is not a known field{message}"


def test_which_fields_there_are_is_said_once() -> None:
    told = _told({"kind": "order", "id": "1", "zebra": 1, "gnu": 2}, Thread)

    assert [one["message"] for one in told] == ["is not a known field; there are id, kind", "is not a known field"]
