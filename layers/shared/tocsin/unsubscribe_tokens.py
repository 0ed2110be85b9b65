"""Tokens for one-click unsubscribe: they name a tenant, an address (by its hash) and a type, and cannot be forged."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from uuid import UUID

_MAC = 16


@dataclass(frozen=True, slots=True)
class Subject:
    tenant_id: UUID
    address_hash: bytes
    notification_type: str


def address_hash(tenant_id: UUID, channel: str, address: str) -> bytes:
    """The same as tocsin_address_hash in SQL."""
    return hashlib.sha256(f"{tenant_id}|{channel}|{address.lower()}".encode()).digest()


def sign(subject: Subject, secret: bytes) -> str:
    content = subject.tenant_id.bytes + subject.address_hash + subject.notification_type.encode()
    return base64.urlsafe_b64encode(content + _mac(content, secret)).decode().rstrip("=")


def verify(token: str, secret: bytes) -> Subject | None:
    """Whom the token speaks for, or None when it is not ours."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        content, mac = raw[:-_MAC], raw[-_MAC:]
        if len(token) > 1_000 or len(content) < 49 or not hmac.compare_digest(mac, _mac(content, secret)):
            return None
        return Subject(UUID(bytes=content[:16]), content[16:48], content[48:].decode())
    except (ValueError, binascii.Error):
        return None


def _mac(content: bytes, secret: bytes) -> bytes:
    return hmac.new(secret, b"unsubscribe|" + content, hashlib.sha256).digest()[:_MAC]
