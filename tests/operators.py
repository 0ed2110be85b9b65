"""What operators find: lanes in trouble, messages that could not be accepted, outcomes that came too late."""

from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from tests.world import TENANT, World


def close_lane(
    world: World, lane: str, *, tenant: UUID | None = TENANT, state: str = "stopped", reason: str = "AccountSuspended"
) -> str:
    """A lane that is closed for ten minutes."""
    world.admin.execute(
        """INSERT INTO lanes (lane, tenant_id, state, trouble, reason, resume_at, updated_at)
           VALUES (%s, %s, %s, 'configuration', %s, tocsin_now() + interval '10 minutes', tocsin_now())""",
        [lane, tenant, state, reason],
    )
    return lane


def keep_malformed(world: World, fields: dict[str, Any], *, tenant: UUID = TENANT, **row: Any) -> str:
    """A message from the queue that could not be accepted, as intake keeps it."""
    entry_id = str(row.pop("stream_entry_id", uuid4()))
    values = {"notification_type": "order.shipped", "producer": "billing", "idempotency_key": entry_id, "failure_code": "schema"}
    values |= {"failure_message": "/channels is wrong"} | row
    world.admin.execute(
        """INSERT INTO malformed_intents (stream_entry_id, tenant_id, notification_type, producer, idempotency_key, failure_code,
                                          failure_message, raw_fields, recorded_at)
           VALUES (%(id)s, %(tenant)s, %(notification_type)s, %(producer)s, %(idempotency_key)s, %(failure_code)s,
                   %(failure_message)s, %(fields)s, tocsin_now())""",
        values | {"id": entry_id, "tenant": tenant, "fields": Jsonb(fields)},
    )
    return entry_id


def abandon(world: World, *, tenant: UUID = TENANT, source_kind: str = "deliver") -> UUID:
    """An outcome that came when nobody waited for it any more."""
    execution_id: UUID = world.one(
        """INSERT INTO abandoned_executions (id, tenant_id, outbox_id, reply_to, source_kind, outcome)
           VALUES (tocsin_uuid7(), %(tenant)s, tocsin_uuid7(), tocsin_uuid7(), %(kind)s, '{"status": "published"}')
           RETURNING id""",
        tenant=tenant,
        kind=source_kind,
    )
    return execution_id
