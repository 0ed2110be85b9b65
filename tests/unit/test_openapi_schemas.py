"""The schemas of the OpenAPI document: every answer has one, every body has an example, and each is what its schema says."""

import re
from typing import Any

import pytest

from tests.functions import schemas
from tocsin.api import about
from tocsin.api.examples import BODIES, EXAMPLES
from tocsin.http.door import Endpoint

EVERY = about.every_endpoint()
DOCUMENT = about._described()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
JSON = "application/json"


def operation_of(endpoint: Endpoint) -> dict[str, Any]:
    method, path = endpoint.route.split(" ", 1)
    found: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return found


def examples(part: Any) -> list[tuple[dict[str, Any], Any]]:
    """Every example of the document with its schema."""
    if isinstance(part, list):
        return [found for one in part for found in examples(one)]
    if not isinstance(part, dict):
        return []
    own = [(part["schema"], part["example"])] if {"schema", "example"} <= part.keys() else []
    return own + [found for one in part.values() for found in examples(one)]


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_every_answer_has_a_schema(endpoint: Endpoint) -> None:
    """Pages and files are text; what is JSON says what is in it. 204, 303 and 304 have no body."""
    for status, told in operation_of(endpoint)["responses"].items():
        content = told.get("content", {})
        assert bool(content) == (status not in ("204", "303", "304"))
        assert all(one["schema"] for kind, one in content.items() if kind == JSON or int(status) >= 400) or (
            endpoint.answer is None and len(endpoint.answer_types) > 1
        )


def test_what_is_answered_in_json_names_its_shape() -> None:
    unnamed = [one.route for one in EVERY if one.answer is None and one.success != 204 and one.answer_types == (JSON,)]

    assert unnamed == []


def test_every_body_has_an_example() -> None:
    bodies = {endpoint.body.__name__ for endpoint in EVERY if endpoint.body}

    assert set(BODIES) == bodies


def test_every_example_is_what_its_schema_says() -> None:
    found = examples(DOCUMENT["paths"])

    assert {str(example) for example in EXAMPLES.values()} <= {str(example) for _, example in found}
    assert [error.message for schema, example in found for error in schemas.validator(schema).iter_errors(example)] == []


@pytest.mark.parametrize("endpoint", [one for one in EVERY if one.body], ids=lambda endpoint: endpoint.route)
def test_the_example_of_a_body_is_taken(endpoint: Endpoint) -> None:
    assert endpoint.body is not None

    assert endpoint.body.model_validate(BODIES[endpoint.body.__name__])


def test_the_names_of_schemas_are_good_names_of_classes() -> None:
    assert [name for name in SCHEMAS if not re.fullmatch(r"(?:[A-Z][a-z]+)+", name)] == []
    assert {"User", "UserPage", "Notification", "NotificationPage", "IntentAccepted", "Problem"} <= SCHEMAS.keys()


def test_every_page_is_of_what_its_name_says() -> None:
    pages = {name.removesuffix("Page"): schema for name, schema in SCHEMAS.items() if name.endswith("Page")}

    assert len(pages) > 20
    for item, schema in pages.items():
        assert schema["properties"]["data"]["items"] == {"$ref": f"#/components/schemas/{item}"}
        assert schema["required"] == ["data", "next_cursor"]


def test_answers_may_grow_and_bodies_may_not() -> None:
    """A client that was made of this document takes fields that come later. CloudEvents have attributes of their own."""
    bodies = {endpoint.body.__name__ for endpoint in EVERY if endpoint.body}

    assert "additionalProperties" not in SCHEMAS["User"]
    assert {name for name in bodies if SCHEMAS[name].get("additionalProperties") is not False} == {"CloudEvent", "ValueBody"}


def test_what_has_few_values_says_so() -> None:
    chosen = {
        (endpoint.route, one["name"])
        for endpoint in EVERY
        for one in endpoint.parameters
        if one["in"] == "query" and "enum" in one["schema"] and one["schema"]["type"] == "string"
    }

    assert {name for _, name in chosen} >= {"status", "channel", "severity", "state", "source_kind", "mode", "by"}
    assert not [
        (endpoint.route, one["name"])
        for endpoint in EVERY
        for one in endpoint.parameters
        if one["name"] in ("status", "channel", "severity", "state", "source_kind", "mode")
        and (endpoint.route, one["name"]) not in chosen
    ]


def test_every_operation_has_one_tag_and_every_tag_its_words() -> None:
    tags = {one["name"]: one["description"] for one in DOCUMENT["tags"]}

    assert {tag for endpoint in EVERY for tag in operation_of(endpoint)["tags"]} == tags.keys()
    assert all(len(operation_of(endpoint)["tags"]) == 1 for endpoint in EVERY)
    assert all(words.endswith((".", ")")) for words in tags.values())


def test_a_problem_names_what_is_wrong_and_where() -> None:
    problem = SCHEMAS["Problem"]

    assert problem["properties"]["type"]["format"] == "uri-reference"
    assert SCHEMAS["ProblemError"]["required"] == ["pointer", "message"]


def test_an_intent_without_its_key_is_told_of() -> None:
    told = DOCUMENT["paths"]["/v1/intents"]["post"]

    assert "Idempotency-Key" in told["responses"]["400"]["description"]
    assert [one["required"] for one in told["parameters"] if one["name"] == "Idempotency-Key"] == [True]


def test_the_document_says_where_it_is_served_and_how_one_gets_in() -> None:
    assert DOCUMENT["servers"][0]["url"] == "/"
    assert {name: one["scheme"] for name, one in DOCUMENT["components"]["securitySchemes"].items()} == {
        "key": "bearer",
        "user_token": "bearer",
    }
