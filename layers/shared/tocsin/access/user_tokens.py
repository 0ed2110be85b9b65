"""Tokens for browsers (JWT, HS256): short-lived, for the inbox of one user of one tenant. Pure."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

_HEADER = {"alg": "HS256", "typ": "JWT"}
_AUDIENCE = "tocsin-inbox"
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Person:
    tenant_id: UUID
    user_id: UUID


def looks_like(presented: str) -> bool:
    """Whether this can be a token at all; API keys have another shape."""
    return presented.startswith("eyJ") and presented.count(".") == 2


def sign(person: Person, secret: bytes, *, now: datetime, expires_at: datetime) -> str:
    claims = {
        "aud": _AUDIENCE,
        "tenant": str(person.tenant_id),
        "sub": str(person.user_id),
        "iat": int(now.timestamp()),
        "exp": int(expires_at.timestamp()),
    }
    content = f"{_encode(_dumped(_HEADER))}.{_encode(_dumped(claims))}"
    return f"{content}.{_encode(_mac(content, secret))}"


def verify(token: str, secrets: Iterable[bytes], *, now: datetime) -> Person | None:
    """Whose token this is, or None for every reason alike: not ours, altered, for something else, or run out. One of the secrets
    signed it; none is looked at after that one."""
    if len(token) > _LONGEST or not token.isascii() or not looks_like(token):
        return None
    content, _, signature = token.rpartition(".")
    header, _, body = content.partition(".")
    try:
        shown = _decode(signature)
        if not any(hmac.compare_digest(shown, _mac(content, secret)) for secret in secrets):
            return None
        claims = json.loads(_decode(body))
        if json.loads(_decode(header)) != _HEADER or claims["aud"] != _AUDIENCE or now.timestamp() >= claims["exp"]:
            return None
        return Person(UUID(claims["tenant"]), UUID(claims["sub"]))
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return None


def _mac(content: str, secret: bytes) -> bytes:
    return hmac.new(secret, content.encode(), hashlib.sha256).digest()


def _dumped(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(text: str) -> bytes:
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _encode(raw) != text:  # the last character has bits that nothing reads: one spelling is enough
        raise ValueError("not the canonical spelling")
    return raw
