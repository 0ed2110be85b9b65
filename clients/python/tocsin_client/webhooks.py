"""The receiving side of status webhooks: is this message one that Tocsin has just signed (Standard Webhooks 1.0.0)?"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tocsin_client.problems import WebhookRefused

_PREFIX = "whsec_"


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """A message that verified. `id` is the same for every try: remember it, and take each once."""

    id: str
    type: str
    data: Mapping[str, Any]
    signed_at: datetime


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> WebhookMessage:
    """The message, or `WebhookRefused`.

    `body` is what came, byte for byte. `secret` may be several, while one follows another: any of them will do. A message that
    was signed more than `tolerance` seconds from `now` (in seconds since 1970) is refused: an old one cannot be played again.
    """
    keys = [_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("There is no secret to verify with")
    content = body.encode() if isinstance(body, str) else bytes(body)
    found = {str(name).lower(): str(value) for name, value in headers.items()}
    message_id, timestamp = _header(found, "webhook-id"), _header(found, "webhook-timestamp")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookRefused("The header webhook-timestamp is not a number of seconds")
    shown = [one.encode() for one in _header(found, "webhook-signature").split()]
    signed = b".".join((message_id.encode(), timestamp.encode(), content))
    agree = [hmac.compare_digest(_signature(key, signed), one) for key in keys for one in shown]  # each, whichever fits
    if not any(agree):
        raise WebhookRefused("No signature of the message is one of the secret's")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookRefused("The message was signed too long ago, or the clocks differ")
    return _message(message_id, int(timestamp), content)


def _message(message_id: str, timestamp: int, content: bytes) -> WebhookMessage:
    try:
        told = json.loads(content)
        return WebhookMessage(message_id, told["type"], told["data"], datetime.fromtimestamp(timestamp, UTC))
    except (ValueError, LookupError, TypeError):
        raise WebhookRefused("The message is signed, and yet not one of Tocsin's") from None


def _signature(key: bytes, signed: bytes) -> bytes:
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def _header(headers: Mapping[str, str], name: str) -> str:
    if not headers.get(name):
        raise WebhookRefused(f"The header {name} is missing")
    return headers[name]


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ValueError("A secret is `whsec_` and Base64, as it was shown when the webhook was made")
    return key
