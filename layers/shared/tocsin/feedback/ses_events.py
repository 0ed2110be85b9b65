"""What providers tell us later, read into one shape. Nothing here believes anything yet. Pure."""

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from tocsin.foundation.ids import as_uuid
from tocsin.store.rows import Named, ProviderEvent

_SES_KINDS = {
    "Send": "none",
    "Delivery": "delivered",
    "DeliveryDelay": "delayed",
    "Reject": "hard_bounced",
    "Complaint": "complained",
}
_RECIPIENTS = {
    "Bounce": "bouncedRecipients",
    "Complaint": "complainedRecipients",
    "DeliveryDelay": "delayedRecipients",
    "Delivery": "recipients",
}
MOST_RECIPIENTS = 50
_ROUTE = re.compile(r"(?P<notification>[0-9a-f-]{36})_(?P<route>[A-Za-z0-9_-]{1,200})")
_ATTEMPT = re.compile(r"(?P<generation>\d{1,4})-(?P<attempt>\d{1,4})")


class Unreadable(ValueError):
    """The message is not an event of a provider. It is logged and forgotten."""


def read_queue_message(body: str) -> ProviderEvent:
    """An SES event as it comes through SNS to the queue: in SNS's envelope, or raw."""
    try:
        value = json.loads(body)
        if isinstance(value, dict) and value.get("Type") == "Notification":
            value = json.loads(value["Message"])
        return _ses(value)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise Unreadable(type(error).__name__) from None


def _ses(event: dict[str, Any]) -> ProviderEvent:
    kind = event.get("eventType") or event["notificationType"]
    mail = event["mail"]
    if not isinstance(kind, str) or not isinstance(mail["messageId"], str):
        raise ValueError("not an event")
    part = event.get(kind[0].lower() + kind[1:]) or {}
    feedback, suppresses, detail = _SES_KINDS.get(kind, "none"), False, ""
    if kind == "Bounce":
        is_hard = part.get("bounceType") == "Permanent"
        feedback, suppresses = ("hard_bounced", True) if is_hard else ("soft_bounced", False)
        detail = f"{part.get('bounceType', '')} {part.get('bounceSubType', '')}".strip()
    elif kind == "Complaint":
        suppresses, detail = True, str(part.get("complaintFeedbackType") or "")
    elif kind in ("DeliveryDelay", "Reject"):
        detail = str(part.get("delayType") or part.get("reason") or "")
    occurred_at = _moment(part.get("timestamp") or mail["timestamp"])
    recipients = _recipients(kind, part)
    written_to = mail.get("destination")
    copied = recipients if isinstance(written_to, list) and len(written_to) > 1 else ()  # each may have its own, at one instant
    words = "|".join(("ses", mail["messageId"], kind, occurred_at.isoformat(), str(part.get("feedbackId", "")), *copied))
    return ProviderEvent(
        key=hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest(),
        provider="ses",
        kind=_clean(kind.lower(), 30),
        feedback=feedback,
        suppresses=suppresses,
        provider_message_id=_clean(mail["messageId"], 200),
        named=_named(mail.get("tags") or {}),
        detail=_clean(detail, 200),
        occurred_at=occurred_at,
        recipients=recipients,
    )


def _recipients(kind: str, part: dict[str, Any]) -> tuple[str, ...]:
    """Whom it is about: a mail with copies has an event of its own for some of them."""
    listed = part.get(_RECIPIENTS.get(kind, "")) or []
    found = (one.get("emailAddress") if isinstance(one, dict) else one for one in listed if isinstance(listed, list))
    return tuple(_clean(one, 320).lower() for one in found if isinstance(one, str))[:MOST_RECIPIENTS]


def _named(tags: dict[str, Any]) -> Named | None:
    route = _ROUTE.fullmatch(_first(tags.get("tocsin_route")))
    attempt = _ATTEMPT.fullmatch(_first(tags.get("tocsin_attempt")))
    notification_id = as_uuid(route["notification"]) if route else None
    if route is None or attempt is None or notification_id is None:
        return None
    return Named(notification_id, route["route"], int(attempt["generation"]), int(attempt["attempt"]))


def _first(value: Any) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _clean(text: str, limit: int) -> str:
    """What the database can hold: no NUL, no half of a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()[:limit]
