"""The built-in rendering: `payload.title` and `payload.message`, or the payload's other fields, as plain words. Pure."""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin.content import display
from tocsin.foundation.text import one_line
from tocsin.people import addresses

MAX_TITLE = 200
MAX_TEXT = 20_000
_APART = ("title", "message", *display.FIELDS)  # have places of their own
_LOOK = "font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; overflow-wrap: anywhere; word-break: break-word"
_BUTTON = "display: inline-block; padding: 10px 20px; border-radius: 6px; background: #2456a6; color: #fff; text-decoration: none"


class Unrenderable(ValueError):
    """The payload cannot be shown on this channel. The route becomes a dead letter that says so."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one message says. A text that is the title alone is said once. Each channel has its own place for the link."""

    title: str
    text: str
    html: str
    url: str = ""


def render(notification_type: str, payload: Mapping[str, Any]) -> Content:
    whole = title_of(payload.get("title")) or one_line(notification_type) or "Notification"
    title = whole[:MAX_TITLE]
    text = _words(payload.get("message")) or _lines(payload) or whole  # what a title alone loses by its length, the text says
    if len(text) > MAX_TEXT:
        raise Unrenderable(f"the message has {len(text)} characters; at most {MAX_TEXT} can be sent")
    url = link_of(payload)
    return Content(title, text, _page(title, text, url), url)


def event(event_type: str, data: Mapping[str, Any]) -> Content:
    """A domain event in its own words. What else it carries is for templates, not for reading."""
    return render(event_type, {name: data.get(name) for name in ("title", "message", *display.FIELDS)})


def digest(payload: Mapping[str, Any]) -> Content:
    """What was held back in a thread: how much, and what it was called."""
    count, missed = payload["count"], [one_line(_words(title)) for title in payload["missed"]]
    updates = "1 more update" if count == 1 else f"{count} more updates"
    title = f"{updates}: {missed[-1]}"[:MAX_TITLE] if missed else updates
    rest = [f"… and {count - len(missed)} more"] if count > len(missed) else []
    text = "\n".join([f"{updates} since the last email about this:", "", *(f"- {one}" for one in missed), *rest])
    return Content(title, text, _page(title, text))


def has_words(payload: Mapping[str, Any]) -> bool:
    """Whether there is anything to say without a template: what is empty counts as absent."""
    return any(_words(value) for name, value in payload.items() if name not in ("severity", "icon"))


def link_of(payload: Mapping[str, Any]) -> str:
    """Where the payload leads, if it leads anywhere that people may be sent to."""
    return display.link(payload.get("url"))


def title_of(value: Any) -> str:
    """A payload's title as the one line that people see."""
    return one_line(_words(value))


def _words(value: Any) -> str:
    """The value as words; none for what is empty, or nothing but space."""
    if value is None or value in ("", [], {}):
        return ""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words.replace("\r\n", "\n") if one_line(words) else ""


def _lines(payload: Mapping[str, Any]) -> str:
    fields = ((one_line(key), _words(value)) for key, value in payload.items() if key not in _APART)
    return "\n".join(f"{key}: {words}" for key, words in fields if words)


def _page(title: str, text: str, url: str = "") -> str:
    """Each part finds its own direction of writing, and a word that is too long is broken."""
    parts = [f'<h1 dir="auto">{html.escape(title)}</h1>']
    if text != title:
        paragraphs = (html.escape(part).replace("\n", "<br>") for part in text.split("\n\n") if part.strip())
        parts += [f'<p dir="auto">{words}</p>' for words in paragraphs]
    if url:
        label = html.escape(f"Open {addresses.host_of(url)}")
        parts.append(f'<p><a href="{html.escape(url)}" style="{_BUTTON}">{label}</a></p>')
    content = "".join(parts)
    return f'<!doctype html><html><head><meta charset="utf-8"></head><body><div style="{_LOOK}">{content}</div></body></html>'
