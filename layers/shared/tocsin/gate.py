"""The gate: may this delivery go out now? The first rule that says no decides, and its reason is written down. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin import quiet_hours
from tocsin.store.outbox import Claimed

MAX_CLAIMS = 3
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


def decide(claimed: Claimed, *, evidence_window: timedelta) -> Decision:
    """An attempt in doubt comes first: it is proven, or waited for. After that, what forbids a send means "not again", and the
    end will say that the attempt may have arrived."""
    now = claimed.claimed_at
    if claimed.open_attempt_outcome == "accepted":
        return Proven(
            claimed.open_attempt_no or claimed.last_attempt_no,
            claimed.open_attempt_provider or "",
            claimed.open_attempt_message_id or "",
        )
    if claimed.attempt_open and claimed.open_attempt_started_at is not None:
        until = claimed.open_attempt_started_at + evidence_window
        if now < until:
            return AwaitEvidence(claimed.last_attempt_no, until)
    if claimed.claim_count > MAX_CLAIMS:
        return End("dead_letter", "poison", f"{MAX_CLAIMS} workers took this on and none recorded an outcome")
    if claimed.cancelled_at is not None:
        return End("cancelled", "cancelled")
    if claimed.expires_at is not None and claimed.expires_at <= now:
        return End("skipped", "expired")
    if claimed.suppressed_by:
        return End("skipped", f"suppressed: {claimed.suppressed_by}")
    if not _has_address(claimed):
        return End("skipped", "no_address")
    if not claimed.is_wanted:
        return End("skipped", f"preference: {claimed.channel} off")
    decision = _after_silence(claimed) if claimed.attempt_open else Send()
    if isinstance(decision, End):
        return decision
    if quiet_until := _quiet_until(claimed):
        return Defer("quiet_hours", quiet_until)
    return Send(decision.supersedes, _quiet_from(claimed))


def _quiet_until(claimed: Claimed) -> datetime | None:
    """The end of the recipient's quiet hours, if it is quiet there now. What is critical comes through."""
    if claimed.quiet_start is None or claimed.quiet_end is None or claimed.priority == "critical":
        return None
    return quiet_hours.ends_at(claimed.claimed_at, claimed.quiet_start, claimed.quiet_end, claimed.quiet_timezone or "UTC")


def _quiet_from(claimed: Claimed) -> datetime | None:
    if claimed.quiet_start is None or claimed.quiet_end is None or claimed.priority == "critical":
        return None
    return quiet_hours.next_start(claimed.claimed_at, claimed.quiet_start, claimed.quiet_end, claimed.quiet_timezone or "UTC")


def _after_silence(claimed: Claimed) -> Send | End:
    """No evidence came: the type's policy decides, or else the channel's, and the doubt is recorded."""
    if (claimed.ambiguous_policy or _AMBIGUOUS_POLICY[claimed.channel or "sms"]) == "hold":
        return End("dead_letter", "ambiguous", SILENCE)
    if claimed.duplicate_suspected:
        return End("dead_letter", "ambiguous", "a second answer was lost too; a third copy is not worth the doubt")
    if claimed.attempt_count >= claimed.max_attempts:
        return End("dead_letter", "ambiguous", "the provider's answer to the last attempt was lost")
    return Send(supersedes=claimed.last_attempt_no)


def _has_address(claimed: Claimed) -> bool:
    match claimed.channel:
        case "email":
            return bool(claimed.email)
        case "sms":
            return bool(claimed.phone)
        case _:
            return bool(claimed.device_enabled)
