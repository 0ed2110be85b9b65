"""The built-in rendering: `payload.title` and `payload.message`, or the payload itself, as plain words."""

import html
import json
import re
from dataclasses import dataclass
from typing import Any

MAX_TITLE = 200
MAX_TEXT = 20_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


class Unrenderable(ValueError):
    """The payload cannot be shown on this channel. The route becomes a dead letter that says so."""


@dataclass(frozen=True, slots=True)
class Content:
    title: str
    text: str
    html: str


def render(notification_type: str, payload: dict[str, Any]) -> Content:
    title = (one_line(_words(payload.get("title"))) or notification_type)[:MAX_TITLE]
    text = _words(payload.get("message")) or _lines(payload) or title
    if len(text) > MAX_TEXT:
        raise Unrenderable(f"the message has {len(text)} characters; at most {MAX_TEXT} can be sent")
    return Content(title, text, _page(title, text))


def event(event_type: str, data: dict[str, Any]) -> Content:
    """A domain event in its own words. What else it carries is for templates, not for reading."""
    title = (one_line(_words(data.get("title"))) or event_type)[:MAX_TITLE]
    return render(event_type, {"title": title, "message": data.get("message") or title})


def digest(payload: dict[str, Any]) -> Content:
    """What was held back in a thread: how much, and what it was called."""
    count, missed = payload["count"], [one_line(_words(title)) for title in payload["missed"]]
    updates = "1 more update" if count == 1 else f"{count} more updates"
    title = f"{updates}: {missed[-1]}"[:MAX_TITLE] if missed else updates
    rest = [f"… and {count - len(missed)} more"] if count > len(missed) else []
    text = "\n".join([f"{updates} since the last email about this:", "", *(f"- {one}" for one in missed), *rest])
    return Content(title, text, _page(title, text))


def one_line(text: str) -> str:
    """Fit for a header: every run of control characters, line breaks among them, becomes one space."""
    return _CONTROL.sub(" ", text).strip()


def _words(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _lines(payload: dict[str, Any]) -> str:
    return "\n".join(f"{key}: {_words(value)}" for key, value in payload.items() if key != "title")


def _page(title: str, text: str) -> str:
    paragraphs = "".join(f"<p>{html.escape(part).replace(chr(10), '<br>')}</p>" for part in text.split("\n\n") if part.strip())
    return f"<!doctype html><html><body><h1>{html.escape(title)}</h1>{paragraphs}</body></html>"
