"""What statements take and give, where rooms need it too. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from tocsin.foundation.due import Due
from tocsin.foundation.text import one_line


class Work(NamedTuple):
    """One piece of work under our lease, of whatever kind. The clock is the database's.

    This record and those below are tuples, because they are made of rows by position, many thousands a second: a frozen dataclass
    takes ten times as long. Their fields stand in the order of the queries in `store/flow/claim`, and a test compares the two."""

    id: UUID
    source_kind: str
    tenant_id: UUID
    notification_id: UUID | None
    route_id: str | None
    generation: int
    payload: dict[str, Any] | None
    claimed_at: datetime
    claim_count: int
    attempt_count: int
    max_attempts: int
    retry_backoff: str
    retry_base_ms: int
    attempt_open: bool  # an attempt was opened and its answer is not known
    last_attempt_no: int
    waits_for: str | None  # the lane it was put off for
    reply_to: UUID | None
    principal_id: UUID | None
    trigger_depth: int
    created_at: datetime


class Unplanned(NamedTuple):
    """What planning must know of a record."""

    notification_type: str
    audience_kind: str
    audience: dict[str, Any] | None
    listed_recipients: int
    payload: dict[str, Any]
    channels: list[str] | None
    template: str | None


class Planning(NamedTuple):
    """A record under our lease that is to become routes."""

    work: Work
    record: Unplanned


class Record(NamedTuple):
    """What a delivery must know of its record, and of the record's type."""

    notification_id: UUID
    notification_type: str
    mode: str
    audience_kind: str
    payload: dict[str, Any]
    expires_at: datetime | None
    cancelled_at: datetime | None
    priority: str
    thread_kind: str | None
    thread_id: str | None
    ambiguous_policy: str | None
    is_transactional: bool
    over_sending_limit: int | None  # of the type, with the window that it counts
    over_sending_window_seconds: int | None
    email_options: dict[str, Any] | None = None  # reply_to, cc, attachments


class Route(NamedTuple):
    """To whom, by which channel, and what is known to stand in the way."""

    route_id: str
    channel: str
    status: str
    user_id: UUID | None
    audience_reason: str
    email: str
    phone: str
    locale: str
    duplicate_suspected: bool
    suppressed_by: str | None
    worded_at: datetime | None = None  # when its words were chosen


class PushDevice(NamedTuple):
    id: UUID
    platform: str
    token: str
    endpoint_arn: str | None
    enabled: bool


class Wishes(NamedTuple):
    """The recipient's preferences for this channel, the finer rule (of the type) first."""

    is_wanted: bool
    frequency_cap: int | None
    cap_is_of_type: bool
    cap_timezone: str | None
    quiet_start: time | None
    quiet_end: time | None
    quiet_timezone: str | None


class PinnedTemplate(NamedTuple):
    """The template's version that was chosen when the route was planned."""

    id: UUID
    name: str
    version: int
    locale: str
    subject: str | None
    body: str
    text: str | None
    layout: str | None = None
    partials: Sequence[str] = ()


class Wording(NamedTuple):
    """All that the words of a route are made of: the same make the same."""

    channel: str
    audience_reason: str
    notification_type: str
    audience_kind: str
    payload: dict[str, Any]
    template: PinnedTemplate | None
    locale: str = ""
    is_known: bool = True  # it went to a user, not to a bare address


@dataclass(frozen=True, slots=True)
class Brand:
    """Who writes, as people see it. What is not said is empty; a name is always there."""

    name: str = ""
    logo_url: str = ""
    color: str = ""
    postal_address: str = ""
    reply_to: str = ""
    from_name: str = ""


class OpenAttempt(NamedTuple):
    """An attempt whose answer is not known, or became known by another way."""

    attempt_no: int
    started_at: datetime
    outcome: str | None
    provider: str
    message_id: str


class Delivery(NamedTuple):
    """A route under our lease, with all that delivering it needs."""

    work: Work
    record: Record
    route: Route
    device: PushDevice | None
    wishes: Wishes
    template: PinnedTemplate | None
    open_attempt: OpenAttempt | None

    @property
    def is_in_doubt(self) -> bool:
        """Whether an earlier attempt may have arrived: its answer is missing, or another attempt was made because it was."""
        return self.work.attempt_open or self.route.duplicate_suspected


class FiredTrigger(NamedTuple):
    id: UUID
    kind: str
    enabled: bool


class RunHandler(NamedTuple):
    """What a trigger runs. Of a webhook with its sealed secret, and the one before while that has not expired."""

    id: UUID
    kind: str
    config: dict[str, Any]
    secret: bytes | None
    previous_secret: bytes | None = None


class RegisteringKey(NamedTuple):
    """Whoever registered the trigger: the key as it is now, or the one that replaced it. The database's clock decided whether it
    is usable."""

    id: UUID
    producer: str
    mode: str
    scopes: list[str]
    rate_limit: int | None
    is_usable: bool


class TriggerRun(NamedTuple):
    """A run of a trigger under our lease. What is None is not there any more; a letter only where one caused the run."""

    work: Work
    trigger: FiredTrigger | None
    handler: RunHandler | None
    key: RegisteringKey | None
    letter: dict[str, Any] | None
    trace_id: str
    lane: "Lane | None"  # the trouble that the handler's endpoint is in


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How one run ends (done, dropped, failed), or in how long it is tried again. `is_tried`: the handler was asked."""

    outbox_id: UUID
    outcome: Literal["done", "dropped", "failed", "again"]
    is_tried: bool = False
    delay: timedelta | None = None
    is_nudged: bool = False  # a delayed nudge will be sent, so the sweep need not
    classification: str = ""
    code: str = ""  # what the handler answered, in one word or number
    message: str = ""
    hint: str = ""


class WebhookMessage(NamedTuple):
    """What is told. The message's id is the same for every try and every redelivery."""

    id: UUID
    event_type: str
    payload: dict[str, Any]
    trace_id: str


class Hook(NamedTuple):
    """Whom to tell, and by which secrets (ciphertexts) it knows us; the previous one only while it has not expired."""

    id: UUID
    url: str
    secret: bytes
    previous_secret: bytes | None
    is_active: bool
    timeout_seconds: int


class WebhookWork(NamedTuple):
    """A webhook's delivery under our lease. Without a message and a hook there is nothing left to tell, or nobody."""

    work: Work
    message: WebhookMessage | None
    hook: Hook | None
    lane: "Lane | None"


@dataclass(frozen=True, slots=True)
class Page:
    """The next page of a large audience: of which event, and after which person it begins."""

    outbox_id: UUID
    tenant_id: UUID
    event_id: int
    after_user_id: UUID | None
    past_expiry: bool = False  # replayed so


@dataclass(frozen=True, slots=True)
class Event:
    """An event as the fan-out reads it, with the template its type names for the inbox."""

    id: int
    tenant_id: UUID
    type: str
    template: str | None
    data: dict[str, Any]
    thread_kind: str | None
    thread_id: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """What is due on a queue, in the order in which to take it; and where the walk over the tenants ended (None: at the end)."""

    due: list[Due]
    stopped_at: UUID | None


@dataclass(frozen=True, slots=True)
class Buried:
    outbox_id: UUID
    classification: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How to turn one record into routes: the channels to use, and the words for the inbox, by locale."""

    outbox_id: UUID
    channels: list[str]
    inbox: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Planned:
    """What planning made: deliveries that are due, and plans that have further recipients to go."""

    deliveries: list[Due]
    unfinished: list[Due]


@dataclass(frozen=True, slots=True)
class Opening:
    outbox_id: UUID
    provider: str
    supersedes: int | None  # an earlier attempt without an answer, given up for this one


@dataclass(frozen=True, slots=True)
class Opened:
    outbox_id: UUID
    attempt_no: int
    attempt_count: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """Proof that an attempt was accepted, from whoever learned it too late to settle the route."""

    notification_id: UUID
    route_id: str
    generation: int
    attempt_no: int
    provider_message_id: str


@dataclass(frozen=True, slots=True)
class Lane:
    lane: str
    state: str
    reason: str
    resume_at: datetime
    is_closed: bool
    updated_at: datetime
    timed_out: bool = False  # its last failures were time-outs: they cost a sender's time, not only an answer
    probe_size: int = 1  # how many may go while it recovers
    probe_until: datetime | None = None  # somebody is trying it until then
    is_ours: bool = False  # and that is us

    @property
    def is_recovering(self) -> bool:
        """Its pause is over and nothing went through yet: it is tried, not used."""
        return not self.is_closed and self.state != "failing"


@dataclass(frozen=True, slots=True)
class Settlement:
    """How one claimed delivery ends, or when it goes on. Exactly one of the two: a status that ends it, or a due time."""

    outbox_id: UUID
    status: str
    reason: str = ""
    # the attempt this closes, if one was opened
    attempt_no: int | None = None
    attempt_outcome: str | None = None
    attempt_counts: bool = True
    provider: str = ""
    provider_message_id: str = ""
    error_classification: str = ""
    error_message: str = ""
    provider_code: str = ""  # what the provider calls the failure
    provider_response: str = ""  # what it answered, in a line
    attempt_error: str = ""  # of an attempt that has no words of its own yet; without it the error above
    note: str = ""  # what was done to the words so that the provider takes them
    # when it goes on: after a delay from now (the database's now), or at a time
    delay: timedelta | None = None
    due_at: datetime | None = None
    expires_at: datetime | None = None  # when it goes on at the latest, to end
    waits_for: str | None = None  # the lane whose reopening brings it forward
    is_nudged: bool = False  # a delayed nudge will be sent, so the sweep need not
    awaits_evidence: bool = False
    is_deferral: bool = False
    may_have_arrived: bool = False  # it ends, and an earlier attempt is in doubt
    recovery_hint: str = ""

    @property
    def ends(self) -> bool:
        return self.delay is None and self.due_at is None

    def as_json(self) -> dict[str, Any]:
        return {
            "outbox_id": str(self.outbox_id),
            "status": self.status,
            "reason": self.reason,
            "attempt_no": self.attempt_no,
            "attempt_outcome": self.attempt_outcome,
            "uncounted": 0 if self.attempt_counts else 1,
            "provider": self.provider,
            "provider_message_id": self.provider_message_id,
            "error_classification": self.error_classification,
            "error_message": self.error_message[:1000],
            "provider_code": self.provider_code[:200],
            "provider_response": one_line(self.provider_response)[:500],
            "attempt_error": (self.attempt_error or self.error_message)[:1000],
            "note": self.note[:200],
            "ends": self.ends,
            "delay_ms": None if self.delay is None else self.delay.total_seconds() * 1000,
            "due_at": None if self.due_at is None else self.due_at.isoformat(),
            "expires_at": None if self.expires_at is None else self.expires_at.isoformat(),
            "waits_for": self.waits_for,
            "is_nudged": self.is_nudged,
            "awaits_evidence": self.awaits_evidence,
            "is_deferral": self.is_deferral,
            "may_have_arrived": self.may_have_arrived,
            "recovery_hint": self.recovery_hint,
        }


@dataclass(frozen=True, slots=True)
class State:
    """What the log knows about one delivery's recipient."""

    outbox_id: UUID
    now: datetime
    is_reserved: bool  # by an earlier try of the same delivery
    is_in_hour: bool  # so an earlier try is among what the hour's, the day's or the guard's next reader counts
    is_in_day: bool
    is_in_guard: bool
    emails_this_hour: int
    hourly_limit: int  # the tenant's own, or the installation's
    hour_is_full_until: datetime | None
    sent_today: int  # on the channel, or of the type on it, as the cap counts
    thread_told_at: datetime | None
    digest_id: UUID | None  # a digest is being collected for the thread
    digest_outbox_id: UUID | None
    is_read: bool  # the thread's inbox row exists and is read
    payload: dict[str, object]  # the record's, as it is now
    address_hash: bytes | None  # of what is guarded against over-sending
    sent_to_address: int  # of the type, in the guard's window


# The feedback register is a lattice: whatever order events come in, the highest rank stays.
RANKS = ("none", "delayed", "delivered", "soft_bounced", "hard_bounced", "complained")


@dataclass(frozen=True, slots=True)
class Named:
    """The attempt that an event says it is about."""

    notification_id: UUID
    route_id: str
    generation: int
    attempt_no: int


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    key: bytes
    provider: str
    kind: str
    feedback: str
    suppresses: bool
    provider_message_id: str
    named: Named | None
    detail: str
    occurred_at: datetime
    recipients: tuple[str, ...] = ()  # whom it is about, as the provider says; none: whoever it was sent to


@dataclass(frozen=True, slots=True)
class LetterStanding:
    """A letter, and what has become of the things it is about. `in_doubt`: the message may have arrived all the same."""

    id: UUID
    source_kind: str
    failure_classification: str
    resolution: str | None
    has_record: bool
    is_cancelled: bool
    is_expired: bool
    is_dead_route: bool
    has_recipient: bool
    is_proven: bool
    in_doubt: bool
    has_event: bool
    has_delivery: bool
    has_active_hook: bool
    has_trigger: bool
    has_enabled_trigger: bool
    is_under_way: bool
