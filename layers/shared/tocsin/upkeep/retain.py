"""Retain: forget on schedule, in small batches, and say what was forgotten."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection

from tocsin.foundation.settings import Settings
from tocsin.store import (
    admin_system_events,
    audit_logs,
    dead_letters,
    digests,
    domain_events,
    lanes,
    malformed_intents,
    notification_email_log,
    notification_threads,
    notifications,
    provider_events,
    rate_limits,
    records,
    suppressions,
    tenants,
    webhook_deliveries,
)

BATCH = 1_000

RECORDS = timedelta(days=90)
MALFORMED = timedelta(days=30)
INBOX = timedelta(days=180)
INBOX_HIDDEN = timedelta(days=7)
SYSTEM_EVENTS = timedelta(days=365)
RATE_WINDOWS = timedelta(days=2)
PROVIDER_EVENTS = timedelta(days=90)
ORPHAN_EVENTS = timedelta(days=7)
AUDIT = timedelta(days=365)
EMAIL_LOG = timedelta(days=30)
DOMAIN_EVENTS = timedelta(days=30)
TAKING_PART = timedelta(days=365)
DIGESTS = timedelta(days=1)
INBOX_SAVED = timedelta(days=730)
ENDPOINT_LANES = timedelta(days=7)  # longer than anything waits for an endpoint

Pass = Callable[[Connection[Any], int], int]


@dataclass(frozen=True, slots=True)
class Ages:
    """How long is kept what each installation decides for itself."""

    dead_letters: timedelta
    resolved_dead_letters: timedelta
    abandoned_executions: timedelta
    webhook_deliveries: timedelta

    @classmethod
    def of(cls, config: Settings) -> "Ages":
        return cls(
            dead_letters=timedelta(days=config.dead_letter_retention_days),
            resolved_dead_letters=timedelta(days=config.resolved_dead_letter_retention_days),
            abandoned_executions=timedelta(days=config.abandoned_executions_retention_days),
            webhook_deliveries=timedelta(days=config.webhook_delivery_retention_days),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """Rows forgotten per rule, and whether all rules ran to their end."""

    forgotten: dict[str, int]
    is_complete: bool


def retain(conn: Connection[Any], *, has_time: Callable[[], bool], ages: Ages, batch: int = BATCH) -> Report:
    """Apply every rule batch by batch while there is time. What is left is found by the next run."""
    forgotten: dict[str, int] = {}
    for name, forget in _rules(conn, ages).items():
        forgotten[name] = 0
        while True:
            if not has_time():
                return Report(forgotten, is_complete=False)
            count = forget(conn, batch)
            forgotten[name] += count
            if count == 0:
                break
    return Report(forgotten, is_complete=True)


def _rules(conn: Connection[Any], ages: Ages) -> dict[str, Pass]:
    rules: dict[str, Pass] = {
        "idempotency_windows": lambda conn, limit: records.release_expired_keys(conn, limit=limit),
        "rate_limits": lambda conn, limit: rate_limits.delete_expired(conn, age=RATE_WINDOWS, limit=limit),
        "malformed_intents": lambda conn, limit: malformed_intents.delete_expired(conn, age=MALFORMED, limit=limit),
        "dead_letters": lambda conn, limit: dead_letters.delete_expired(
            conn, resolved_age=ages.resolved_dead_letters, unresolved_age=ages.dead_letters, limit=limit
        ),
        "notifications": lambda conn, limit: notifications.delete_expired(
            conn, age=INBOX, saved_age=INBOX_SAVED, hidden_age=INBOX_HIDDEN, limit=limit
        ),
        "notification_email_log": lambda conn, limit: notification_email_log.delete_expired(conn, age=EMAIL_LOG, limit=limit),
        "digests": lambda conn, limit: digests.delete_expired(conn, age=DIGESTS, limit=limit),
        "notification_threads": lambda conn, limit: notification_threads.delete_expired(conn, age=TAKING_PART, limit=limit),
        "domain_events": lambda conn, limit: domain_events.delete_expired(conn, age=DOMAIN_EVENTS, limit=limit),
        "suppressions": lambda conn, limit: suppressions.delete_expired(conn, limit=limit),
        "provider_events": lambda conn, limit: provider_events.delete_expired(
            conn, age=PROVIDER_EVENTS, orphan_age=ORPHAN_EVENTS, limit=limit
        ),
        "webhook_deliveries": lambda conn, limit: webhook_deliveries.delete_expired(
            conn, age=ages.webhook_deliveries, limit=limit
        ),
        "lanes": lambda conn, limit: lanes.delete_forgotten(conn, age=ENDPOINT_LANES, limit=limit),
        "audit_logs": lambda conn, limit: audit_logs.delete_expired(conn, age=AUDIT, limit=limit),
        "admin_system_events": lambda conn, limit: admin_system_events.delete_expired(conn, age=SYSTEM_EVENTS, limit=limit),
    }
    own = tenants.own_retention(conn, "records_days")
    rules["records"] = lambda conn, limit: records.delete_expired(conn, age=RECORDS, limit=limit, except_for=list(own))
    for tenant_id, days in own.items():
        rules[f"records of {tenant_id}"] = lambda conn, limit, tenant_id=tenant_id, days=days: records.delete_expired(  # type: ignore[misc]
            conn, age=timedelta(days=days), limit=limit, only=tenant_id
        )
    return rules
