"""What stands beside the words: strictly read as it comes in, leniently where it is shown."""

from typing import Any

import pytest
from pydantic import ValidationError

from tocsin.content import display, plain
from tocsin.content.display import Action, Display
from tocsin.foundation.field_errors import errors_of
from tocsin.intake.cloud_events import CloudEvent
from tocsin.intake.intents import Intent

URL = "https://shop.example/1"
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"title": "x" * 201}, "/title must have at most 200 characters"),
    ({"actions": [{"label": "a", "url": URL}] * 3}, "/actions must have at most 2 entries"),
    ({"actions": [{"label": "x" * 41, "url": URL}]}, "/actions/0/label must have 1 to 40 characters"),
    ({"actions": [{"label": "\n", "url": URL}]}, "/actions/0/label must have 1 to 40 characters"),
    ({"actions": [{"label": "Open", "url": "javascript:alert(1)"}]}, "/actions/0/url must be an http or https address"),
    ({"actions": [{"label": "Open"}]}, "/actions/0/url is required"),
    ({"actions": [{"label": "Open", "url": URL, "style": "red"}]}, "/actions/0/style is not a known field"),
    ({"actions": "Open"}, "/actions must be a list"),
    ({"severity": "high"}, "/severity must be one of info, warning, critical"),
    ({"icon": "bell"}, "/icon must be an emoji, or the http or https address of an image"),
    ({"icon": "data:image/png;base64,AA"}, "/icon must be an emoji, or the http or https address of an image"),
]


def intent(payload: dict[str, Any]) -> Intent:
    return Intent.model_validate({"type": "t", "audience": {"kind": "users", "user_ids": ["a"]}, "payload": payload})


def event(data: dict[str, Any]) -> CloudEvent:
    return CloudEvent.model_validate({"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": data})


@pytest.mark.parametrize(("payload", "told"), FAULTS, ids=[told for _, told in FAULTS])
def test_what_people_cannot_be_shown_is_refused_with_its_place(payload: dict[str, Any], told: str) -> None:
    for read, at in ((intent, "/payload"), (event, "/data")):
        with pytest.raises(ValidationError) as refused:
            read(payload)
        (error,) = errors_of(refused.value)
        assert f"{error['pointer'].removeprefix(at)} {error['message']}".startswith(told)


def test_buttons_severity_and_icon_are_part_of_the_payload() -> None:
    payload = {
        "title": "x" * 200,
        "actions": [{"label": "Track", "url": URL}],
        "severity": "warning",
        "icon": "👨‍👩‍👧‍👦",
        "url": URL,
    }

    assert dict(intent(payload).payload) == payload
    assert display.of(payload) == Display(URL, (Action("Track", URL),), "warning", "👨‍👩‍👧‍👦")


def test_a_title_is_as_long_as_the_line_that_people_see() -> None:
    assert intent({"title": "x" * 198 + "\n\n\ny"}).payload["title"].endswith("y")
    assert len(plain.render("t", {"title": "x" * 150 + "\r\n" * 40 + "y"}).title) == 152


def test_what_was_stored_before_these_rules_is_shown_without_what_cannot_be_used() -> None:
    old = {"url": 7, "actions": [1, {"label": "x"}, {"label": "Go", "url": URL}, {"label": "", "url": URL}], "severity": ["high"]}

    assert display.of(old) == Display(actions=(Action("Go", URL),))
    assert display.of({"actions": {"label": "x"}, "icon": "x", "severity": None}) == Display()


def test_what_stands_beside_the_words_is_no_word() -> None:
    beside = {"severity": "critical", "icon": "🔔"}

    assert not plain.has_words(beside)
    assert plain.render("order.late", beside | {"order": 7}).text == "order: 7"
