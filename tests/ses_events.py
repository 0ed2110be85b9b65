"""SES's events as event publishing writes them and SNS passes them on: about an attempt of ours, or about nobody's."""

import json
from datetime import UTC, datetime
from typing import Any

from tocsin.feedback.ses_events import read_queue_message
from tocsin.store.rows import ProviderEvent

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOMEONE = {"emailAddress": "alice@example.com"}

# What SES has to tell, by a name of ours: its own name for it, and what that part of the event says.
NEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "send": ("Send", {}),
    "delivery": ("Delivery", {"recipients": [SOMEONE["emailAddress"]], "smtpResponse": "250 ok", "processingTimeMillis": 7}),
    "delay": ("DeliveryDelay", {"delayType": "MailboxFull", "delayedRecipients": [SOMEONE]}),
    "hard bounce": ("Bounce", {"bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": [SOMEONE]}),
    "soft bounce": ("Bounce", {"bounceType": "Transient", "bounceSubType": "MailboxFull", "bouncedRecipients": [SOMEONE]}),
    "odd bounce": ("Bounce", {"bounceType": "Undetermined", "bounceSubType": "Undetermined", "bouncedRecipients": [SOMEONE]}),
    "complaint": ("Complaint", {"complaintFeedbackType": "abuse", "complainedRecipients": [SOMEONE]}),
    "bare complaint": ("Complaint", {"complainedRecipients": [SOMEONE]}),
    "reject": ("Reject", {"reason": "Bad content"}),
    "open": ("Open", {"userAgent": "a mail program", "ipAddress": "192.0.2.1"}),
    "click": ("Click", {"link": "https://example.com/"}),
    "rendering failure": ("Rendering Failure", {"errorMessage": "Attribute 'name' is not present", "templateName": "x"}),
    "subscription": ("Subscription", {"contactList": "x", "source": "UnsubscribeHeader"}),
}
_HAVE_NO_TIME = ("Send", "Reject", "Rendering Failure")
_HAVE_AN_ID = ("Bounce", "Complaint")


def event(news: str, tags: dict[str, str], *, message_id: str = "m-1", at: datetime = NOON) -> dict[str, Any]:
    """The same arguments make the same event, as a redelivery would bring it."""
    kind, words = NEWS[news]
    part = dict(words)
    if kind not in _HAVE_NO_TIME:
        part["timestamp"] = written(at)
    if kind in _HAVE_AN_ID:
        part["feedbackId"] = f"{message_id}-{news}-{at.isoformat()}"
    mail = {
        "timestamp": written(at),
        "source": "tocsin@example.com",
        "sendingAccountId": "000000000000",
        "messageId": message_id,
        "destination": [SOMEONE["emailAddress"]],
        "tags": {"ses:configuration-set": ["tocsin"], **{name: [value] for name, value in tags.items()}},
    }
    name = "failure" if kind == "Rendering Failure" else kind[0].lower() + kind[1:]
    return {"eventType": kind, "mail": mail, name: part}


def tags_of(attempt: dict[str, Any]) -> dict[str, str]:
    """The tags that an attempt's message carries, from its row."""
    return {
        "tocsin_route": f"{attempt['notification_id']}_{attempt['route_id']}",
        "tocsin_attempt": f"{attempt['generation']}-{attempt['attempt_no']}",
    }


def through_sns(content: dict[str, Any]) -> str:
    """The body of the queue's message: SNS's envelope, as the subscription without raw delivery has it."""
    return json.dumps(
        {
            "Type": "Notification",
            "MessageId": "6f6c0b0a-0000-5000-8000-000000000001",
            "TopicArn": "arn:aws:sns:eu-west-1:000000000000:tocsin-feedback",
            "Subject": "Amazon SES Email Event Notification",
            "Message": json.dumps(content),
            "Timestamp": written(NOON),
            "SignatureVersion": "1",
            "Signature": "c2lnbmF0dXJl",
        }
    )


def heard(news: str, attempt: dict[str, Any], **how: Any) -> ProviderEvent:
    """The event about an attempt, read as the feedback function reads it."""
    return read_queue_message(through_sns(event(news, tags_of(attempt), **how)))


def written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
