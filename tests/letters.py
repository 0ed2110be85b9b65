"""Dead letters of each kind as they come about, and what operators do about them."""

from typing import Any
from uuid import UUID

from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.dead_letters.obstacles import Obstacle
from tocsin.dead_letters.replay import Replayed
from tocsin.dead_letters.replay import replay as replay_use_case

OPERATOR = UUID("00000000-0000-7000-8000-00000000000b")
REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "Address blacklisted.")
LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")


def bury_delivery(world: World, **intent: Any) -> UUID:
    """An email that its provider refuses. Returns the letter's id."""
    world.email.answers.append(REFUSED)
    world.accept(**intent)
    world.dispatch()
    return newest(world)


def bury_plan(world: World, **intent: Any) -> UUID:
    """A plan that ended three workers."""
    world.accept(**intent)
    return poison(world, "plan")


def poison(world: World, kind: str) -> UUID:
    world.admin.execute("UPDATE outbox SET claim_count = 3 WHERE source_kind = %s", [kind])
    world.dispatch()
    return newest(world)


def newest(world: World) -> UUID:
    found = world.one("SELECT id FROM dead_letters ORDER BY created_at DESC, id DESC LIMIT 1")
    assert isinstance(found, UUID)
    return found


def letter(world: World, letter_id: UUID) -> dict[str, Any]:
    (row,) = world.rows("SELECT * FROM dead_letters WHERE id = %(id)s", id=letter_id)
    return row


def replay(world: World, letter_id: UUID, *, past_expiry: bool = False, conn: Any = None, tenant: UUID = TENANT) -> Replayed:
    made = try_replay(world, letter_id, past_expiry=past_expiry, conn=conn, tenant=tenant)
    assert isinstance(made, Replayed), made
    return made


def try_replay(
    world: World, letter_id: UUID, *, past_expiry: bool = False, conn: Any = None, tenant: UUID = TENANT
) -> Replayed | Obstacle | None:
    return replay_use_case(conn or world.app, Actor(tenant, f"key:{OPERATOR}"), letter_id, by=OPERATOR, past_expiry=past_expiry)


def why_not(world: World, letter_id: UUID, **options: Any) -> str:
    made = try_replay(world, letter_id, **options)
    assert isinstance(made, Obstacle), made
    return made.reason


# Nineteen of twenty are resolved. What waits is of one cause but for a handful that is rare and old.
LONG_HISTORY = """
    INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, notification_id, generation, channel, recipient_ref,
        final_attempt_count, max_attempts, failure_classification, failure_message, created_at, provider, provider_code,
        notification_type, trigger_id, resolution, resolved_at, accepted_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, %(tenant)s, CASE WHEN is_rare THEN 'plan' ELSE 'deliver' END, gen_random_uuid(),
           lpad(to_hex(n), 32, '0')::uuid, 1, 'email', CASE WHEN is_rare THEN 'user:rare' ELSE 'user:' || n END, 5, 5,
           CASE WHEN is_rare THEN 'poison' ELSE 'exhausted' END, 'm', tocsin_now() - n * interval '1 minute', 'ses',
           CASE WHEN is_rare THEN 'rare' ELSE '500' END, CASE WHEN is_rare THEN 'rare' ELSE 'news' END,
           CASE WHEN is_rare THEN lpad('1', 32, '0')::uuid END,
           CASE WHEN n %% 20 > 0 AND NOT is_rare THEN 'ignored' END,
           CASE WHEN n %% 20 > 0 AND NOT is_rare THEN tocsin_now() END, tocsin_now() - n * interval '1 minute'
    FROM generate_series(1, %(many)s) AS n CROSS JOIN LATERAL (SELECT n > %(many)s - 5 AS is_rare) AS kind
"""
