"""Routes: a notification's way to one recipient on one channel, as notifications and waits show it. Pure."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api import attempts
from tocsin.api.attempts import Attempt
from tocsin.api.words import Resolution, TemplateRef, WayWord
from tocsin.http.answers import one_of

STATUSES = ("pending", "failed", "published", "dead_letter", "skipped", "cancelled")
FEEDBACK = ("none", "delayed", "delivered", "soft_bounced", "hard_bounced", "complained")


class RouteError(TypedDict):
    """Why the last try failed."""

    classification: str
    message: str
    at: datetime


class RouteLetter(TypedDict):
    """The dead letter of a route."""

    id: UUID
    recovery_hint: str
    resolution: Resolution | None


class NotificationRoute(TypedDict):
    """The way to one recipient on one channel, and what became of it."""

    route_id: str
    channel: WayWord
    status: Annotated[str, one_of(*STATUSES)]
    reason: str
    audience_reason: str | None
    attempt_count: int
    max_attempts: int
    generation: int
    provider: str
    provider_message_id: str
    provider_response: str
    feedback: Annotated[str, one_of(*FEEDBACK)]
    feedback_at: datetime | None
    duplicate_suspected: bool
    may_have_arrived: bool
    next_attempt_at: datetime | None
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    dead_lettered_at: datetime | None
    skipped_at: datetime | None
    cancelled_at: datetime | None
    recipient: str
    template: TemplateRef | None
    answer_unknown: bool
    last_error: RouteError | None
    dead_letter: RouteLetter | None
    attempts: list[Attempt]


def shown(route: dict[str, Any], its_attempts: list[dict[str, Any]]) -> NotificationRoute:
    return {
        "route_id": route["route_id"],
        "channel": route["channel"],
        "status": route["status"],
        "reason": route["reason"],
        "audience_reason": route["audience_reason"],
        "attempt_count": route["attempt_count"],
        "max_attempts": route["max_attempts"],
        "generation": route["generation"],
        "provider": route["provider"],
        "provider_message_id": route["provider_message_id"],
        "provider_response": route["provider_response"],
        "feedback": route["feedback"],
        "feedback_at": route["feedback_at"],
        "duplicate_suspected": route["duplicate_suspected"],
        "may_have_arrived": route["may_have_arrived"],
        "next_attempt_at": route["next_attempt_at"],
        "created_at": route["created_at"],
        "updated_at": route["updated_at"],
        "published_at": route["published_at"],
        "dead_lettered_at": route["dead_lettered_at"],
        "skipped_at": route["skipped_at"],
        "cancelled_at": route["cancelled_at"],
        "recipient": route["recipient_ref"],
        "template": {"id": route["template_id"], "name": route["template_name"], "version": route["template_version"]}
        if route["template_id"]
        else None,
        "answer_unknown": bool(route["attempt_open"]),
        "last_error": {
            "classification": route["last_error_classification"],
            "message": route["last_error_message"],
            "at": route["last_error_at"],
        }
        if route["last_error_at"]
        else None,
        "dead_letter": {
            "id": route["dead_letter_id"],
            "recovery_hint": route["recovery_hint"],
            "resolution": route["resolution"],
        }
        if route["dead_letter_id"]
        else None,
        "attempts": [attempts.shown(attempt) for attempt in its_attempts if attempt["route_id"] == route["route_id"]],
    }
