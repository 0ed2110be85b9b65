"""What is wrong with a field is said in our words: no sentence of the library, no pattern, no value that was sent."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tocsin.api.about import every_endpoint
from tocsin.foundation.field_errors import _WORDS, errors_of, first_of
from tocsin.intake.intents import Intent

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
    assert first_of([two, one]) == "`/` must be an object. There is one more."
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
        ({"zebra": 1}, "/zebra", ""),
    ],
)
def test_a_field_that_is_not_known_is_told_which_one_was_meant(changes: dict[str, Any], pointer: str, meant: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Intent.model_validate({"type": "t", "audience": {"kind": "tenant"}, "payload": {}} | changes)

    assert errors_of(raised.value, Intent) == [{"pointer": pointer, "message": f"is not a known field{meant}"}]
