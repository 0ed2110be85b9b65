"""A tenant's own providers, and what opens their doors: added with sealed secrets, changed, removed; each with its audit row."""

from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.store import provider_configs
from tocsin.store.flow.open_lane import open_lane
from tocsin.store.provider_configs import ProviderConfig

CHANNELS = {"ses": ("email",), "sendgrid": ("email",), "sns": ("sms", "push"), "twilio": ("sms",), "fcm": ("push",)}
_NEEDS_KEY = ("sendgrid", "twilio", "fcm")


@dataclass(frozen=True, slots=True)
class NewProvider:
    provider_name: str
    channel: str
    api_key: str | None = field(default=None, repr=False)
    api_secret: str | None = field(default=None, repr=False)
    config: dict[str, Any] = field(default_factory=dict)
    is_active: bool = True
    rate_limit: int | None = None
    timeout_seconds: int = 10
    priority: int = 10


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is to change; None leaves a thing as it is."""

    is_active: bool | None = None
    rate_limit: int | None = None
    timeout_seconds: int | None = None
    priority: int | None = None


class Unfit(ValueError):
    """Such a provider could not send; says which field is at fault, and why. Whoever asked corrects it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def add(conn: Connection[Any], actor: Actor, new: NewProvider) -> ProviderConfig:
    """Raises Unfit, and CannotSeal while KMS cannot be asked; its secrets are sealed before a transaction is open."""
    _check(new)
    config_id = uuid7()
    api_key = _sealed(actor.tenant_id, config_id, "api_key", new.api_key)
    api_secret = _sealed(actor.tenant_id, config_id, "api_secret", new.api_secret)
    with tenant_transaction(conn, actor.tenant_id):
        row = provider_configs.insert(
            conn,
            config_id=config_id,
            tenant_id=actor.tenant_id,
            provider_name=new.provider_name,
            channel=new.channel,
            api_key=api_key,
            api_secret=api_secret,
            config_json=new.config,
            is_active=new.is_active,
            rate_limit=new.rate_limit,
            timeout_seconds=new.timeout_seconds,
            priority=new.priority,
        )
        audit.record(conn, actor, "create", "provider", str(row.id), {"new": _audited(row)})
    return row


def change(conn: Connection[Any], actor: Actor, config_id: UUID, tuning: Tuning) -> ProviderConfig | None:
    """None: there is no such provider."""
    with tenant_transaction(conn, actor.tenant_id):
        old = provider_configs.find(conn, actor.tenant_id, config_id)
        row = provider_configs.update(conn, actor.tenant_id, old.id, **asdict(tuning)) if old else None
        if old is None or row is None:
            return None
        changed = {name: value for name, value in asdict(tuning).items() if value is not None}
        before = {name: value for name, value in _audited(old).items() if name in changed}
        audit.record(conn, actor, "update", "provider", str(row.id), {"old": before, "new": changed})
    return row


def remove(conn: Connection[Any], actor: Actor, config_id: UUID) -> bool:
    """False: there is no such provider."""
    with tenant_transaction(conn, actor.tenant_id):
        old = provider_configs.find(conn, actor.tenant_id, config_id)
        if old is None:
            return False
        provider_configs.delete(conn, actor.tenant_id, old.id)
        lane = f"{old.provider_name}:{old.id}"  # its trouble goes with it, and what waits goes another way
        open_lane(conn, lane, actor.tenant_id, opened_by=None, reason="The provider was removed.")
        audit.record(conn, actor, "delete", "provider", str(old.id), {"old": _audited(old)})
    return True


def _check(new: NewProvider) -> None:
    serves = CHANNELS[new.provider_name]
    if new.channel not in serves:
        raise Unfit("channel", f"{new.provider_name} serves {' and '.join(serves)}")
    if new.provider_name in _NEEDS_KEY and not new.api_key:
        raise Unfit("api_key", f"{new.provider_name} needs one")


def _sealed(tenant_id: UUID, config_id: UUID, name: str, value: str | None) -> bytes | None:
    if value is None:
        return None
    purpose = f"provider:{config_id}:{name}"
    return encryption.seal(value, tenant_id=tenant_id, purpose=purpose, key_arn=settings().data_key_arn)


def _audited(row: ProviderConfig) -> dict[str, Any]:
    """What may be written down of a provider: all but its secrets."""
    names = ("provider_name", "channel", "priority", "is_active", "rate_limit", "timeout_seconds")
    return {name: getattr(row, name) for name in names}
