"""CloudEvents as producers write them: both modes say the same, and what is wrong is told with its place."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent as TheirEvent
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tocsin.foundation.field_errors import errors_of
from tocsin.intake.cloud_events import MAX_DATA, CloudEvent, data_is_too_large, from_headers, is_binary

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80)


def an_event(**changes: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": "1", "source": "/repo", "type": "issue.commented", "data": {}} | changes


def wrong(value: Any) -> list[str]:
    """The places that are wrong."""
    try:
        CloudEvent.model_validate(value)
    except ValidationError as error:
        return [one["pointer"] for one in errors_of(error)]
    return []


@given(event_id=WORDS, source=WORDS, subject=WORDS, extension=WORDS, title=WORDS)
def test_what_the_sdk_writes_in_either_mode_is_the_same_event(
    event_id: str, source: str, subject: str, extension: str, title: str
) -> None:
    attributes = {
        "id": event_id,
        "source": source,
        "type": "issue.commented",
        "subject": subject,
        "traceparent": extension,
        "time": datetime(2026, 11, 15, 10, 0, 0, 250_000, tzinfo=UTC),
        "datacontenttype": "application/json",
    }
    theirs = TheirEvent(attributes, {"title": title, "mentions": ["alice"]})

    binary, structured = to_binary_event(theirs), to_structured_event(theirs)

    assert is_binary(binary.headers)
    assert not is_binary(structured.headers)
    assert from_headers(binary.headers, json.loads(binary.body)) == json.loads(structured.body)
    event = CloudEvent.model_validate(json.loads(structured.body))
    assert (event.id, event.source, event.occurred_at) == (event_id, source, attributes["time"])
    assert (event.data.title, event.data.mentions) == (title, ["alice"])


def test_headers_are_decoded_as_the_binding_says() -> None:
    headers = {"ce-specversion": "1.0", "ce-source": "/caf%C3%A9%20%22%25%22", "ce-id": "a+b", "content-type": "application/json"}

    event = from_headers(headers, {"title": "t"})

    assert (event["source"], event["id"], event["data"]) == ('/café "%"', "a+b", {"title": "t"})
    assert event["datacontenttype"] == "application/json"


def test_the_body_is_the_data_whatever_a_header_calls_itself() -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-data": "spoof",
        "ce-datacontenttype": "text/plain",
        "content-type": "application/json",
    }

    event = from_headers(headers, {"title": "t"})

    assert (event["data"], event["datacontenttype"]) == ({"title": "t"}, "application/json")


def test_extension_attributes_are_let_through() -> None:
    assert wrong(an_event(traceparent="00-x", priority=7, sampled=True)) == []


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"specversion": "0.3"}, "/specversion"),
        ({"specversion": "1.1"}, "/specversion"),
        ({"specversion": 1.0}, "/specversion"),
        ({"id": ""}, "/id"),
        ({"id": 7}, "/id"),
        ({"id": "x" * 256}, "/id"),
        ({"source": ""}, "/source"),
        ({"source": "x" * 256}, "/source"),
        ({"type": ""}, "/type"),
        ({"type": "x" * 101}, "/type"),
        ({"time": "yesterday"}, "/time"),
        ({"time": "2026-11-15T10:00:00"}, "/time"),
        ({"time": 7}, "/time"),
        ({"datacontenttype": "text/plain"}, "/datacontenttype"),
        ({"datacontenttype": "application/jsonx"}, "/datacontenttype"),
        ({"data_base64": "e30="}, "/data_base64"),
        ({"data": "a string"}, "/data"),
        ({"data": []}, "/data"),
        ({"data": {"scope": ""}}, "/data/scope"),
        ({"data": {"scope": 7}}, "/data/scope"),
        ({"data": {"thread": "issue:1"}}, "/data/thread"),
        ({"data": {"thread": {"kind": "issue"}}}, "/data/thread/id"),
        ({"data": {"thread": {"kind": "issue", "id": "1", "more": 1}}}, "/data/thread/more"),
        ({"data": {"thread": {"kind": "x" * 65, "id": "1"}}}, "/data/thread/kind"),
        ({"data": {"actor": 7}}, "/data/actor"),
        ({"data": {"actor": ["alice"]}}, "/data/actor"),
        ({"data": {"author": ""}}, "/data/author"),
        ({"data": {"mentions": "alice"}}, "/data/mentions"),
        ({"data": {"mentions": [7]}}, "/data/mentions/0"),
        ({"data": {"mentions": [["alice"]]}}, "/data/mentions/0"),
        ({"data": {"mentions": ["alice", ""]}}, "/data/mentions/1"),
        ({"data": {"mentions": None}}, "/data/mentions"),
        ({"data": {"mentions": ["x"] * 1_001}}, "/data/mentions"),
        ({"data": {"reviewers": {"a": 1}}}, "/data/reviewers"),
        ({"data": {"assignees": [None]}}, "/data/assignees/0"),
        ({"data": {"title": 7}}, "/data/title"),
        ({"data": {"message": []}}, "/data/message"),
        ({"data": {"url": "javascript:alert(1)"}}, "/data/url"),
        ({"data": {"url": "data:text/html,x"}}, "/data/url"),
        ({"data": {"url": "//example.com"}}, "/data/url"),
        ({"data": {"url": "/relative"}}, "/data/url"),
        ({"data": {"url": "https://"}}, "/data/url"),
        ({"data": {"url": "https://a b"}}, "/data/url"),
        ({"data": {"url": 'https://a"onmouseover=x'}}, "/data/url"),
        ({"data": {"url": "https://example.com/<script>"}}, "/data/url"),
        ({"data": {"url": " https://example.com"}}, "/data/url"),
        ({"data": {"url": "https://example.com/" + "x" * 2_000}}, "/data/url"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_wrong_is_told_with_its_place(changes: dict[str, Any], place: str) -> None:
    assert place in wrong(an_event(**changes))


@pytest.mark.parametrize("missing", ["specversion", "id", "source", "type"])
def test_what_is_missing_is_told(missing: str) -> None:
    assert wrong({name: value for name, value in an_event().items() if name != missing}) == [f"/{missing}"]


@pytest.mark.parametrize("value", [None, 7, "x", [], True], ids=str)
def test_what_is_no_object_is_no_event_and_no_error(value: Any) -> None:
    assert wrong(value) == [""]
    assert not data_is_too_large(value)


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", "application/vnd.example+json", None],
)
def test_json_by_any_name_is_json(media_type: str | None) -> None:
    assert wrong(an_event(datacontenttype=media_type)) == []


@pytest.mark.parametrize(
    "url", ["https://example.com", "HTTP://example.com/a?b=c&d=%20#e", "https://пример.example/", "http://[::1]:8080/"]
)
def test_an_address_on_the_web_is_taken(url: str) -> None:
    assert wrong(an_event(data={"url": url})) == []


def test_what_else_is_in_the_data_is_the_producers_own() -> None:
    event = CloudEvent.model_validate(an_event(data={"issue": {"number": 7}, "labels": ["bug"]}))

    assert event.data.model_extra == {"issue": {"number": 7}, "labels": ["bug"]}


def test_data_may_have_so_many_bytes_and_not_one_more() -> None:
    room = MAX_DATA - len(json.dumps({"text": ""}))

    assert not data_is_too_large(an_event(data={"text": "x" * room}))
    assert data_is_too_large(an_event(data={"text": "x" * (room + 1)}))
    assert data_is_too_large(an_event(data={"text": "é" * (room // 2 + 1)}))
    assert not data_is_too_large(an_event(data={"text": "\ud800"}))
