"""The rules of forgetting, as data: retention works from them, and GET /v1/retention shows them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from psycopg import Connection

from tocsin.foundation.settings import Settings
from tocsin.store import (
    abandoned_executions,
    admin_system_events,
    api_keys,
    archives,
    dead_letters,
    devices,
    digests,
    domain_events,
    erasures,
    job_runs,
    jobs,
    lanes,
    layouts,
    malformed_intents,
    metrics,
    notification_email_log,
    notification_threads,
    notifications,
    provider_events,
    rate_limits,
    records,
    reply_inboxes,
    suppressions,
    templates,
    webhook_deliveries,
)
from tocsin.store.flow import forget_audit, forget_kv
from tocsin.upkeep import archive

HOURLY_METRICS = timedelta(days=90)
DAILY_METRICS = timedelta(days=5 * 366)
ERASURES = timedelta(days=1_825)  # so long a receipt can be shown


@dataclass(frozen=True, slots=True)
class Rule:
    """What is forgotten, and when.

    `days` is the installation's number, which `setting` gives; without it each row has its own time, or stays for ever. `own`: a
    tenant may have another number, by this name in its settings, but none below `least`."""

    name: str
    says: str
    forget: Callable[..., int]
    days: int | None = None
    setting: str = ""
    own: str = ""
    least: int = 1

    def apply(self, conn: Connection[Any], limit: int) -> int:
        """Forget at most so many; returns how many it were."""
        given: dict[str, Any] = {} if self.days is None else {"age": timedelta(days=self.days)}
        if self.own:
            given["least"] = timedelta(days=self.least)
        return self.forget(conn, limit=limit, **given)

    def effective_days(self, own: int | None) -> int | None:
        """For a tenant with this number of its own."""
        return self.days if own is None else max(own, self.least)


def rules_of(config: Settings) -> list[Rule]:
    """Every rule, with the numbers of this installation."""
    return [
        *_of_what_was_asked(config),
        *_of_what_people_see(config),
        *_of_what_is_configured(config),
        *_of_the_installation(config),
    ]


def _of_what_was_asked(config: Settings) -> list[Rule]:
    return [
        Rule(
            "idempotency_windows",
            "A record gives its idempotency key free when its window has ended.",
            records.release_expired_keys,
        ),
        Rule(
            "malformed_intents",
            "What came in by queue and could not be accepted.",
            malformed_intents.delete_expired,
            config.malformed_intent_retention_days,
            "MALFORMED_INTENT_RETENTION_DAYS",
            own="malformed_intents",
        ),
        Rule(
            "dead_letters",
            "A dead letter that nobody has resolved, so long after it was written.",
            dead_letters.delete_expired,
            config.dead_letter_retention_days,
            "DEAD_LETTER_RETENTION_DAYS",
            own="dead_letters",
        ),
        Rule(
            "resolved_dead_letters",
            "A dead letter, so long after it was resolved.",
            dead_letters.delete_resolved,
            config.resolved_dead_letter_retention_days,
            "RESOLVED_DEAD_LETTER_RETENTION_DAYS",
            own="resolved_dead_letters",
        ),
        Rule(
            "abandoned_executions",
            "An outcome that nobody waited for any more.",
            abandoned_executions.delete_expired,
            config.abandoned_executions_retention_days,
            "ABANDONED_EXECUTIONS_RETENTION_DAYS",
            own="abandoned_executions",
        ),
        Rule(
            "reply_inboxes",
            "The mailbox of a caller who died while waiting, when nobody can wait there any longer.",
            reply_inboxes.delete_expired,
        ),
        Rule(
            "domain_events",
            "An event that every consumer has passed.",
            domain_events.delete_expired,
            config.domain_event_retention_days,
            "DOMAIN_EVENT_RETENTION_DAYS",
            own="domain_events",
            least=7,
        ),
        Rule(
            "kv_entries",
            "An entry of the KV store, so long after its last write, for tenants that say so; for all others it stays for ever."
            " No trigger hears of it.",
            forget_kv.forget,
            own="kv_entries",
        ),
        Rule(
            "records",
            "A record goes with its routes, attempts and dead letters, so long after it was accepted. It stays while any of it is"
            " under way, a webhook is still to hear of it, or it holds its idempotency key.",
            partial(archive.forget_records, bucket=config.archive_bucket),
            config.record_retention_days,
            "RECORD_RETENTION_DAYS",
            own="records",
            least=7,
        ),
    ]


def _of_what_people_see(config: Settings) -> list[Rule]:
    return [
        Rule(
            "notifications",
            "An inbox row on which nothing has happened for so long.",
            notifications.delete_old,
            config.notification_retention_days,
            "NOTIFICATION_RETENTION_DAYS",
            own="notifications",
        ),
        Rule(
            "expired_notifications",
            "An inbox row that has its own expiry, when it comes.",
            notifications.delete_expired,
        ),
        Rule(
            "saved_notifications",
            "An inbox row that its reader saved, and on which nothing has happened for so long.",
            notifications.delete_saved,
            config.saved_notification_retention_days,
            "SAVED_NOTIFICATION_RETENTION_DAYS",
        ),
        Rule(
            "hidden_notifications",
            "An inbox row that was deleted, so long afterwards.",
            notifications.delete_hidden,
            config.hidden_notification_retention_days,
            "HIDDEN_NOTIFICATION_RETENTION_DAYS",
            own="hidden_notifications",
        ),
        Rule(
            "email_log",
            "What was sent to whom, the evidence of caps and the storm dampener.",
            notification_email_log.delete_expired,
            config.email_log_retention_days,
            "EMAIL_LOG_RETENTION_DAYS",
            own="email_log",
            least=2,
        ),
        Rule(
            "digests",
            "A digest whose email ended in another way than by going out.",
            digests.delete_expired,
            config.digest_retention_days,
            "DIGEST_RETENTION_DAYS",
        ),
        Rule(
            "notification_threads",
            "That somebody took part in a thread. What people chose themselves stays for ever.",
            notification_threads.delete_expired,
            config.thread_retention_days,
            "THREAD_RETENTION_DAYS",
            least=30,
        ),
        Rule(
            "suppressions",
            "A suppression that has its own expiry, when it comes; any other stays for ever.",
            suppressions.delete_expired,
        ),
    ]


def _of_what_is_configured(config: Settings) -> list[Rule]:
    return [
        Rule(
            "devices",
            "A device, so long after it was switched off because its token is dead.",
            devices.delete_disabled,
            config.device_retention_days,
            "DEVICE_RETENTION_DAYS",
        ),
        Rule(
            "layout_versions",
            "A version of a layout or a partial, so long after another followed it, and never before the records of its time."
            " What was planned before then and is still to be sent keeps it.",
            partial(layouts.delete_superseded, records_age=timedelta(days=config.record_retention_days)),
            config.template_version_retention_days,
            "TEMPLATE_VERSION_RETENTION_DAYS",
            least=30,
        ),
        Rule(
            "template_versions",
            "A version of a template, so long after another followed it, and never before the records of its time. What is still"
            " to be sent keeps its version.",
            partial(templates.delete_superseded, records_age=timedelta(days=config.record_retention_days)),
            config.template_version_retention_days,
            "TEMPLATE_VERSION_RETENTION_DAYS",
            least=30,
        ),
        Rule(
            "api_keys",
            "An API key, so long after it was revoked or ran out. One that registered a trigger stays with it.",
            api_keys.delete_ended,
            config.ended_access_retention_days,
            "ENDED_ACCESS_RETENTION_DAYS",
            least=30,
        ),
        Rule(
            "webhook_deliveries",
            "What a webhook was told. What it is still to be told stays.",
            webhook_deliveries.delete_expired,
            config.webhook_delivery_retention_days,
            "WEBHOOK_DELIVERY_RETENTION_DAYS",
            own="webhook_deliveries",
        ),
    ]


def _of_the_installation(config: Settings) -> list[Rule]:
    return [
        Rule(
            "provider_events",
            "What a provider told us of a message.",
            provider_events.delete_expired,
            config.provider_event_retention_days,
            "PROVIDER_EVENT_RETENTION_DAYS",
            least=30,
        ),
        Rule(
            "orphan_events",
            "What a provider told us of no message of ours.",
            provider_events.delete_orphans,
            config.orphan_event_retention_days,
            "ORPHAN_EVENT_RETENTION_DAYS",
        ),
        Rule(
            "rate_windows",
            "A window in which requests were counted.",
            rate_limits.delete_expired,
            config.rate_window_retention_days,
            "RATE_WINDOW_RETENTION_DAYS",
            least=2,
        ),
        Rule(
            "lanes",
            "The lane of an endpoint by which nothing went for so long, and failures of any lane that stayed open.",
            lanes.delete_forgotten,
            config.lane_retention_days,
            "LANE_RETENTION_DAYS",
            least=7,
        ),
        Rule(
            "audit_logs",
            "Who changed what.",
            forget_audit.delete_expired,
            config.audit_log_retention_days,
            "AUDIT_LOG_RETENTION_DAYS",
            own="audit_logs",
            least=30,
        ),
        Rule(
            "system_events",
            "A condition that has passed. One that is open stays for ever.",
            admin_system_events.delete_expired,
            config.system_event_retention_days,
            "SYSTEM_EVENT_RETENTION_DAYS",
            own="system_events",
            least=30,
        ),
        Rule(
            "jobs",
            "A job that somebody started, so long after it ended.",
            jobs.delete_expired,
            config.job_run_retention_days,
            "JOB_RUN_RETENTION_DAYS",
            least=7,
        ),
        Rule(
            "erasures",
            "The receipt of an erasure: five years.",
            partial(erasures.delete_expired, age=ERASURES),
        ),
        Rule(
            "metrics",
            "Counts by the hour 90 days, by the day five years.",
            partial(metrics.delete_expired, hourly_age=HOURLY_METRICS, daily_age=DAILY_METRICS),
        ),
        Rule(
            "job_runs",
            "What ran on schedule.",
            job_runs.delete_expired,
            config.job_run_retention_days,
            "JOB_RUN_RETENTION_DAYS",
            least=7,
        ),
        Rule(
            "archives",
            "What was written to the archive; the bucket forgets the object at the same age.",
            archives.delete_expired,
            config.archive_retention_days,
            "ARCHIVE_RETENTION_DAYS",
        ),
    ]
