"""Register a trigger: what fires it, and the handler that it runs; changed and removed; each with its audit row."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.store import trigger_handlers, triggers
from tocsin.store.flow import register_trigger as statements
from tocsin.store.triggers import Trigger, TriggerRow
from tocsin.triggers import handler_configs
from tocsin.triggers.admit import needed_scopes
from tocsin.triggers.handler_configs import UnusableTrigger
from tocsin.webhooks import signing_secrets

DETAILS = {
    "kv": ("collection_glob", "ops"),
    "dead_letter": ("source_filter", "trigger_id_filter", "script_id_filter"),
}
_UNKNOWN_HANDLER = ("/handler/id", "is no handler that is known here")


@dataclass(frozen=True, slots=True)
class NewTrigger:
    """`details` are what its kind is told, `handler` what a new handler is told, `retry` where it is not to be the usual."""

    kind: str
    details: dict[str, Any]
    handler_id: UUID | None = None
    handler_kind: str = ""
    handler: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    enabled: bool = True
    retry: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """A trigger, and the secret of its handler where that is new and signs: it is shown this once."""

    trigger: Trigger
    secret: str | None = None


class ScopeRequired(Exception):
    """The caller lacks a scope that the handler needs, which would act on its behalf. Whoever asked uses another key."""

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        self.scope = scope


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """A trigger whose webhook has a new secret, shown this once, and when the one before ends."""

    trigger: Trigger
    secret: str
    previous_ends_at: datetime


class OtherMode(Exception):
    """A key of the other mode registered it: a test key changes no live trigger. Whoever asked uses another key."""


class TooManyTriggers(Exception):
    """The tenant has as many as it may. Whoever asked deletes some, or the operator raises TriggersPerTenant."""

    def __init__(self, limit: int) -> None:
        super().__init__(str(limit))
        self.limit = limit


def register(conn: Connection[Any], actor: Actor, principal: Principal, new: NewTrigger) -> Registered:
    """Raises UnusableTrigger, ScopeRequired, OtherMode, TooManyTriggers, NoEgress and CannotSeal.

    A handler's secret is sealed before a transaction is open. What `retry` does not say is copied from the settings, so that a
    row says what holds for it, whatever they become."""
    _check_details(new.kind, new.details)
    row, secret = _row(new, principal), None
    if new.handler_id is None:
        _check_scope(row.kind, row.handler_kind, principal)
        row = replace(row, handler_config=handler_configs.checked(row.handler_kind, new.handler))
        secret = signing_secrets.new_secret() if row.handler_kind == "webhook" else None
    purpose = signing_secrets.purpose_of("handler", row.handler_id)
    sealed = signing_secrets.seal(secret, tenant_id=actor.tenant_id, purpose=purpose) if secret else None
    try:
        with tenant_transaction(conn, actor.tenant_id):
            _check_room(conn, actor.tenant_id)
            if new.handler_id:
                _check_scope(row.kind, _shared_kind(conn, actor.tenant_id, new.handler_id), principal)
                _check_mode(conn, actor.tenant_id, new.handler_id, principal)
            statements.insert(conn, actor.tenant_id, row, is_new_handler=new.handler_id is None, secret=sealed)
            trigger = triggers.find(conn, actor.tenant_id, row.id)
            assert trigger is not None  # noqa: S101 - inserted in the same transaction
            audit.record(conn, actor, "create", "trigger", str(row.id), {"new": _audited(trigger)})
    except errors.ForeignKeyViolation as error:
        if error.diag.constraint_name != triggers.HANDLER_CONSTRAINT:
            raise
        raise UnusableTrigger(_UNKNOWN_HANDLER) from None  # it went with its last trigger meanwhile
    return Registered(trigger, secret)


def rotate_secret(conn: Connection[Any], actor: Actor, principal: Principal, trigger_id: UUID) -> RotatedSecret | None:
    """A new secret for the webhook that the trigger calls, and with it all that share it; the one before signs too for a day.
    None: there is no such trigger. Raises UnusableTrigger where it calls no webhook, ScopeRequired, OtherMode and CannotSeal."""
    with tenant_transaction(conn, actor.tenant_id):
        found = triggers.find(conn, actor.tenant_id, trigger_id)
    if found is None:
        return None
    if found.handler_kind != "webhook":
        raise UnusableTrigger(("/handler/kind", "has no secret: only a webhook is signed"))
    secret = signing_secrets.new_secret()
    purpose = signing_secrets.purpose_of("handler", found.handler_id)
    sealed = signing_secrets.seal(secret, tenant_id=actor.tenant_id, purpose=purpose)
    with tenant_transaction(conn, actor.tenant_id):
        trigger = triggers.lock(conn, actor.tenant_id, trigger_id)
        if trigger is None:
            return None
        _check_scope(trigger.kind, trigger.handler_kind, principal)
        _check_mode(conn, actor.tenant_id, trigger.handler_id, principal)
        ends_at = trigger_handlers.rotate_secret(
            conn, actor.tenant_id, trigger.handler_id, secret=sealed, overlap=signing_secrets.OVERLAP
        )
        audit.record(conn, actor, "rotate", "trigger", str(trigger_id), {"new": {"secret": audit.MASK}})
    return RotatedSecret(trigger, secret, ends_at)


def change(
    conn: Connection[Any], actor: Actor, principal: Principal, trigger_id: UUID, changes: dict[str, Any]
) -> Trigger | None:
    """Change what is named: columns of the trigger, and under `handler` fields of its configuration, for all that share it.
    None: there is no such trigger. Raises as `register` does, and OtherMode.

    Whoever changes what is run, or when, must be allowed to do it, and from then on it runs as they may; anybody who manages may
    rename it or switch it off."""
    with tenant_transaction(conn, actor.tenant_id):
        old = triggers.lock(conn, actor.tenant_id, trigger_id)
        if old is None:
            return None
        is_other = bool(changes.keys() - {"name", "enabled"})
        if is_other or changes.get("enabled"):
            _check_scope(old.kind, old.handler_kind, principal)
        if is_other:
            _check_mode(conn, actor.tenant_id, old.handler_id, principal)
        own = {name: value for name, value in changes.items() if name != "handler"}
        _check_details(old.kind, {name: own[name] for names in DETAILS.values() for name in names if name in own})
        handler = changes.get("handler")
        config = handler_configs.checked(old.handler_kind, old.handler_config | handler) if handler else old.handler_config
        runs_as = principal.key_id if is_other else old.registered_by_principal
        changed = replace(old, **own, handler_config=config, registered_by_principal=runs_as)
        sharing = statements.update(conn, actor.tenant_id, changed)
        new = triggers.find(conn, actor.tenant_id, trigger_id)
        assert new is not None  # noqa: S101 - it is locked
        said = audit.difference(_audited(old), _audited(new))
        said |= {"handler_fields": sorted(handler)} if handler else {}
        audit.record(conn, actor, "update", "trigger", str(trigger_id), said)
        for other_id in sharing:
            runs = {"new": {"registered_by_principal": str(runs_as)}, "handler_of": str(trigger_id)}
            audit.record(conn, actor, "update", "trigger", str(other_id), runs)
    return new


def remove(conn: Connection[Any], actor: Actor, trigger_id: UUID) -> bool:
    """False: there is no such trigger. Its handler goes with the last trigger that has it."""
    with tenant_transaction(conn, actor.tenant_id):
        old = triggers.lock(conn, actor.tenant_id, trigger_id)
        if old is None:
            return False
        triggers.delete(conn, actor.tenant_id, trigger_id)
        trigger_handlers.delete_unused(conn, actor.tenant_id, old.handler_id)
        audit.record(conn, actor, "delete", "trigger", str(trigger_id), {"old": _audited(old)})
    return True


def _row(new: NewTrigger, principal: Principal) -> TriggerRow:
    config = settings()
    nothing: dict[str, Any] = dict.fromkeys(name for names in DETAILS.values() for name in names) | {"ops": []}
    retry = {
        "retry_max_attempts": config.trigger_retry_max_attempts,
        "retry_backoff": config.trigger_retry_backoff,
        "retry_base_ms": config.trigger_retry_base_ms,
    }
    return TriggerRow(
        id=uuid7(),
        kind=new.kind,
        name=new.name,
        enabled=new.enabled,
        handler_id=new.handler_id or uuid7(),
        handler_kind=new.handler_kind,
        handler_config={},
        registered_by_principal=principal.key_id,
        **(retry | new.retry),
        **(nothing | new.details),
    )


def _check_details(kind: str, details: dict[str, Any]) -> None:
    misplaced = [name for name in details if name not in DETAILS.get(kind, ())]
    if misplaced:
        raise UnusableTrigger(*((f"/{name}", f"has no place in a trigger of the kind {kind}") for name in misplaced))


def _check_scope(kind: str, handler_kind: str, principal: Principal) -> None:
    for scope in needed_scopes(kind, handler_kind):
        if scope not in principal.scopes:
            raise ScopeRequired(scope)


def _check_mode(conn: Connection[Any], tenant_id: UUID, handler_id: UUID, principal: Principal) -> None:
    """Triggers that share a handler are of one mode, their registrars'."""
    if triggers.modes_of_handler(conn, tenant_id, handler_id) - {principal.mode}:
        raise OtherMode


def _check_room(conn: Connection[Any], tenant_id: UUID) -> None:
    limit = settings().triggers_per_tenant
    if triggers.count_in_turn(conn, tenant_id) >= limit:
        raise TooManyTriggers(limit)


def _shared_kind(conn: Connection[Any], tenant_id: UUID, handler_id: UUID) -> str:
    kind = trigger_handlers.find_kind(conn, tenant_id, handler_id)
    if kind is None:
        raise UnusableTrigger(_UNKNOWN_HANDLER)
    return kind


def _audited(trigger: Trigger) -> dict[str, Any]:
    """What may be written down of a trigger: of its handler only which one, for a URL or an intent may hold what is secret."""
    names = ("kind", "name", "enabled", *DETAILS.get(trigger.kind, ()), "retry_max_attempts", "retry_backoff", "retry_base_ms")
    shown = {name: getattr(trigger, name) for name in (*names, "handler_kind", "handler_id", "registered_by_principal")}
    return {name: str(value) if isinstance(value, UUID) else value for name, value in shown.items()}
