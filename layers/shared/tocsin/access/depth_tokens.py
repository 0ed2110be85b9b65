"""Tokens that say how many triggers led here; whoever we call hands them back, so that a loop through HTTP ends. Pure."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable
from uuid import UUID

HEADER = "Tocsin-Trigger-Depth"
_TOKEN = re.compile(r"(0|[1-9][0-9]{0,4})\.([A-Za-z0-9_-]{22})")
_MAC = 16


def sign(depth: int, tenant_id: UUID, secret: bytes) -> str:
    return f"{depth}.{_mac(depth, tenant_id, secret)}"


def verify(token: str, tenant_id: UUID, secrets: Iterable[bytes]) -> int | None:
    """The depth, or None where the token is not one that this tenant was given, signed with one of the secrets."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    depth = int(match[1])
    return depth if any(hmac.compare_digest(match[2], _mac(depth, tenant_id, secret)) for secret in secrets) else None


def _mac(depth: int, tenant_id: UUID, secret: bytes) -> str:
    raw = hmac.new(secret, f"trigger-depth|{tenant_id}|{depth}".encode(), hashlib.sha256).digest()[:_MAC]
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
