"""Tokens for one-click unsubscribe: from a type, at an address (by its hash), or from a thread. They cannot be forged. Pure."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

_MAC = 16


@dataclass(frozen=True, slots=True)
class Subject:
    tenant_id: UUID
    address_hash: bytes
    notification_type: str


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    tenant_id: UUID
    user_id: UUID
    thread_kind: str
    thread_id: str


def address_hash(tenant_id: UUID, channel: str, address: str) -> bytes:
    """The same as tocsin_address_hash in SQL."""
    return hashlib.sha256(f"{tenant_id}|{channel}|{address.lower()}".encode()).digest()


def sign(subject: Subject, secret: bytes) -> str:
    content = subject.tenant_id.bytes + subject.address_hash + subject.notification_type.encode()
    return base64.urlsafe_b64encode(content + _mac(content, secret)).decode().rstrip("=")


def sign_thread(subject: ThreadSubject, secret: bytes) -> str:
    thread = json.dumps([subject.thread_kind, subject.thread_id], ensure_ascii=False, separators=(",", ":")).encode()
    content = subject.tenant_id.bytes + subject.user_id.bytes + thread
    return base64.urlsafe_b64encode(content + _mac(content, secret, b"thread")).decode().rstrip("=")


def verify(token: str, secrets: Iterable[bytes]) -> Subject | ThreadSubject | None:
    """What the token speaks of, or None when none of the secrets signed it."""
    try:
        if len(token) > 4_000:
            return None
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        content, mac = raw[:-_MAC], raw[-_MAC:]
        for secret in secrets:
            if hmac.compare_digest(mac, _mac(content, secret)):
                return Subject(UUID(bytes=content[:16]), content[16:48], content[48:].decode())
            if hmac.compare_digest(mac, _mac(content, secret, b"thread")):
                kind, thread_id = json.loads(content[32:])
                return ThreadSubject(UUID(bytes=content[:16]), UUID(bytes=content[16:32]), kind, thread_id)
        return None
    except (ValueError, binascii.Error):
        return None


def _mac(content: bytes, secret: bytes, purpose: bytes = b"unsubscribe") -> bytes:
    return hmac.new(secret, purpose + b"|" + content, hashlib.sha256).digest()[:_MAC]
