"""Triggers and values for tests that only need them to be there."""

import json
from typing import Any
from uuid import UUID

from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation.ids import uuid7
from tocsin.store.flow.write_kv import KvCondition
from tocsin.store.kv_entries import KvEntry
from tocsin.triggers import kv

FREELY = KvCondition()
INTENT: dict[str, Any] = {"type": "stock.low", "audience": {"kind": "tenant"}, "payload": {"title": "{{ event.key }} is low"}}


def keep(
    world: World,
    key: str = "A-17",
    value: Any = None,
    *,
    conn: Any = None,
    collection: str = "orders",
    tenant: UUID = TENANT,
    condition: KvCondition = FREELY,
    write_id: UUID | None = None,
    depth: int = 0,
) -> KvEntry | None:
    """Put a value through the real use case."""
    actor = Actor(tenant, "key:test")
    return kv.put(
        conn or world.app,
        actor,
        collection,
        key,
        value,
        condition=condition,
        write_id=write_id or uuid7(),
        depth=depth,
        mode="live",
    )


def add_handler(world: World, kind: str = "intent", *, tenant: UUID = TENANT, config: dict[str, Any] | None = None) -> UUID:
    configs = {"intent": {"intent": INTENT}, "webhook": {"url": "https://x.example", "timeout_seconds": 10}}
    told = config or configs.get(kind, {"function_arn": "arn:aws:lambda:eu-west-1:123456789012:function:f"})
    handler_id = uuid7()
    world.admin.execute(
        "INSERT INTO trigger_handlers (id, tenant_id, kind, config, secret) VALUES (%s, %s, %s, %s, %s)",
        [handler_id, tenant, kind, json.dumps(told), b"sealed" if kind == "webhook" else None],
    )
    return handler_id


def add_trigger(
    world: World,
    glob: str | None = "*",
    ops: tuple[str, ...] = (),
    *,
    tenant: UUID = TENANT,
    handler: str | UUID = "intent",
    enabled: bool = True,
    retry: tuple[int, str, int] = (5, "exponential", 1_000),
) -> UUID:
    """A trigger of the kind kv; without a glob one of the kind dead_letter that wants every letter."""
    handler_id = handler if isinstance(handler, UUID) else add_handler(world, handler, tenant=tenant)
    if not world.rows("SELECT FROM api_keys WHERE tenant_id = %(tenant)s", tenant=tenant):
        world.add_key("manage", "send", "data", "operate", tenant=tenant)
    trigger_id, kind = uuid7(), "dead_letter" if glob is None else "kv"
    world.admin.execute(
        """INSERT INTO triggers (id, tenant_id, handler_id, kind, enabled, retry_max_attempts, retry_backoff, retry_base_ms,
                                 registered_by_principal)
           SELECT %s, %s, %s, %s, %s, %s, %s, %s, (SELECT id FROM api_keys WHERE tenant_id = %s ORDER BY id DESC LIMIT 1)""",
        [trigger_id, tenant, handler_id, kind, enabled, *retry, tenant],
    )
    if glob is None:
        world.admin.execute(
            "INSERT INTO dead_letter_trigger_details (trigger_id, tenant_id) VALUES (%s, %s)", [trigger_id, tenant]
        )
    else:
        world.admin.execute(
            "INSERT INTO kv_trigger_details (trigger_id, tenant_id, collection_glob, ops) VALUES (%s, %s, %s, %s)",
            [trigger_id, tenant, glob, list(ops)],
        )
    return trigger_id


def runs(world: World) -> list[dict[str, Any]]:
    """The work of triggers that waits."""
    return world.rows("SELECT * FROM outbox WHERE source_kind = 'trigger' ORDER BY created_at, id")
