"""Issue an API key: made and shown once, rotated with an overlap, revoked; each with its audit row and a system event."""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit, authenticate, key_format
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import admin_system_events, api_keys, users
from tocsin.store.api_keys import ApiKey
from tocsin.store.users import UnknownUser


@dataclass(frozen=True, slots=True)
class Rights:
    """What a key may do, on whose behalf, and for how long."""

    name: str
    producer: str
    scopes: list[str]
    mode: str = "live"
    rate_limit: int | None = None
    expires_at: datetime | None = None
    owner_id: UUID | None = None  # the person whose key it is: it ends with them


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


def issue(conn: Connection[Any], actor: Actor, rights: Rights, *, owner: str | None = None) -> Issued:
    """`owner` is a user by the producer's own id. Raises UnknownUser."""
    with tenant_transaction(conn, actor.tenant_id):
        if owner is not None:
            user = users.find(conn, actor.tenant_id, owner)
            if user is None:
                raise UnknownUser(owner)
            rights = replace(rights, owner_id=user.id)
        return issue_within(conn, actor, rights)


def issue_within(conn: Connection[Any], actor: Actor, rights: Rights) -> Issued:
    """The same in the caller's transaction, as its last step."""
    issued = _make(conn, actor.tenant_id, rights)
    _record_made(conn, actor, issued, rights)
    return issued


def rotate(conn: Connection[Any], actor: Actor, key_id: UUID, *, overlap: timedelta) -> Rotated | None:
    """A new secret for the same rights; the old key ends after the overlap. None: there is no such key. A key is rotated once."""
    with tenant_transaction(conn, actor.tenant_id):
        old = api_keys.find(conn, actor.tenant_id, key_id)
        if old is None:
            return None
        rights = Rights(old.name, old.producer, old.scopes, old.mode, old.rate_limit, old.expires_at, old.user_id)
        new = _make(conn, actor.tenant_id, rights)
        ends_at = api_keys.replace(conn, actor.tenant_id, old.id, new.key.id, overlap=overlap)
        if ends_at is None:
            raise NotRotatable(api_keys.find(conn, actor.tenant_id, old.id) or old)  # and the successor is undone with it
        before = {"expires_at": old.expires_at.isoformat() if old.expires_at else None}
        after = {"expires_at": ends_at.isoformat(), "replaced_by": str(new.key.id)}
        _tell(conn, actor, "rotated", old.id, after)
        _record_made(conn, actor, new, rights)
        audit.record(conn, actor, "rotate", "api_key", str(old.id), {"old": before, "new": after})
    authenticate.forget()
    return Rotated(new, old.id, ends_at)


def revoke(conn: Connection[Any], actor: Actor, key_id: UUID) -> ApiKey | None:
    """Switch the key off for good; returns it as it is then. None: there is no such key."""
    with tenant_transaction(conn, actor.tenant_id):
        key = api_keys.find(conn, actor.tenant_id, key_id)
        if key is None:
            return None
        was_active = api_keys.revoke(conn, actor.tenant_id, key.id)
        revoked = api_keys.find(conn, actor.tenant_id, key.id)
        if was_active:
            _tell(conn, actor, "revoked", key.id, {})
            audit.record(conn, actor, "revoke", "api_key", str(key.id), {"old": {"is_active": True}, "new": {"is_active": False}})
    authenticate.forget()
    return revoked


def _make(conn: Connection[Any], tenant_id: UUID, rights: Rights) -> Issued:
    key_id = uuid7()
    minted = key_format.mint(key_id, rights.mode)
    api_keys.insert(
        conn,
        key_id=key_id,
        tenant_id=tenant_id,
        user_id=rights.owner_id,
        producer=rights.producer,
        name=rights.name,
        mode=rights.mode,
        key_prefix=minted.prefix,
        key_hash=minted.hash,
        scopes=sorted(set(rights.scopes)),
        rate_limit=rights.rate_limit,
        expires_at=rights.expires_at,
    )
    stored = api_keys.find(conn, tenant_id, key_id)
    assert stored is not None  # noqa: S101 - inserted in the same transaction
    return Issued(stored, minted.plain)


def _tell(conn: Connection[Any], actor: Actor, what: str, key_id: UUID, details: dict[str, Any]) -> None:
    """Who may do what has changed: operators see it among the system events, by id. Nothing is to be done about it."""
    admin_system_events.note(
        conn,
        event_type=f"api_key_{what}",
        severity="low",
        subject=f"api_key:{key_id}",
        description=f"An API key was {what}.",
        details={"key_id": str(key_id), "by": actor.name} | details,
        tenant_id=actor.tenant_id,
    )


def _record_made(conn: Connection[Any], actor: Actor, issued: Issued, rights: Rights) -> None:
    new = _audited(rights) | {"key_prefix": issued.key.key_prefix}
    _tell(conn, actor, "created", issued.key.id, {"scopes": sorted(set(rights.scopes)), "mode": rights.mode})
    audit.record(conn, actor, "create", "api_key", str(issued.key.id), {"new": new})


def _audited(rights: Rights) -> dict[str, Any]:
    ends_at = rights.expires_at.astimezone(UTC).isoformat().replace("+00:00", "Z") if rights.expires_at else None
    return asdict(rights) | {"expires_at": ends_at, "owner_id": str(rights.owner_id) if rights.owner_id else None}
