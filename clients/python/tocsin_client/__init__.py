"""The Python client of Tocsin. It speaks HTTP only and imports nothing of the service.

client, async_client   `Tocsin` and `AsyncTocsin`: they move bytes and wait, and decide nothing
methods                how a call becomes a method of both
calls, listings        what can be asked: each call is a request, and how its answer is read
conversation           one call, from its first try to its answer or its end
retries                what is tried again, and when
problems               what can go wrong, as exceptions
audience, intent       whom it is for, and what is sent
receipts, notifications, people, remarks   the answers
reasons                what the reasons of routes mean
webhooks               `verify_webhook`, for the receiving side
request, wire, transport, settings, version
"""

from tocsin_client.async_client import AsyncTocsin
from tocsin_client.audience import Address, Everyone, Scope, Thread
from tocsin_client.client import Tocsin
from tocsin_client.intent import Intent
from tocsin_client.notifications import Attempt, Explanation, Notification, Route, Step
from tocsin_client.people import Erasure, User, UserToken
from tocsin_client.problems import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotConfigured,
    NotFound,
    Problem,
    RateLimited,
    TocsinError,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    WebhookRefused,
)
from tocsin_client.receipts import BatchResult, Cancelled, EventReceipt, Receipt
from tocsin_client.remarks import Remark
from tocsin_client.request import Answer
from tocsin_client.retries import Retries
from tocsin_client.version import __version__
from tocsin_client.webhooks import WebhookMessage, verify_webhook

__all__ = [
    "Address",
    "Answer",
    "AsyncTocsin",
    "Attempt",
    "BatchResult",
    "Cancelled",
    "Conflict",
    "ConnectionFailed",
    "Erasure",
    "EventReceipt",
    "Everyone",
    "Explanation",
    "Forbidden",
    "Intent",
    "InvalidRequest",
    "NotConfigured",
    "NotFound",
    "Notification",
    "Problem",
    "RateLimited",
    "Receipt",
    "Remark",
    "Retries",
    "Route",
    "Scope",
    "Step",
    "Thread",
    "Tocsin",
    "TocsinError",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "User",
    "UserToken",
    "WebhookMessage",
    "WebhookRefused",
    "__version__",
    "verify_webhook",
]
