"""Standard Webhooks 1.0.0: the headers by which a receiver knows a message, its time, and that it is ours. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from uuid import UUID

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret begins with


def spell_secret(key: bytes) -> str:
    return SECRET_PREFIX + base64.b64encode(key).decode()


def message_id_of(value: UUID) -> str:
    """`webhook-id`: the same for every try and every redelivery of one event."""
    return f"msg_{value.hex}"


def signed_headers(message_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """One signature for each secret: after a rotation a receiver may still know the one before."""
    signatures = " ".join(signature(message_id, timestamp, body, secret) for secret in secrets)
    return {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signatures}


def signature(message_id: str, timestamp: int, body: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"
