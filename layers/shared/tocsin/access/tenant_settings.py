"""What a tenant may decide for itself: how long things are kept, and how much of something there may be. Pure."""

from typing import Annotated

from pydantic import Field, StrictInt

from tocsin.foundation.fields import Closed

Days = Annotated[StrictInt, Field(ge=1, le=3_650)]
Cap = Annotated[StrictInt, Field(ge=1, le=1_000_000)]


class Retention(Closed):
    records_days: Days | None = None
    malformed_intents_days: Days | None = None
    dead_letters_days: Days | None = None
    resolved_dead_letters_days: Days | None = None
    abandoned_executions_days: Days | None = None
    notifications_days: Days | None = None
    hidden_notifications_days: Days | None = None
    email_log_days: Days | None = None
    webhook_deliveries_days: Days | None = None
    domain_events_days: Days | None = None
    audit_logs_days: Days | None = None
    system_events_days: Days | None = None
    kv_entries_days: Days | None = None  # since the last write; unless it is said, for ever


class Caps(Closed):
    intents_per_minute: Cap | None = None
    api_calls_per_minute: Cap | None = None
    emails_per_user_per_hour: Cap | None = None


class TenantSettings(Closed):
    """What is not said is as the installation has it."""

    retention: Retention | None = None
    caps: Caps | None = None
