"""A tenant's hooks: added with a secret that is shown once, changed, rotated, removed; each with its audit row."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation import destinations
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.store import admin_system_events, webhooks
from tocsin.store.flow.open_lane import open_lane
from tocsin.store.webhooks import Webhook
from tocsin.webhooks import signing_secrets

_AUDITED = ("url", "description", "events", "modes", "is_active", "retry_count", "timeout_seconds")


@dataclass(frozen=True, slots=True)
class NewWebhook:
    url: str
    events: list[str]
    description: str
    modes: list[str]
    is_active: bool
    retry_count: int
    timeout_seconds: int


@dataclass(frozen=True, slots=True)
class WebhookChange:
    """What is to change; None leaves a thing as it is."""

    url: str | None = None
    events: list[str] | None = None
    description: str | None = None
    modes: list[str] | None = None
    is_active: bool | None = None
    retry_count: int | None = None
    timeout_seconds: int | None = None


class DeniedUrl(ValueError):
    """We would not call this address; says why. Whoever asked gives another."""


class NoEgress(Exception):
    """No way leads from this installation to the internet. Whoever deploys it opens one."""


class TooManyWebhooks(Exception):
    """The tenant has as many as it may have; says how many that is. Somebody removes one, or the operator allows more."""


def add(conn: Connection[Any], actor: Actor, new: NewWebhook, *, created_by: UUID) -> tuple[Webhook, str]:
    """The hook and its secret. Raises DeniedUrl, NoEgress, TooManyWebhooks, and CannotSeal while KMS cannot be asked: the secret
    is sealed before a transaction is open."""
    check_egress()
    _check_url(new.url)
    webhook_id, secret = uuid7(), signing_secrets.new_secret()
    sealed = _sealed(actor.tenant_id, webhook_id, secret)
    cap = settings().webhooks_per_tenant
    with tenant_transaction(conn, actor.tenant_id):
        row = webhooks.insert_within_cap(
            conn,
            webhook_id=webhook_id,
            tenant_id=actor.tenant_id,
            secret=sealed,
            created_by=created_by,
            cap=cap,
            **asdict(new),
        )
        if row is None:
            raise TooManyWebhooks(str(cap))
        audit.record(conn, actor, "create", "webhook", str(row.id), {"new": _audited(row)})
    return row, secret


def change(conn: Connection[Any], actor: Actor, webhook_id: UUID, wanted: WebhookChange) -> Webhook | None:
    """None: there is no such hook. Raises DeniedUrl, and NoEgress for one that is to be switched on.

    What is switched on again is no longer in trouble."""
    if wanted.is_active:
        check_egress()
    if wanted.url is not None:
        _check_url(wanted.url)
    with tenant_transaction(conn, actor.tenant_id):
        old = webhooks.lock(conn, actor.tenant_id, webhook_id)
        row = webhooks.update(conn, actor.tenant_id, webhook_id, **asdict(wanted)) if old else None
        if old is None or row is None:
            return None
        if wanted.is_active:
            _resolve(conn, actor.tenant_id, webhook_id)
        audit.record(conn, actor, "update", "webhook", str(row.id), audit.difference(_audited(old), _audited(row)))
    return row


def rotate_secret(conn: Connection[Any], actor: Actor, webhook_id: UUID) -> tuple[Webhook, str] | None:
    """The hook and its new secret; the one before signs too for a day. None: there is no such hook. Raises CannotSeal."""
    secret = signing_secrets.new_secret()
    sealed = _sealed(actor.tenant_id, webhook_id, secret)
    with tenant_transaction(conn, actor.tenant_id):
        row = webhooks.rotate_secret(conn, actor.tenant_id, webhook_id, secret=sealed, overlap=signing_secrets.OVERLAP)
        if row is None:
            return None
        audit.record(conn, actor, "rotate", "webhook", str(row.id), {"new": {"secret": audit.MASK}})
    return row, secret


def remove(conn: Connection[Any], actor: Actor, webhook_id: UUID) -> bool:
    """False: there is no such hook."""
    with tenant_transaction(conn, actor.tenant_id):
        old = webhooks.find(conn, actor.tenant_id, webhook_id)
        if old is None:
            return False
        webhooks.delete(conn, actor.tenant_id, webhook_id)
        open_lane(conn, f"webhook:{webhook_id}", actor.tenant_id, opened_by=None, reason="The webhook was removed.")
        _resolve(conn, actor.tenant_id, webhook_id)
        audit.record(conn, actor, "delete", "webhook", str(webhook_id), {"old": _audited(old)})
    return True


def check_egress() -> None:
    """Where private addresses are allowed, a call may well stay inside."""
    config = settings()
    if config.internet_egress == "false" and not config.allow_private_destinations:
        raise NoEgress


def _check_url(url: str) -> None:
    try:
        destinations.check_url(url, allow_private=settings().allow_private_destinations)
    except ValueError as error:
        raise DeniedUrl(str(error)) from None


def _sealed(tenant_id: UUID, webhook_id: UUID, secret: str) -> bytes:
    purpose = signing_secrets.purpose_of("webhook", webhook_id)
    return signing_secrets.seal(secret, tenant_id=tenant_id, purpose=purpose)


def _resolve(conn: Connection[Any], tenant_id: UUID, webhook_id: UUID) -> None:
    for event_type in ("webhook_disabled", "breaker_opened"):
        admin_system_events.resolve(conn, tenant_id, event_type=event_type, subject=f"webhook:{webhook_id}")


def _audited(row: Webhook) -> dict[str, Any]:
    """What may be written down of a hook. Of its URL only where it leads, for the rest may hold what is secret; and its digest,
    so that a change of the rest shows."""
    where = row.url.partition("://")[2].partition("/")[0].partition("?")[0]
    digest = hashlib.sha256(row.url.encode()).hexdigest()[:16]
    return {name: getattr(row, name) for name in _AUDITED if name != "url"} | {"host": where, "url_digest": digest}
