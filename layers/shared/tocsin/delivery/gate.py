"""The gate: may this delivery go out now? The first rule that says no decides, and its reason is written down. Pure."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from tocsin.delivery import quiet_hours
from tocsin.store.rows import Delivery, PushDevice, Record, Route, Wishes, Work

MAX_CLAIMS = 3
POISON = f"{MAX_CLAIMS} workers took this on and none recorded an outcome"
SILENCE = "the provider's answer was lost and no evidence of delivery came"
_AMBIGUOUS_POLICY = {"email": "retry", "push": "retry", "sms": "hold"}


@dataclass(frozen=True, slots=True)
class Send:
    supersedes: int | None = None  # the attempt whose answer never came; sending again may be a second copy
    before: datetime | None = None  # when quiet hours begin


@dataclass(frozen=True, slots=True)
class End:
    """Over, without (another) send."""

    status: str
    reason: str
    detail: str = ""
    is_told: bool = False  # in another way: the reader knows, whatever became of this message


@dataclass(frozen=True, slots=True)
class Proven:
    """An earlier attempt was accepted after all."""

    attempt_no: int
    provider: str
    provider_message_id: str


@dataclass(frozen=True, slots=True)
class AwaitEvidence:
    """The answer to an attempt is missing: whoever has it may still say so until then."""

    attempt_no: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Defer:
    """Later, at no cost; sooner if the lane it waits for reopens before."""

    reason: str
    until: datetime
    waits_for: str | None = None


Decision = Send | End | Proven | AwaitEvidence | Defer


def decide(one: Delivery, *, evidence_window: timedelta) -> Decision:
    """An attempt in doubt comes first: it is proven, or waited for. After that, what forbids a send means "not again", and the
    end will say that the attempt may have arrived."""
    work, record, route = one.work, one.record, one.route
    now = work.claimed_at
    if one.open_attempt is not None:
        if one.open_attempt.outcome == "accepted":
            return Proven(one.open_attempt.attempt_no, one.open_attempt.provider, one.open_attempt.message_id)
        until = one.open_attempt.started_at + evidence_window
        if work.attempt_open and now < until:
            return AwaitEvidence(work.last_attempt_no, until)
    if work.claim_count > MAX_CLAIMS:
        return End("dead_letter", "poison", POISON)
    if record.cancelled_at is not None:
        return End("cancelled", "cancelled")
    if record.expires_at is not None and record.expires_at <= now:
        return End("skipped", "expired")
    if route.suppressed_by:
        return End("skipped", f"suppressed: {route.suppressed_by}")
    if not _has_address(route, one.device):
        return End("skipped", "no_address")
    if not one.wishes.is_wanted:
        return End("skipped", f"preference: {route.channel} off")
    decision = _after_silence(work, record, route) if work.attempt_open else Send()
    if isinstance(decision, End):
        return decision
    quiet = None if record.priority == "critical" else _quiet_hours(one.wishes)  # what is critical comes through
    if quiet is None:
        return decision
    if quiet_until := quiet_hours.ends_at(now, *quiet):
        return Defer("quiet_hours", quiet_until)
    return Send(decision.supersedes, quiet_hours.next_start(now, *quiet))


def _quiet_hours(wishes: Wishes) -> tuple[time, time, str] | None:
    if wishes.quiet_start is None or wishes.quiet_end is None:
        return None
    return wishes.quiet_start, wishes.quiet_end, wishes.quiet_timezone or "UTC"


def _after_silence(work: Work, record: Record, route: Route) -> Send | End:
    """No evidence came: the type's policy decides, or else the channel's, and the doubt is recorded. What somebody waited for is
    tried once."""
    if work.reply_to or (record.ambiguous_policy or _AMBIGUOUS_POLICY[route.channel]) == "hold":
        return End("dead_letter", "ambiguous", SILENCE)
    if route.duplicate_suspected:
        return End("dead_letter", "ambiguous", "a second answer was lost too; a third copy is not worth the doubt")
    if work.attempt_count >= work.max_attempts:
        return End("dead_letter", "ambiguous", "the provider's answer to the last attempt was lost")
    return Send(supersedes=work.last_attempt_no)


def _has_address(route: Route, device: PushDevice | None) -> bool:
    match route.channel:
        case "email":
            return bool(route.email)
        case "sms":
            return bool(route.phone)
        case _:
            return device is not None and device.enabled
