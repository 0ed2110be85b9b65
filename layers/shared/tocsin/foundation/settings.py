"""What the template tells a function, read once. Names of resources have no default."""

import os
from datetime import timedelta
from functools import cache
from uuid import UUID

from pydantic import BaseModel, ConfigDict

QUEUES = ("plan", "email", "sms", "push")  # the classes of work, each with a queue and workers of its own


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    # The database: one URL (tests, benches), or a host and a secret (the cloud and the local stack).
    tocsin_database_url: str = ""
    database_host: str = ""
    database_port: int = 5432
    database_name: str = "tocsin"
    database_secret_arn: str = ""
    database_sslmode: str = "verify-full"
    database_prepared: bool = True  # off behind RDS Proxy, where a named statement pins the session

    default_tenant_id: UUID | None = None
    stage: str = "dev"
    # the work queues: one per class of work; a function has those that it announces work on
    plan_queue_url: str = ""
    email_queue_url: str = ""
    sms_queue_url: str = ""
    push_queue_url: str = ""
    idempotency_days: int = 7
    rate_limit_per_minute: int = 6000

    lease_seconds: int = 90
    evidence_window_seconds: int = 900
    send_concurrency: int = 16
    email_from: str = ""
    email_configuration_set: str = ""
    sms_sender_id: str = ""
    public_url: str = ""  # where unsubscribe links lead
    unsubscribe_secret_arn: str = ""
    user_token_secret_arn: str = ""
    data_key_arn: str = ""
    provider_base_urls: str = ""  # JSON; the local stack sends SendGrid, Twilio and FCM to its post office
    sandbox_domain: str = "sandbox.tocsin.example"
    apns_application_arn: str = ""
    fcm_application_arn: str = ""

    def queue_url(self, queue: str) -> str:
        url: str = getattr(self, f"{queue}_queue_url")
        return url

    def queue_of(self, arn: str) -> str | None:
        """Which work queue this is the ARN of; both end with its name."""
        name = arn.rpartition(":")[2]
        found = (queue for queue in QUEUES if self.queue_url(queue).rpartition("/")[2] == name)
        return next(found, None) if name else None

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def evidence_window(self) -> timedelta:
        return timedelta(seconds=self.evidence_window_seconds)


@cache
def settings() -> Settings:
    given = {name: os.environ[name.upper()] for name in Settings.model_fields if os.environ.get(name.upper())}
    return Settings.model_validate(given)
