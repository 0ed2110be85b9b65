"""What stands beside a notification's words: where it leads, its buttons, how grave it is, and its icon. Pure."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tocsin.foundation.text import one_line
from tocsin.people import addresses

FIELDS = ("url", "actions", "severity", "icon")  # of a payload, or of an event's data
SEVERITIES = ("info", "warning", "critical")
MAX_ACTIONS = 2
MAX_LABEL = 40
MAX_ICON = 16  # characters: an emoji may be made of many
_LETTER = re.compile(r"[A-Za-z]")


class Action(NamedTuple):
    """A button. The first of a notification is its primary one."""

    label: str
    url: str


class Display(NamedTuple):
    url: str = ""
    actions: tuple[Action, ...] = ()
    severity: str = "info"
    icon: str = ""


def of(payload: Mapping[str, Any]) -> Display:
    """As the payload says. It may be older than these rules, or a template's own variables: what cannot be used is left out."""
    listed = payload.get("actions")
    actions = (_action(one) for one in listed) if isinstance(listed, list) else ()
    severity = payload.get("severity")
    return Display(
        link(payload.get("url")),
        tuple(one for one in actions if one)[:MAX_ACTIONS],
        severity if isinstance(severity, str) and severity in SEVERITIES else "info",
        _icon(payload.get("icon")),
    )


def link(value: Any) -> str:
    """An address that people may be sent to, or nothing."""
    try:
        return addresses.web(value) if value else ""
    except (TypeError, ValueError):
        return ""


def label(text: str) -> str:
    """A button's words; ValueError when they are none, or too many."""
    words = one_line(text)
    if not 1 <= len(words) <= MAX_LABEL:
        raise ValueError(f"must have 1 to {MAX_LABEL} characters")
    return words


def icon(text: str) -> str:
    """The address of an image, or an emoji; ValueError when it is neither."""
    if len(text) <= MAX_ICON and one_line(text) == text and not _LETTER.search(text) and text.strip():
        return text
    try:
        return addresses.web(text)
    except ValueError:
        raise ValueError("must be an emoji, or the http or https address of an image") from None


def _action(value: Any) -> Action | None:
    if not isinstance(value, dict) or not isinstance(value.get("label"), str):
        return None
    url = link(value.get("url"))
    try:
        return Action(label(value["label"]), url) if url else None
    except ValueError:
        return None


def _icon(value: Any) -> str:
    try:
        return icon(value) if isinstance(value, str) and value else ""
    except ValueError:
        return ""
