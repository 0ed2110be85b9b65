"""Dead letters as they are shown: what died, why, what was tried, and what became of a replay."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api import attempts, webhook_deliveries
from tocsin.api.attempts import Attempt
from tocsin.api.webhook_deliveries import ShownWebhookDelivery
from tocsin.api.words import WORK_KINDS, Backoff, Mode, Priority, Resolution, TemplateRef
from tocsin.dead_letters.detail import LetterDetail
from tocsin.http.answers import one_of
from tocsin.store.dead_letters import Cause

SOURCES = (*WORK_KINDS, "replay")
SourceKind = Annotated[str, one_of(*SOURCES)]


class DeadLetter(TypedDict):
    """What automation gave up on, and why. `channel`, `route_id` and `recipient` are empty where it was not about a message."""

    id: UUID
    source_kind: SourceKind
    notification_id: UUID | None
    route_id: str | None
    generation: int
    channel: str
    final_attempt_count: int
    max_attempts: int
    provider: str
    provider_code: str
    recovery_hint: str
    trigger_id: UUID | None
    handler_id: UUID | None
    first_attempt_at: datetime | None
    last_attempt_at: datetime | None
    created_at: datetime
    resolution: Resolution | None
    resolved_at: datetime | None
    resolution_reason: str
    type: str
    recipient: str
    classification: str
    failure_message: str
    template: TemplateRef | None
    resolved_by: str | None


class DeadWork(TypedDict):
    """The work that died."""

    id: UUID
    queue: str
    priority: Any
    payload: Any
    retry_backoff: Backoff
    retry_base_ms: int
    principal_id: UUID | None
    trigger_depth: int


class LetterNotification(TypedDict):
    """The notification that a dead letter is about."""

    type: str
    notification_id: UUID
    producer: str
    mode: Mode
    priority: Priority
    accepted_at: datetime
    send_at: datetime | None
    expires_at: datetime | None
    cancelled_at: datetime | None


class ReplayObstacle(TypedDict):
    """Why a dead letter cannot be replayed just now."""

    reason: str
    detail: str


class LetterReplay(TypedDict):
    """What became of a replay."""

    work_id: UUID
    generation: int
    status: str
    dead_letter_id: UUID | None


class DeadLetterDetail(DeadLetter):
    """A dead letter with its retry history, and what became of its replay."""

    attempts: list[Attempt]
    work: DeadWork
    notification: LetterNotification | None
    delivery: ShownWebhookDelivery | None
    obstacle: ReplayObstacle | None
    second_copy_possible: bool
    replay: LetterReplay | None


class DeadLetterGroup(TypedDict):
    """Unresolved dead letters that died of the same."""

    source_kind: SourceKind
    channel: str
    classification: str
    provider: str
    provider_code: str
    template: str | None
    template_version: int | None
    count: int
    first_seen_at: datetime
    last_seen_at: datetime
    example_id: UUID
    recovery_hint: str


def group(cause: Cause) -> DeadLetterGroup:
    return {
        "source_kind": cause.source_kind,
        "channel": cause.channel,
        "classification": cause.classification,
        "provider": cause.provider,
        "provider_code": cause.provider_code,
        "template": cause.template,
        "template_version": cause.template_version,
        "count": cause.count,
        "first_seen_at": cause.first_seen_at,
        "last_seen_at": cause.last_seen_at,
        "example_id": cause.example_id,
        "recovery_hint": cause.recovery_hint,
    }


def summary(row: dict[str, Any]) -> DeadLetter:
    template: TemplateRef = {"id": row["template_id"], "name": row["template_name"], "version": row["template_version"]}
    return {
        "id": row["id"],
        "source_kind": row["source_kind"],
        "notification_id": row["notification_id"],
        "route_id": row["route_id"],
        "generation": row["generation"],
        "channel": row["channel"],
        "final_attempt_count": row["final_attempt_count"],
        "max_attempts": row["max_attempts"],
        "provider": row["provider"],
        "provider_code": row["provider_code"],
        "recovery_hint": row["recovery_hint"],
        "trigger_id": row["trigger_id"],
        "handler_id": row["handler_id"],
        "first_attempt_at": row["first_attempt_at"],
        "last_attempt_at": row["last_attempt_at"],
        "created_at": row["created_at"],
        "resolution": row["resolution"],
        "resolved_at": row["resolved_at"],
        "resolution_reason": row["resolution_reason"],
        "type": row["notification_type"],
        "recipient": row["recipient_ref"],
        "classification": row["failure_classification"],
        "failure_message": row["failure_message"],
        "template": template if row["template_id"] else None,
        "resolved_by": f"key:{row['resolved_by']}" if row["resolved_by"] else None,
    }


def detail(found: LetterDetail) -> DeadLetterDetail:
    letter, obstacle, replayed = found.letter, found.obstacle, found.replay
    return {
        **summary(letter),
        "attempts": [attempts.shown(attempt) for attempt in found.attempts],
        "work": {
            "id": letter["outbox_id"],
            "queue": letter["queue"],
            "priority": letter["priority"],
            "payload": letter["payload"],
            "retry_backoff": letter["retry_backoff"],
            "retry_base_ms": letter["retry_base_ms"],
            "principal_id": letter["principal_id"],
            "trigger_depth": letter["trigger_depth"],
        },
        "notification": _notification(found.record) if found.record else None,
        "delivery": webhook_deliveries.shown(found.delivery) if found.delivery else None,
        "obstacle": {"reason": obstacle.reason, "detail": obstacle.detail} if obstacle else None,
        "second_copy_possible": found.in_doubt,
        "replay": {
            "work_id": replayed.work_id,
            "generation": replayed.generation,
            "status": replayed.status,
            "dead_letter_id": replayed.dead_letter_id,
        }
        if replayed
        else None,
    }


def _notification(record: dict[str, Any]) -> LetterNotification:
    return {
        "type": record["notification_type"],
        "notification_id": record["notification_id"],
        "producer": record["producer"],
        "mode": record["mode"],
        "priority": record["priority"],
        "accepted_at": record["accepted_at"],
        "send_at": record["send_at"],
        "expires_at": record["expires_at"],
        "cancelled_at": record["cancelled_at"],
    }
