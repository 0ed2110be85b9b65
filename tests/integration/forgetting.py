"""What retention forgets: a row of each kind, and the rule that ends it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from tests.content import add_suppression
from tests.events import fan_out_all, happen, took_part
from tests.world import TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.settings import Settings
from tocsin.store import archives, devices, job_runs
from tocsin.upkeep.retain import Report, retain
from tocsin.upkeep.retention_rules import Rule, rules_of

DAY = timedelta(days=1)
RULES_OF_ALL = rules_of(Settings())  # as an installation has them that chooses none


def apply(
    world: World, *, batch: int = 1_000, has_time: Callable[[], bool] = lambda: True, rules: list[Rule] = RULES_OF_ALL
) -> Report:
    return retain(world.retention, rules, has_time=has_time, batch=batch)


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


def make_metrics(world: World) -> None:
    """An hour of yesterday, at midnight: they go by whole days."""
    world.pass_time(world.one("SELECT date_trunc('day', tocsin_now() + interval '1 day', 'UTC') - tocsin_now()"))
    world.admin.execute(
        """INSERT INTO metrics (tenant_id, mode, date, hour, provider, channel, total_sent)
           VALUES (%s, 'live', (tocsin_now() AT TIME ZONE 'UTC')::date - 1, 7, 'ses', 'email', 1)""",
        [TENANT],
    )


def make_receipt(world: World) -> None:
    world.admin.execute(
        """INSERT INTO erasures (id, tenant_id, kind, subject_hash, requested_by, finished_at)
           VALUES (gen_random_uuid(), %s, 'user', sha256('x'), 'key:x', tocsin_now())""",
        [TENANT],
    )


def make_job(world: World) -> None:
    """One that has ended."""
    world.admin.execute(
        """INSERT INTO jobs (id, tenant_id, kind, status, arguments, created_by, finished_at)
           VALUES (gen_random_uuid(), %s, 'replay', 'complete', '{}', gen_random_uuid(), tocsin_now())""",
        [TENANT],
    )


def make_failing_lane(world: World) -> None:
    world.admin.execute(
        """INSERT INTO lanes (lane, state, reason, resume_at, updated_at)
           VALUES ('ses:email', 'failing', 'x', tocsin_now(), tocsin_now())"""
    )


def make_late_outcome(world: World) -> None:
    world.accept(reply_within=timedelta(0))
    world.dispatch()


def make_resolved_letter(world: World) -> None:
    make_dead_letter(world)
    world.admin.execute("UPDATE dead_letters SET resolution = 'ignored', resolved_at = tocsin_now()")


def make_orphan_event(world: World) -> None:
    make_provider_event(world)
    world.admin.execute("UPDATE provider_events SET tenant_id = NULL")


def make_hidden_row(world: World) -> None:
    make_inbox_row(world)
    world.admin.execute("UPDATE notifications SET deleted_at = tocsin_now()")


def make_saved_row(world: World) -> None:
    make_inbox_row(world)
    world.admin.execute("UPDATE notifications SET saved_at = tocsin_now()")


def make_dead_device(world: World) -> None:
    device_id = world.add_device(world.one("SELECT id FROM users"))
    devices.switch_off(world.worker, device_id, "device_gone")


def make_old_version(world: World) -> None:
    """Two versions of a template, and then none that is active: only what was followed counts."""
    world.admin.execute(
        """INSERT INTO templates (id, tenant_id, name, channel, version, body, is_active, created_at, updated_at)
           VALUES (gen_random_uuid(), %s, 't', 'sms', 1, 'x', false, tocsin_now(), tocsin_now())""",
        [TENANT],
    )


def make_old_layout(world: World) -> None:
    world.admin.execute(
        """INSERT INTO layouts (id, tenant_id, kind, name, version, body, is_active)
           VALUES (gen_random_uuid(), %s, 'partial', 'p', 1, 'x', false)""",
        [TENANT],
    )


def make_revoked_key(world: World) -> None:
    world.admin.execute("DELETE FROM api_keys")
    world.add_key("send")
    world.admin.execute("UPDATE api_keys SET is_active = false, revoked_at = tocsin_now()")


def make_archived_object(world: World) -> None:
    archives.insert(world.retention, archive_id=uuid4(), tenant_id=TENANT, object_key="x", records=1, size=1, sha256=bytes(32))


# rule, what makes a row, the table, the days it is kept
RULES: list[tuple[str, Callable[[World], Any], str, int]] = [
    ("records", lambda world: (world.accept(), world.dispatch()), "records", 90),
    ("rate_windows", lambda world: world.accept(), "rate_limits", 2),
    ("malformed_intents", make_malformed, "malformed_intents", 30),
    ("dead_letters", make_dead_letter, "dead_letters", 90),
    ("resolved_dead_letters", make_resolved_letter, "dead_letters", 30),
    ("abandoned_executions", make_late_outcome, "abandoned_executions", 7),
    ("reply_inboxes", lambda world: world.accept(reply_within=DAY), "reply_inboxes", 1),
    ("notifications", make_inbox_row, "notifications", 180),
    ("saved_notifications", make_saved_row, "notifications", 730),
    ("hidden_notifications", make_hidden_row, "notifications", 7),
    (
        "expired_notifications",
        lambda world: (
            make_inbox_row(world),
            world.admin.execute(f"UPDATE notifications SET expires_at = tocsin_now() + '{DAY}'"),
        ),
        "notifications",
        1,
    ),
    ("email_log", make_email_log_row, "notification_email_log", 30),
    ("digests", make_digest, "digests", 1),
    ("notification_threads", lambda world: took_part(world, "alice", "comment"), "notification_threads", 365),
    ("jobs", make_job, "jobs", 30),
    ("job_runs", lambda world: job_runs.start(world.worker, uuid4(), "sweep"), "job_runs", 30),
    ("metrics", make_metrics, "metrics", 90),
    ("erasures", make_receipt, "erasures", 1_825),
    ("domain_events", make_event, "domain_events", 30),
    ("suppressions", lambda world: add_suppression(world, reason="soft_bounces", lasts=DAY * 7), "suppressions", 7),
    ("provider_events", make_provider_event, "provider_events", 90),
    ("webhook_deliveries", make_webhook_delivery, "webhook_deliveries", 30),
    ("orphan_events", make_orphan_event, "provider_events", 7),
    ("lanes", make_endpoint_lane, "lanes", 7),
    ("lanes", make_failing_lane, "lanes", 7),
    ("devices", make_dead_device, "devices", 90),
    ("template_versions", make_old_version, "templates", 365),
    ("layout_versions", make_old_layout, "layouts", 365),
    ("api_keys", make_revoked_key, "api_keys", 365),
    ("archives", make_archived_object, "archives", 3_650),
    ("audit_logs", make_audit_row, "audit_logs", 365),
    ("system_events", make_system_event, "admin_system_events", 365),
]
