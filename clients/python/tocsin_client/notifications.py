"""What became of a notification: its routes, each with its reason, and its timeline. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tocsin_client.reasons import meaning
from tocsin_client.request import Answer
from tocsin_client.wire import read_moment, read_moment_or_none

_FEEDBACK = {
    "delayed": "the provider says that it is delayed",
    "delivered": "the provider says that it was delivered",
    "soft_bounced": "the provider says that it bounced, perhaps only for now",
    "hard_bounced": "the provider says that it bounced for good",
    "complained": "the reader complained of it",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call to a provider. `outcome` is None while it is under way."""

    attempt_no: int
    provider: str
    started_at: datetime
    outcome: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Route:
    """One recipient on one channel. `raw` is the whole route as it was answered."""

    route_id: str
    channel: str
    recipient: str
    status: str
    reason: str
    provider: str | None
    provider_message_id: str | None
    feedback: str
    attempt_count: int
    next_attempt_at: datetime | None
    duplicate_suspected: bool
    may_have_arrived: bool
    last_error: str | None
    recovery_hint: str | None
    attempts: tuple[Attempt, ...]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def why(self) -> str:
        """In a line: how it stands with it, and why."""
        parts = [self._standing()]
        if self.status in ("failed", "dead_letter") and self.last_error:
            parts.append(self.last_error)
        if self.next_attempt_at and self.status in ("pending", "failed"):
            parts.append(f"next try at {self.next_attempt_at.isoformat()}")
        parts += [_FEEDBACK[self.feedback]] if self.feedback in _FEEDBACK else []
        parts += ["it may have arrived all the same"] if self.may_have_arrived else []
        parts += ["it may have arrived twice"] if self.duplicate_suspected else []
        parts += [f"what helps: {self.recovery_hint}"] if self.recovery_hint and self.status == "dead_letter" else []
        return "; ".join(parts)

    def _standing(self) -> str:
        if self.status == "published":
            return "published: in the inbox" if self.provider == "inbox" else f"published: accepted by {self.provider}"
        said = f"{self.status}: {self.reason}" if self.reason else self.status
        means = meaning(self.reason) if self.reason else ""
        return f"{said} ({means})" if means else said

    def __str__(self) -> str:
        return f"{self.channel} to {self.recipient}: {self.why}"


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of the timeline. `route_id` is None where it concerns the notification as a whole."""

    at: datetime
    what: str
    reason: str
    route_id: str | None

    def __str__(self) -> str:
        return f"{self.at.isoformat()} {self.what}{': ' if self.reason else ''}{self.reason}"


@dataclass(frozen=True, slots=True)
class Notification:
    """As it stands in a list. `raw` is the whole row as it was answered."""

    notification_id: str
    type: str
    status: str
    producer: str
    mode: str
    accepted_at: datetime
    send_at: datetime | None
    expires_at: datetime | None
    cancelled_at: datetime | None
    route_counts: Mapping[str, int]
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Explanation(Notification):
    """One notification with everything that was decided about it. As text: a line for each route."""

    routes: tuple[Route, ...] = ()
    timeline: tuple[Step, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.type} {self.notification_id}: {self.status}"]
        if letter := self.raw.get("dead_letter"):
            lines.append(f"given up: {letter.get('message')}; what helps: {letter.get('recovery_hint')}")
        return "\n".join([*lines, *(str(route) for route in self.routes)])


def notification_of(row: dict[str, Any]) -> Notification:
    return Notification(**_summary(row))


def read_explanation(answer: Answer) -> Explanation:
    body = answer.json
    return Explanation(
        **_summary(body),
        routes=tuple(route_of(route) for route in body["routes"]),
        timeline=tuple(_step_of(step) for step in body["timeline"]),
    )


def route_of(row: dict[str, Any]) -> Route:
    return Route(
        route_id=row["route_id"],
        channel=row["channel"],
        recipient=row["recipient"],
        status=row["status"],
        reason=row.get("reason") or "",
        provider=row.get("provider"),
        provider_message_id=row.get("provider_message_id"),
        feedback=row.get("feedback") or "none",
        attempt_count=row.get("attempt_count") or 0,
        next_attempt_at=read_moment_or_none(row.get("next_attempt_at")),
        duplicate_suspected=bool(row.get("duplicate_suspected")),
        may_have_arrived=bool(row.get("may_have_arrived")),
        last_error=(row.get("last_error") or {}).get("message"),
        recovery_hint=(row.get("dead_letter") or {}).get("recovery_hint"),
        attempts=tuple(_attempt_of(attempt) for attempt in row.get("attempts", ())),
        raw=row,
    )


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    texts = ("notification_id", "type", "status", "producer", "mode", "route_counts")
    times = ("send_at", "expires_at", "cancelled_at")
    found = {name: row[name] for name in texts} | {name: read_moment_or_none(row.get(name)) for name in times}
    return found | {"accepted_at": read_moment(row["accepted_at"]), "raw": row}


def _attempt_of(row: dict[str, Any]) -> Attempt:
    return Attempt(
        row["attempt_no"], row["provider"], read_moment(row["started_at"]), row.get("outcome"), row.get("error_message")
    )


def _step_of(row: dict[str, Any]) -> Step:
    return Step(read_moment(row["at"]), row["what"], row.get("reason") or "", row.get("route_id"))
