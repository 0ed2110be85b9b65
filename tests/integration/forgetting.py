"""What retention forgets: a row of each kind, and the rule that ends it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.content import add_suppression
from tests.events import fan_out_all, happen, took_part
from tests.world import TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.settings import Settings
from tocsin.upkeep.retain import Ages, Report, retain

DAY = timedelta(days=1)
AGES = Ages.of(Settings())  # as an installation has them that chooses none


def apply(world: World, *, batch: int = 1_000, has_time: Callable[[], bool] = lambda: True, ages: Ages = AGES) -> Report:
    return retain(world.retention, has_time=has_time, ages=ages, batch=batch)


def make_dead_letter(world: World) -> None:
    world.email.answers.append(Failure(FailureClass.PERMANENT, "x", "x"))
    world.accept()
    world.dispatch()


def make_malformed(world: World) -> None:
    world.admin.execute(
        """INSERT INTO malformed_intents (stream_entry_id, tenant_id, failure_code, failure_message, raw_fields, recorded_at)
           VALUES (gen_random_uuid()::text, %s, 'schema', 'x', '{}', tocsin_now())""",
        [TENANT],
    )


def make_inbox_row(world: World) -> None:
    world.accept(channels=["in_app"])
    world.dispatch()


def make_system_event(world: World) -> None:
    world.admin.execute(
        """INSERT INTO admin_system_events (event_type, severity, description, is_resolved, resolved_at)
           VALUES ('x', 'low', 'x', true, tocsin_now())"""
    )


def make_provider_event(world: World) -> None:
    world.admin.execute(
        """INSERT INTO provider_events (event_key, tenant_id, provider, kind, feedback, occurred_at, received_at)
           VALUES (sha256(gen_random_uuid()::text::bytea), %s, 'ses', 'delivery', 'delivered', tocsin_now(), tocsin_now())""",
        [TENANT],
    )


def make_audit_row(world: World) -> None:
    world.admin.execute(
        """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id)
           VALUES (gen_random_uuid(), %s, 'key:x', 'create', 'provider', 'x')""",
        [TENANT],
    )


def make_event(world: World) -> None:
    happen(world)
    fan_out_all(world)  # tells nobody, and the cursor has passed it


def make_email_log_row(world: World) -> None:
    world.admin.execute(
        """INSERT INTO notification_email_log (
               tenant_id, recipient_user_id, notification_id, route_id, generation, channel, notification_type, sent_at)
           SELECT tenant_id, id, gen_random_uuid(), 'r', 1, 'email', 't', tocsin_now() FROM users"""
    )


def make_digest(world: World) -> None:
    """One whose email was never sent, so that it was never closed."""
    world.accept()
    world.admin.execute(
        """INSERT INTO digests (tenant_id, user_id, thread_kind, thread_id, notification_id, outbox_id, created_at)
           SELECT users.tenant_id, users.id, 'k', '1', notification_id, gen_random_uuid(), tocsin_now() FROM users, records"""
    )


def make_webhook_delivery(world: World) -> None:
    """One that was delivered."""
    world.admin.execute(
        """WITH hook AS (
               INSERT INTO webhooks (id, tenant_id, url, secret, events, created_by)
               VALUES (gen_random_uuid(), %s, 'https://example.com', '', '{notification.published}', gen_random_uuid())
               RETURNING id, tenant_id
           )
           INSERT INTO webhook_deliveries (
               id, tenant_id, webhook_id, event_type, payload, message_id, status, delivered_at, created_at)
           SELECT gen_random_uuid(), tenant_id, id, 'notification.published', '{}', gen_random_uuid(), 'delivered', tocsin_now(),
                  tocsin_now()
           FROM hook""",
        [TENANT],
    )


def make_endpoint_lane(world: World) -> None:
    world.admin.execute(
        """INSERT INTO lanes (lane, state, reason, resume_at, updated_at)
           VALUES ('webhook:' || gen_random_uuid(), 'broken', 'failures in a row', tocsin_now(), tocsin_now())"""
    )


# rule, what makes a row, the table, the days it is kept
RULES: list[tuple[str, Callable[[World], Any], str, int]] = [
    ("records", lambda world: (world.accept(), world.dispatch()), "records", 90),
    ("rate_limits", lambda world: world.accept(), "rate_limits", 2),
    ("malformed_intents", make_malformed, "malformed_intents", 30),
    ("dead_letters", make_dead_letter, "dead_letters", 90),
    ("notifications", make_inbox_row, "notifications", 180),
    ("notification_email_log", make_email_log_row, "notification_email_log", 30),
    ("digests", make_digest, "digests", 1),
    ("notification_threads", lambda world: took_part(world, "alice", "comment"), "notification_threads", 365),
    ("domain_events", make_event, "domain_events", 30),
    ("suppressions", lambda world: add_suppression(world, reason="soft_bounces", lasts=DAY * 7), "suppressions", 7),
    ("provider_events", make_provider_event, "provider_events", 90),
    ("webhook_deliveries", make_webhook_delivery, "webhook_deliveries", 30),
    ("lanes", make_endpoint_lane, "lanes", 7),
    ("audit_logs", make_audit_row, "audit_logs", 365),
    ("admin_system_events", make_system_event, "admin_system_events", 365),
]
