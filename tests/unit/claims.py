"""A claimed delivery as the gate sees it; a test says only what is special about its own."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tocsin.store.rows import (
    Delivery,
    Lane,
    OpenAttempt,
    PinnedTemplate,
    PushDevice,
    Record,
    Route,
    Wishes,
    Work,
)

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=15)


WORK = Work(
    id=UUID(int=1),
    source_kind="deliver",
    tenant_id=UUID(int=2),
    notification_id=UUID(int=3),
    route_id="email-alice",
    generation=1,
    payload=None,
    claimed_at=NOW,
    claim_count=1,
    attempt_count=0,
    max_attempts=5,
    retry_backoff="exponential",
    retry_base_ms=5_000,
    attempt_open=False,
    last_attempt_no=0,
    waits_for=None,
    reply_to=None,
    principal_id=None,
    trigger_depth=0,
    created_at=NOW,
)
RECORD = Record(
    notification_id=UUID(int=3),
    notification_type="order.shipped",
    mode="live",
    audience_kind="users",
    payload={"title": "Shipped"},
    expires_at=None,
    cancelled_at=None,
    priority="normal",
    thread_kind=None,
    thread_id=None,
    ambiguous_policy=None,
    is_transactional=True,
    over_sending_limit=None,
    over_sending_window_seconds=None,
)
ROUTE = Route(
    route_id="email-alice",
    channel="email",
    status="pending",
    user_id=UUID(int=5),
    audience_reason="",
    email="alice@example.com",
    phone="+14155550100",
    locale="",
    duplicate_suspected=False,
    suppressed_by=None,
)
DEVICE = PushDevice(id=UUID(int=4), platform="fcm", token="tok", endpoint_arn=None, enabled=True)
WISHES = Wishes(
    is_wanted=True,
    frequency_cap=None,
    cap_is_of_type=False,
    cap_timezone=None,
    quiet_start=None,
    quiet_end=None,
    quiet_timezone=None,
)
_PARTS: dict[str, Any] = {"work": WORK, "record": RECORD, "route": ROUTE, "wishes": WISHES}


def a_claim(
    *,
    device: PushDevice | None = DEVICE,
    template: PinnedTemplate | None = None,
    open_attempt: OpenAttempt | None = None,
    **special: Any,
) -> Delivery:
    """A first claim of an email to alice, due and well, with nothing in its way. What is special goes to the part that has it."""
    unknown = set(special).difference(*(part._fields for part in _PARTS.values()))
    assert not unknown, f"no part of a delivery has {unknown}"
    parts: dict[str, Any] = {
        name: part._replace(**{field: special[field] for field in part._fields if field in special})
        for name, part in _PARTS.items()
    }
    return Delivery(**parts, device=device, template=template, open_attempt=open_attempt)


def unanswered(since: timedelta, *, outcome: str | None = None, message_id: str = "", **special: Any) -> Delivery:
    """A claim of a delivery whose second attempt was opened so long ago and never answered."""
    silence: dict[str, Any] = {
        "attempt_open": True,
        "attempt_count": 2,
        "last_attempt_no": 2,
        "open_attempt": OpenAttempt(2, NOW - since, outcome, "ses", message_id),
    }
    return a_claim(**(silence | special))


def a_lane(name: str = "ses:email", *, is_closed: bool = True, state: str = "stopped", **special: Any) -> Lane:
    resume_at = NOW + timedelta(minutes=5 if is_closed else -1)
    return Lane(name, state, "AccountSuspendedException", resume_at, is_closed, NOW, **special)
