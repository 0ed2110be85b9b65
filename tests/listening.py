"""Somebody who listens: hooks and dead-letter triggers as the API would make them, and what the database wrote for them."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.world import TENANT, World
from tocsin.foundation.ids import uuid7
from tocsin.outbox.dispatch import dispatch

EVENTS = tuple(
    f"notification.{end}" for end in ("published", "delivered", "bounced", "complained", "dead_lettered", "skipped", "cancelled")
)
STATUS = {"dead_lettered": "dead_letter", "delivered": "published", "bounced": "published", "complained": "published"}


@dataclass(frozen=True, slots=True)
class Said:
    """One event as a hook is told it: what its payload says, but for the ids and the time."""

    event: str  # without its first word
    reason: str | None = ""
    channel: str | None = "email"
    recipient: str | None = "user:alice"
    attempts: int = 0
    provider: str | None = ""
    provider_message_id: str | None = ""
    feedback: str | None = "none"
    type: str | None = "order.shipped"
    producer: str | None = "shop"
    mode: str = "live"

    @property
    def data(self) -> dict[str, Any]:
        """The payload's data, without notification_id and route_id."""
        names = ("reason", "channel", "recipient", "attempts", "provider", "provider_message_id", "feedback", "type", "producer")
        return {name: getattr(self, name) for name in (*names, "mode")} | {"status": STATUS.get(self.event, self.event)}


def sent(event: str = "published", **more: Any) -> Said:
    """Of an email that the provider took at its first try."""
    return replace(Said(event, attempts=1, provider="ses", provider_message_id="m-1"), **more)


def dead(reason: str, **more: Any) -> Said:
    """Of what died without a route."""
    nothing = Said("dead_lettered", reason, None, None, 0, None, None, None)
    return replace(nothing, **more)


def listen(
    world: World, *events: str, tenant: UUID = TENANT, modes: tuple[str, ...] = ("live",), is_active: bool = True, tries: int = 10
) -> UUID:
    """A hook; unless told, for every event."""
    hook = uuid7()
    world.admin.execute(
        """
        INSERT INTO webhooks (id, tenant_id, url, secret, events, modes, retry_count, created_by, is_active, disabled_reason,
                              disabled_at)
        VALUES (%(id)s, %(tenant)s, 'https://hooks.example.com/', '', %(events)s, %(modes)s, %(tries)s, %(id)s, %(is_active)s,
                CASE WHEN %(is_active)s THEN '' ELSE 'request' END, CASE WHEN NOT %(is_active)s THEN tocsin_now() END)
        """,
        {
            "id": hook,
            "tenant": tenant,
            "events": list(events or EVENTS),
            "modes": list(modes),
            "tries": tries,
            "is_active": is_active,
        },
    )
    return hook


def await_letters(world: World, *, tenant: UUID = TENANT, enabled: bool = True, handler: str = "intent", **filters: Any) -> UUID:
    """A dead-letter trigger with these filters; without any, for every letter."""
    handler_id, trigger = uuid7(), uuid7()
    world.add_key("manage", tenant=tenant)
    key = world.one("SELECT id FROM api_keys WHERE tenant_id = %(tenant)s ORDER BY id DESC LIMIT 1", tenant=tenant)
    world.admin.execute(
        "INSERT INTO trigger_handlers (id, tenant_id, kind, config, secret) VALUES (%s, %s, %s, '{}', %s)",
        [handler_id, tenant, handler, b"" if handler == "webhook" else None],
    )
    world.admin.execute(
        """
        INSERT INTO triggers (id, tenant_id, handler_id, kind, enabled, retry_max_attempts, retry_backoff, retry_base_ms,
                              registered_by_principal)
        VALUES (%s, %s, %s, 'dead_letter', %s, 4, 'linear', 250, %s)
        """,
        [trigger, tenant, handler_id, enabled, key],
    )
    world.admin.execute(
        """
        INSERT INTO dead_letter_trigger_details (trigger_id, tenant_id, source_filter, trigger_id_filter, script_id_filter)
        VALUES (%s, %s, %s, %s, %s)
        """,
        [trigger, tenant, *(filters.get(name) for name in ("source_filter", "trigger_id_filter", "script_id_filter"))],
    )
    return trigger


def told(world: World, hook: UUID | None = None) -> list[dict[str, Any]]:
    """What hooks are owed, each with its work and the transaction that wrote it."""
    return world.rows(
        """
        SELECT deliveries.*, deliveries.xmin::text AS txid, outbox.xmin::text AS work_txid, outbox.queue, outbox.source_kind,
               outbox.max_attempts, outbox.due_at, outbox.tenant_id AS work_tenant_id, outbox.trigger_depth
        FROM webhook_deliveries AS deliveries LEFT JOIN outbox USING (id)
        WHERE %(hook)s::uuid IS NULL OR webhook_id = %(hook)s
        ORDER BY deliveries.id
        """,
        hook=hook,
    )


def fired(world: World) -> list[tuple[UUID, UUID]]:
    """Which triggers are to run, and about which letters."""
    rows = world.rows("SELECT payload FROM outbox WHERE source_kind = 'trigger'")
    return sorted((UUID(row["payload"]["trigger_id"]), UUID(row["payload"]["dead_letter_id"])) for row in rows)


def carry_out(world: World, wait: timedelta = timedelta(0)) -> None:
    """Plan and deliver what is due, and leave what was told to those whose business it is."""
    world.pass_time(wait)
    for queue in ("plan", "email", "sms", "push"):
        due = [row["id"] for row in world.rows("SELECT id FROM outbox WHERE queue = %(queue)s ORDER BY due_at", queue=queue)]
        dispatch(world.worker, due, replace(world.worker_policy(), queue=queue))
