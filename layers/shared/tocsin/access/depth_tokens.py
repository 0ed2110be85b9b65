"""Tokens that say how many triggers led here; whoever we call hands them back, so that a loop through HTTP ends. Pure."""

import base64
import hashlib
import hmac
import re
from uuid import UUID

HEADER = "Tocsin-Trigger-Depth"
_TOKEN = re.compile(r"(0|[1-9][0-9]{0,4})\.([A-Za-z0-9_-]{22})")
_MAC = 16


def sign(depth: int, tenant_id: UUID, secret: bytes) -> str:
    return f"{depth}.{_mac(depth, tenant_id, secret)}"


def verify(token: str, tenant_id: UUID, secret: bytes) -> int | None:
    """The depth, or None where the token is not one that this tenant was given."""
    match = _TOKEN.fullmatch(token)
    if match is None or not hmac.compare_digest(match[2], _mac(int(match[1]), tenant_id, secret)):
        return None
    return int(match[1])


def _mac(depth: int, tenant_id: UUID, secret: bytes) -> str:
    raw = hmac.new(secret, f"trigger-depth|{tenant_id}|{depth}".encode(), hashlib.sha256).digest()[:_MAC]
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
