"""A claimed delivery as the gate sees it; a test says only what is special about its own."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tocsin.store.lanes import Lane
from tocsin.store.outbox import Claimed

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=15)


def a_claim(**special: Any) -> Claimed:
    """A first claim of an email to alice, due and well, with nothing in its way."""
    ordinary: dict[str, Any] = {
        "outbox_id": UUID(int=1),
        "source_kind": "deliver",
        "tenant_id": UUID(int=2),
        "notification_id": UUID(int=3),
        "claimed_at": NOW,
        "claim_count": 1,
        "attempt_count": 0,
        "max_attempts": 5,
        "retry_backoff": "exponential",
        "retry_base_ms": 5_000,
        "notification_type": "order.shipped",
        "mode": "live",
        "audience_kind": "users",
        "audience": None,
        "payload": {"title": "Shipped"},
        "channels": None,
        "template": None,
        "expires_at": None,
        "cancelled_at": None,
        "ambiguous_policy": None,
        "is_transactional": True,
        "priority": "normal",
        "thread_kind": None,
        "thread_id": None,
        "route_id": "email-alice",
        "generation": 1,
        "channel": "email",
        "status": "pending",
        "recipient_ref": "user:alice",
        "user_id": UUID(int=5),
        "audience_reason": "",
        "email": "alice@example.com",
        "phone": "+14155550100",
        "device_id": UUID(int=4),
        "device_platform": "fcm",
        "device_token": "tok",
        "device_endpoint_arn": None,
        "device_enabled": True,
        "suppressed_by": None,
        "is_wanted": True,
        "frequency_cap": None,
        "cap_is_of_type": False,
        "cap_timezone": None,
        "listed_recipients": 1,
        "quiet_start": None,
        "quiet_end": None,
        "quiet_timezone": None,
        "template_id": None,
        "template_version": None,
        "template_locale": None,
        "template_subject": None,
        "template_body": None,
        "template_text": None,
        "duplicate_suspected": False,
        "attempt_open": False,
        "last_attempt_no": 0,
        "open_attempt_no": None,
        "open_attempt_started_at": None,
        "open_attempt_outcome": None,
        "open_attempt_provider": None,
        "open_attempt_message_id": None,
        "waits_for": None,
        "created_at": NOW,
    }
    return Claimed(**(ordinary | special))


def unanswered(since: timedelta, **special: Any) -> Claimed:
    """A claim of a delivery whose second attempt was opened so long ago and never answered."""
    silence: dict[str, Any] = {
        "attempt_open": True,
        "attempt_count": 2,
        "last_attempt_no": 2,
        "open_attempt_no": 2,
        "open_attempt_started_at": NOW - since,
        "open_attempt_provider": "ses",
    }
    return a_claim(**(silence | special))


def a_lane(name: str = "ses:email", *, is_closed: bool = True, state: str = "stopped", **special: Any) -> Lane:
    resume_at = NOW + timedelta(minutes=5 if is_closed else -1)
    return Lane(name, state, "AccountSuspendedException", resume_at, is_closed, NOW, **special)
