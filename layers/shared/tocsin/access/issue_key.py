"""Issue an API key: made and shown once, rotated with an overlap, revoked; each with its audit row."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit, authenticate, key_format
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import api_keys
from tocsin.store.api_keys import ApiKey


@dataclass(frozen=True, slots=True)
class Rights:
    """What a key may do, on whose behalf, and for how long."""

    name: str
    producer: str
    scopes: list[str]
    mode: str = "live"
    rate_limit: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """A new key as it is kept, and as it is shown this once."""

    key: ApiKey
    plain: str


@dataclass(frozen=True, slots=True)
class Rotated:
    """The successor, and when the old key ends."""

    new: Issued
    old_id: UUID
    old_ends_at: datetime


class NotRotatable(Exception):
    """The key has no rights left to hand on: it was revoked, rotated before, or has run out. Whoever asked makes a new one."""

    def __init__(self, key: ApiKey) -> None:
        super().__init__(str(key.id))
        self.key = key


def issue(conn: Connection[Any], actor: Actor, rights: Rights) -> Issued:
    with tenant_transaction(conn, actor.tenant_id):
        return _make(conn, actor, rights)


def rotate(conn: Connection[Any], actor: Actor, key_id: UUID, *, overlap: timedelta) -> Rotated | None:
    """A new secret for the same rights; the old key ends after the overlap. None: there is no such key. A key is rotated once."""
    with tenant_transaction(conn, actor.tenant_id):
        old = api_keys.find(conn, actor.tenant_id, key_id)
        if old is None:
            return None
        rights = Rights(old.name, old.producer, old.scopes, old.mode, old.rate_limit, old.expires_at)
        new = _make(conn, actor, rights)
        ends_at = api_keys.replace(conn, actor.tenant_id, old.id, new.key.id, overlap=overlap)
        if ends_at is None:
            raise NotRotatable(api_keys.find(conn, actor.tenant_id, old.id) or old)  # and the successor is undone with it
        before = {"expires_at": old.expires_at.isoformat() if old.expires_at else None}
        after = {"expires_at": ends_at.isoformat(), "replaced_by": str(new.key.id)}
        audit.record(conn, actor, "rotate", "api_key", str(old.id), {"old": before, "new": after})
    authenticate.forget()
    return Rotated(new, old.id, ends_at)


def revoke(conn: Connection[Any], actor: Actor, key_id: UUID) -> ApiKey | None:
    """Switch the key off for good; returns it as it was. None: there is no such key."""
    with tenant_transaction(conn, actor.tenant_id):
        key = api_keys.find(conn, actor.tenant_id, key_id)
        if key is None:
            return None
        api_keys.revoke(conn, actor.tenant_id, key.id)
        changes = {"old": {"is_active": key.is_active}, "new": {"is_active": False}}
        audit.record(conn, actor, "revoke", "api_key", str(key.id), changes)
    authenticate.forget()
    return key


def _make(conn: Connection[Any], actor: Actor, rights: Rights) -> Issued:
    key_id = uuid7()
    minted = key_format.mint(key_id, rights.mode)
    api_keys.insert(
        conn,
        key_id=key_id,
        tenant_id=actor.tenant_id,
        producer=rights.producer,
        name=rights.name,
        mode=rights.mode,
        key_prefix=minted.prefix,
        key_hash=minted.hash,
        scopes=sorted(set(rights.scopes)),
        rate_limit=rights.rate_limit,
        expires_at=rights.expires_at,
    )
    stored = api_keys.find(conn, actor.tenant_id, key_id)
    audit.record(conn, actor, "create", "api_key", str(key_id), {"new": _audited(rights)})
    assert stored is not None  # noqa: S101 - inserted in the same transaction
    return Issued(stored, minted.plain)


def _audited(rights: Rights) -> dict[str, Any]:
    ends_at = rights.expires_at.astimezone(UTC).isoformat().replace("+00:00", "Z") if rights.expires_at else None
    return asdict(rights) | {"expires_at": ends_at}
