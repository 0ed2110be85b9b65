"""Tokens in the links of a mail: out of a type (at an address, by its hash) or a thread, and to a person's preferences. Pure.

They cannot be forged, and each kind is signed for a purpose of its own, so that none passes as another."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

_MAC = 16
_LONGEST = 4_000
_TYPE, _TYPE_OF_USER, _THREAD, _PREFERENCES = b"unsubscribe", b"unsubscribe-user", b"thread", b"preferences"


@dataclass(frozen=True, slots=True)
class Subject:
    tenant_id: UUID
    address_hash: bytes
    notification_type: str
    user_id: UUID | None = None  # nobody's where the mail went to a bare address, or is older than this field


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    tenant_id: UUID
    user_id: UUID
    thread_kind: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class PreferencesSubject:
    tenant_id: UUID
    user_id: UUID


def address_hash(tenant_id: UUID, channel: str, address: str) -> bytes:
    """The same as tocsin_address_hash in SQL."""
    return hashlib.sha256(f"{tenant_id}|{channel}|{address.lower()}".encode()).digest()


def sign(subject: Subject, secret: bytes) -> str:
    kind = subject.notification_type.encode()
    if subject.user_id is None:
        return _signed(subject.tenant_id.bytes + subject.address_hash + kind, secret, _TYPE)
    return _signed(subject.tenant_id.bytes + subject.address_hash + subject.user_id.bytes + kind, secret, _TYPE_OF_USER)


def sign_thread(subject: ThreadSubject, secret: bytes) -> str:
    thread = json.dumps([subject.thread_kind, subject.thread_id], ensure_ascii=False, separators=(",", ":")).encode()
    return _signed(subject.tenant_id.bytes + subject.user_id.bytes + thread, secret, _THREAD)


def sign_preferences(subject: PreferencesSubject, secret: bytes) -> str:
    return _signed(subject.tenant_id.bytes + subject.user_id.bytes, secret, _PREFERENCES)


def verify(token: str, secrets: Iterable[bytes]) -> Subject | ThreadSubject | None:
    """What the token unsubscribes from, or None when none of the secrets signed it for that."""
    content, purpose = _opened(token, secrets, (_TYPE_OF_USER, _TYPE, _THREAD))
    tenant_id, rest = content[:16], content[16:]
    try:
        if purpose == _TYPE_OF_USER:
            return Subject(UUID(bytes=tenant_id), rest[:32], rest[48:].decode(), UUID(bytes=rest[32:48]))
        if purpose == _TYPE:
            return Subject(UUID(bytes=tenant_id), rest[:32], rest[32:].decode())
        if purpose == _THREAD:
            kind, thread_id = json.loads(rest[16:])
            return ThreadSubject(UUID(bytes=tenant_id), UUID(bytes=rest[:16]), kind, thread_id)
    except ValueError:
        pass
    return None


def verify_preferences(token: str, secrets: Iterable[bytes]) -> PreferencesSubject | None:
    """Whose preferences the token opens, or None when none of the secrets signed it for that."""
    content, purpose = _opened(token, secrets, (_PREFERENCES,))
    if purpose is None or len(content) != 32:
        return None
    return PreferencesSubject(UUID(bytes=content[:16]), UUID(bytes=content[16:]))


def _signed(content: bytes, secret: bytes, purpose: bytes) -> str:
    return base64.urlsafe_b64encode(content + _mac(content, secret, purpose)).decode().rstrip("=")


def _opened(token: str, secrets: Iterable[bytes], purposes: tuple[bytes, ...]) -> tuple[bytes, bytes | None]:
    """What was signed, and for which of the purposes; None for none. Older secrets are asked for only when it takes them."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True) if len(token) <= _LONGEST else b""
    except (ValueError, binascii.Error):
        raw = b""
    content, mac = raw[:-_MAC], raw[-_MAC:]
    for secret in secrets:
        for purpose in purposes:
            if hmac.compare_digest(mac, _mac(content, secret, purpose)):
                return content, purpose
    return content, None


def _mac(content: bytes, secret: bytes, purpose: bytes) -> bytes:
    return hmac.new(secret, purpose + b"|" + content, hashlib.sha256).digest()[:_MAC]
