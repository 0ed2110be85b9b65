"""What is sent: whom to tell of what, with which words, when, and under which key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from tocsin_client.audience import Thread, To, audience_of, thread_of
from tocsin_client.wire import written_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One notification to ask for. `title`, `message` and `url` are fields of the payload, which may have more."""

    type: str
    to: To
    title: str | None = None
    message: str | None = None
    url: str | None = None
    payload: Mapping[str, Any] | None = None
    channels: Iterable[str] | None = None
    template: str | None = None
    thread: Thread | None = None
    priority: str | None = None
    occurred_at: datetime | None = None
    send_at: datetime | None = None
    expires_at: datetime | None = None
    retry: Mapping[str, Any] | None = None
    mode: str | None = None
    reply_to: str | None = None
    cc: Iterable[str] | None = None
    attachments: Iterable[Mapping[str, Any]] | None = None
    idempotency_key: str | None = None

    def body(self) -> dict[str, Any]:
        """As the API takes it, without what was not given."""
        if isinstance(self.channels, str):
            raise TypeError(f"`channels` is a list: [{self.channels!r}]")
        if isinstance(self.cc, str):
            raise TypeError(f"`cc` is a list: [{self.cc!r}]")
        found = {
            "type": self.type,
            "audience": audience_of(self.to),
            "payload": self._payload(),
            "channels": None if self.channels is None else list(self.channels),
            "template": self.template,
            "thread": self.thread and thread_of(self.thread),
            "priority": self.priority,
            "occurred_at": self.occurred_at and written_moment(self.occurred_at),
            "send_at": self.send_at and written_moment(self.send_at),
            "expires_at": self.expires_at and written_moment(self.expires_at),
            "retry": self.retry,
            "mode": self.mode,
            "reply_to": self.reply_to,
            "cc": None if self.cc is None else list(self.cc),
            "attachments": None if self.attachments is None else [dict(one) for one in self.attachments],
        }
        return {name: value for name, value in found.items() if value is not None}

    def _payload(self) -> dict[str, Any]:
        payload = dict(self.payload or {})
        for name in ("title", "message", "url"):
            if (value := getattr(self, name)) is None:
                continue
            if name in payload:
                raise ValueError(f"`{name}` is given twice: by itself, and in the payload")
            payload[name] = value
        return payload


def key_for(given: str | None) -> str:
    """The key that was given, or a new one. It is made once for each call: every try says the same."""
    if given is None:
        return str(uuid4())
    if not given or not given.isascii() or not given.isprintable() or given != given.strip() or len(given) > 255:
        raise ValueError("An idempotency key has 1 to 255 printable ASCII characters, and no space at its ends")
    return given


def quoted_key(key: str) -> str:
    """As it stands in the header: in quotes where a bare one could be taken for two, or for a quoted one."""
    if "," not in key and not key.startswith('"'):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
