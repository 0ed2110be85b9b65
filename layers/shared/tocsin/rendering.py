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
