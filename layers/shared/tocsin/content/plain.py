"""The built-in words: `payload.title` and `payload.message`, or the payload's other fields. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin.content import display
from tocsin.content.display import Action
from tocsin.content.email_words import WORDS, colon
from tocsin.foundation.text import one_line, shortened

MAX_TITLE = 200
MAX_TEXT = 20_000
_APART = ("title", "message", *display.FIELDS)  # have places of their own


class Unrenderable(ValueError):
    """The payload cannot be shown on this channel. The route becomes a dead letter that says so."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one message says. A text that is the title alone is said once. Each channel has its own place for the link and the
    buttons; `html` is an email's, and `note` says what of it was cut."""

    title: str
    text: str
    html: str = ""
    url: str = ""
    actions: tuple[Action, ...] = ()
    severity: str = "info"
    icon: str = ""
    note: str = ""

    @property
    def link(self) -> str:
        """Where it leads, on a channel that has room for one way."""
        return self.url or (self.actions[0].url if self.actions else "")


def render(notification_type: str, payload: Mapping[str, Any]) -> Content:
    whole = title_of(payload.get("title")) or one_line(notification_type) or "Notification"
    text = _words(payload.get("message")) or _lines(payload) or whole  # what a title alone loses by its length, the text says
    if len(text) > MAX_TEXT:
        raise Unrenderable(f"the message has {len(text)} characters; at most {MAX_TEXT} can be sent")
    shown = display.of(payload)
    return Content(
        shortened(whole, MAX_TITLE), text, "", shown.url, shown.actions, shown.severity, shown.icon, note_on_title(whole)
    )


def event(event_type: str, data: Mapping[str, Any]) -> Content:
    """A domain event in its own words. What else it carries is for templates, not for reading."""
    return render(event_type, {name: data.get(name) for name in ("title", "message", *display.FIELDS)})


def digest(payload: Mapping[str, Any], language: str = "en") -> Content:
    """What was held back in a thread: how much, and what it was called."""
    words = WORDS[language]
    count, missed = payload["count"], [title_of(title) for title in payload["missed"]]
    updates = words.one_update if count == 1 else words.updates.format(count=count)
    title = shortened(f"{updates}{colon(language)} {missed[-1]}", MAX_TITLE) if missed else updates
    rest = [words.more.format(count=count - len(missed))] if count > len(missed) else []
    text = "\n".join([words.since.format(updates=updates), "", *(f"- {one}" for one in missed), *rest])
    return Content(title, text)


def has_words(payload: Mapping[str, Any]) -> bool:
    """Whether there is anything to say without a template: what is empty counts as absent."""
    return any(_words(value) for name, value in payload.items() if name not in ("severity", "icon"))


def link_of(payload: Mapping[str, Any]) -> str:
    """Where the payload leads, if it leads anywhere that people may be sent to."""
    return display.link(payload.get("url"))


def title_of(value: Any) -> str:
    """A payload's title as the one line that people see."""
    return one_line(_words(value))


def note_on_title(whole: str) -> str:
    return f"the title was cut from {len(whole)} to {MAX_TITLE} characters" if len(whole) > MAX_TITLE else ""


def _words(value: Any) -> str:
    """The value as words; none for what is empty, or nothing but space."""
    if value is None or value in ("", [], {}):
        return ""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words.replace("\r\n", "\n") if one_line(words) else ""


def _lines(payload: Mapping[str, Any]) -> str:
    fields = ((one_line(key), _words(value)) for key, value in payload.items() if key not in _APART)
    return "\n".join(f"{key}: {words}" for key, words in fields if words)
