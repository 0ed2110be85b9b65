"""What the template tells a function, read once. What names a resource has no default: reading it where it is missing says so.
What is out of bounds says so at once, by its variable's name."""

import os
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

QUEUES = ("plan", "email", "sms", "push", "webhook", "trigger")  # the classes of work, each with a queue and workers of its own

_NOT_GIVEN: Any = object()  # a function is given what it needs, so what is missing is missed only by whoever reads it


class MissingSetting(Exception):
    """A variable that the code reads is not in the function's environment. Whoever deployed it corrects the template."""

    def __init__(self, name: str) -> None:
        function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "this process")
        super().__init__(f"{name.upper()} is not set in the environment of {function}")


class InvalidSetting(Exception):
    """A variable in the function's environment cannot be read, or is out of bounds. Whoever deployed it chooses another value.
    What the variable holds is not repeated: it may be a secret."""

    def __init__(self, reasons: dict[str, str]) -> None:
        function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "this process")
        said = "; ".join(f"{name.upper()}: {reason}" for name, reason in reasons.items())
        super().__init__(f"the environment of {function} cannot be used: {said}")


def _listed(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    # The database: one URL (tests, benches; absent in the cloud), or a host and a secret (the cloud and the local stack).
    tocsin_database_url: str | None = None
    database_host: str = _NOT_GIVEN
    database_port: int = 5432
    database_name: str = _NOT_GIVEN
    database_secret_arn: str = _NOT_GIVEN
    database_sslmode: str = "verify-full"
    database_certificates: Literal["rds", "own"] = "rds"  # whom a verified server's certificate must come from
    database_prepared: bool = True  # off behind RDS Proxy, where a named statement pins the session

    # The work queues: one per class of work; a function has those whose workers it nudges.
    plan_queue_url: str = _NOT_GIVEN
    email_queue_url: str = _NOT_GIVEN
    sms_queue_url: str = _NOT_GIVEN
    push_queue_url: str = _NOT_GIVEN
    webhook_queue_url: str = _NOT_GIVEN
    trigger_queue_url: str = _NOT_GIVEN

    # The other queues, for whoever asks how deep they are.
    intake_queue_url: str = _NOT_GIVEN
    feedback_queue_url: str = _NOT_GIVEN
    intake_dead_letter_queue_url: str = _NOT_GIVEN
    work_dead_letter_queue_url: str = _NOT_GIVEN
    feedback_dead_letter_queue_url: str = _NOT_GIVEN
    failed_invocations_queue_url: str = _NOT_GIVEN

    # The ways to AWS.
    aws_over_ipv6: bool = False  # where the network has no other way out
    aws_endpoint_url: str | None = None  # a stand-in for AWS (the local stack, tests); absent in the cloud

    # Watching.
    log_level: str = "INFO"  # Powertools' logger reads it too
    powertools_metrics_namespace: str | None = None  # absent: system events are logged and not counted

    # Taking in.
    default_tenant_id: UUID | None = None  # the installation's own; absent: whatever comes by queue names its tenant
    idempotency_days: int = 7
    rate_limit_per_minute: int = 6000
    api_calls_per_minute: int = Field(12_000, ge=10, le=1_000_000)  # of one key, all its calls together
    user_calls_per_minute: int = Field(600, ge=10, le=1_000_000)  # of one person, by user tokens

    # Sending.
    lease_seconds: int = 90
    evidence_window_seconds: int = 900
    send_concurrency: int = 16
    sandbox_domain: str = "sandbox.tocsin.example"
    dampener_window_seconds: int = Field(600, ge=60, le=900)  # at most what a delayed nudge can wait, which its end is told by
    emails_per_user_per_hour: int = Field(100, ge=1, le=10_000)
    over_sending_limit: int = Field(5, ge=1, le=10_000)  # this and the next: of types such as password resets that do not say
    over_sending_window_seconds: int = Field(3_600, ge=60, le=86_400)  # at most a day: the log that is counted is kept longer
    email_from: str = _NOT_GIVEN
    email_configuration_set: str = _NOT_GIVEN
    public_url: str = _NOT_GIVEN  # where unsubscribe links lead
    sms_sender_id: str | None = None  # absent: SNS chooses a number
    apns_application_arn: str | None = None  # absent: no push to such devices
    fcm_application_arn: str | None = None
    provider_base_urls: str | None = None  # JSON, in the local stack alone: SendGrid, Twilio and FCM are its post office
    allow_private_destinations: bool = False  # whether we call private addresses, and http: the local stack and closed networks
    internet_egress: Literal["true", "false", "unknown"] = "unknown"  # whether a way leads out, if the network is ours

    # What providers say afterwards.
    soft_bounce_limit: int = Field(5, ge=1, le=100)  # so many
    soft_bounce_window_days: int = Field(14, ge=1, le=90)  # in so long (events are kept 90 days)
    soft_bounce_suppression_days: int = Field(7, ge=1, le=365)  # suppress the address for so long

    # Triggers, and what tenants keep here.
    max_trigger_depth: int = Field(8, ge=1, le=32)
    trigger_retry_max_attempts: int = Field(5, ge=1, le=20)  # this and the next two: of a trigger that does not say
    trigger_retry_backoff: Literal["exponential", "linear", "constant"] = "exponential"
    trigger_retry_base_ms: int = Field(1_000, ge=100, le=3_600_000)
    trigger_function_arns: Annotated[frozenset[str], BeforeValidator(_listed)] = frozenset()  # those that triggers may invoke
    kv_entries_per_tenant: int = Field(10_000, ge=1, le=1_000_000)
    triggers_per_tenant: int = Field(100, ge=1, le=1_000)
    webhooks_per_tenant: int = Field(20, ge=1, le=100)

    # Forgetting. The least is what the service itself needs: a reservation, a window of a cap, a window of soft bounces.
    record_retention_days: int = Field(90, ge=7, le=3_650)
    malformed_intent_retention_days: int = Field(30, ge=1, le=3_650)
    dead_letter_retention_days: int = Field(90, ge=1, le=3_650)
    resolved_dead_letter_retention_days: int = Field(30, ge=1, le=3_650)
    abandoned_executions_retention_days: int = Field(7, ge=1, le=365)
    notification_retention_days: int = Field(180, ge=1, le=3_650)
    saved_notification_retention_days: int = Field(730, ge=1, le=3_650)
    hidden_notification_retention_days: int = Field(7, ge=1, le=365)
    email_log_retention_days: int = Field(30, ge=2, le=365)
    digest_retention_days: int = Field(1, ge=1, le=30)
    thread_retention_days: int = Field(365, ge=30, le=3_650)
    domain_event_retention_days: int = Field(30, ge=7, le=3_650)
    webhook_delivery_retention_days: int = Field(30, ge=1, le=365)
    provider_event_retention_days: int = Field(90, ge=30, le=3_650)
    orphan_event_retention_days: int = Field(7, ge=1, le=365)
    rate_window_retention_days: int = Field(2, ge=2, le=30)
    lane_retention_days: int = Field(7, ge=7, le=90)
    device_retention_days: int = Field(90, ge=1, le=3_650)
    template_version_retention_days: int = Field(365, ge=30, le=3_650)
    ended_access_retention_days: int = Field(365, ge=30, le=3_650)
    audit_log_retention_days: int = Field(365, ge=30, le=3_650)
    system_event_retention_days: int = Field(365, ge=30, le=3_650)
    job_run_retention_days: int = Field(30, ge=7, le=365)
    archive_bucket: str | None = None  # absent: records are forgotten without being archived
    archive_retention_days: int = Field(3_650, ge=1, le=36_500)

    # Secrets and keys, by name.
    unsubscribe_secret_arn: str = _NOT_GIVEN
    user_token_secret_arn: str = _NOT_GIVEN
    data_key_arn: str = _NOT_GIVEN

    # The deployment.
    migrations_folder: str = _NOT_GIVEN
    database_admin_secret_arn: str = _NOT_GIVEN
    app_secret_arn: str = _NOT_GIVEN
    worker_secret_arn: str = _NOT_GIVEN
    retention_secret_arn: str = _NOT_GIVEN
    admin_key_secret_arn: str = _NOT_GIVEN

    def model_post_init(self, context: Any, /) -> None:
        for name in [name for name, value in self.__dict__.items() if value is _NOT_GIVEN]:
            del self.__dict__[name]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What is not there by the usual way: a setting that was not given."""
            if name in Settings.model_fields:
                raise MissingSetting(name)
            return super().__getattr__(name)

    def queue_url(self, queue: str) -> str:
        url: str = getattr(self, f"{queue}_queue_url")
        return url

    def queue_of(self, arn: str) -> str | None:
        """Which of this function's work queues this is the ARN of; both end with its name."""
        name = arn.rpartition(":")[2]
        given = [queue for queue in QUEUES if f"{queue}_queue_url" in self.model_fields_set]
        found = (queue for queue in given if self.queue_url(queue).rpartition("/")[2] == name)
        return next(found, None) if name else None

    @property
    def first_tenant_id(self) -> UUID:
        """The default tenant, for whom there must be one: the deployment makes it."""
        if self.default_tenant_id is None:
            raise MissingSetting("default_tenant_id")
        return self.default_tenant_id

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def evidence_window(self) -> timedelta:
        return timedelta(seconds=self.evidence_window_seconds)


@cache
def settings() -> Settings:
    return _read()


def _read() -> Settings:
    given = {name: os.environ[name.upper()] for name in Settings.model_fields if os.environ.get(name.upper())}
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        raise InvalidSetting({str(one["loc"][0]): one["msg"] for one in error.errors()}) from None  # it quotes what was given


_read()  # a value that cannot be used is told when a function starts, not by its first request
