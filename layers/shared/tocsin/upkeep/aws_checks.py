"""The checks that AWS answers: each takes what SES or SQS said, or that they said nothing, and judges."""

from collections.abc import Iterator
from datetime import timedelta

from tocsin.store.job_runs import JobRun
from tocsin.upkeep import diagnosis
from tocsin.upkeep.ask_aws import QueueDepth, SesAccount, SesIdentity, Silent
from tocsin.upkeep.diagnosis import LATE
from tocsin.upkeep.diagnostic import Diagnostic, Flaw, Health, judged

DEEP = 10_000  # messages that wait on a queue
QUOTA_NEARLY_USED = 0.8  # as SesQuotaAlarm

_OF_DEAD_LETTERS: dict[str, tuple[Health, str]] = {
    "intake": ("failed", "Intents or events could not be accepted: mend the cause, then move them back (StartMessageMoveTask)."),
    "work": ("warning", "Nudges failed five times; nothing is lost. Mend what kept the workers from Postgres, then purge it."),
    "feedback": (
        "failed",
        "Providers' events could not be taken in: mend the cause, then move them back (StartMessageMoveTask).",
    ),
    "failed_invocations": ("warning", "The sweep, retention or the migration failed: read why in the messages, then purge it."),
}


def queues(
    work: dict[str, QueueDepth | Silent], dead_letters: dict[str, QueueDepth | Silent], swept: JobRun | None
) -> Diagnostic:
    """How old work is stands in Postgres, which the sweep looked at; SQS has nudges, and does not tell their age."""
    depths = ", ".join(f"{name} {said.waiting}" for name, said in work.items() if isinstance(said, QueueDepth))
    flaws = [*_not_told(work, dead_letters), *_given_up(dead_letters), *_deep(work), *_late(swept)]
    oldest = timedelta(seconds=_oldest(swept))
    well = (
        f"Messages that wait: {depths}; the oldest due work waits for {diagnosis.span(oldest)}; the dead-letter queues are empty."
    )
    return judged("queues", flaws, well=well)


def _not_told(*asked: dict[str, QueueDepth | Silent]) -> Iterator[Flaw]:
    names: dict[str, list[str]] = {}
    for kind, said in zip(("", " dead letters"), asked, strict=True):
        for name, answer in said.items():
            if isinstance(answer, Silent):
                names.setdefault(answer.reason, []).append(f"{name}{kind}")
    for reason, silent in names.items():
        yield _unknown("SQS", f"how deep these queues are: {', '.join(silent)}", Silent(reason))


def _given_up(dead_letters: dict[str, QueueDepth | Silent]) -> Iterator[Flaw]:
    for name, said in dead_letters.items():
        if isinstance(said, QueueDepth) and (count := said.waiting + said.in_flight + said.delayed):
            state, fix = _OF_DEAD_LETTERS[name]
            yield Flaw(state, f"The dead-letter queue {name} holds {diagnosis.many(count, 'message', 'messages')}.", fix)


def _deep(work: dict[str, QueueDepth | Silent]) -> Iterator[Flaw]:
    for name, said in work.items():
        if isinstance(said, QueueDepth) and said.waiting >= DEEP:
            fix = "Look at the throttles, the errors and the concurrency of its workers."
            yield Flaw("warning", f"{said.waiting} messages wait on the {name} queue.", fix)


def _late(swept: JobRun | None) -> Iterator[Flaw]:
    oldest = timedelta(seconds=_oldest(swept))
    if oldest > LATE:
        what = f"The oldest due work waits for {diagnosis.span(oldest)}, as the last sweep saw it."
        yield Flaw("failed", what, "See GET /v1/outbox/stats; then look at the workers: throttles, errors, concurrency.")


def _oldest(swept: JobRun | None) -> float:
    return float(swept.report.get("oldest_due_seconds", 0)) if swept else 0.0


def ses_account(said: SesAccount | Silent) -> Diagnostic:
    if isinstance(said, Silent):
        return judged("ses_account", [_unknown("SES", "how the account stands", said)], well="")
    share = said.sent / said.quota if said.quota > 0 else 0.0
    used = f"{said.sent:.0f} of {said.quota:.0f} emails of 24 hours are sent" if said.quota > 0 else "there is no quota"
    return judged("ses_account", _restricted(said, share, used), well=f"The account may send; {used}.")


def _restricted(said: SesAccount, share: float, used: str) -> Iterator[Flaw]:
    if not said.is_sending_enabled or said.enforcement == "SHUTDOWN":
        fix = "The SES console's account dashboard says why; answer the case that AWS opened, or switch sending on again."
        yield Flaw("failed", f"SES sends nothing for this account in this region ({said.enforcement}).", fix)
    elif said.enforcement != "HEALTHY":
        fix = "The SES console's account dashboard says why; stop the producer whose addresses bounce or complain."
        yield Flaw("warning", f"AWS reviews the account ({said.enforcement}).", fix)
    if not said.has_production_access:
        fix = "Request production access in the SES console of this region; it takes AWS about a day."
        yield Flaw("warning", f"The account is in SES's sandbox: only verified recipients get mail, and {used}.", fix)
    if share >= QUOTA_NEARLY_USED:
        fix = "Ask AWS for a higher quota; GET /v1/metrics says who sends so much. At the limit mail waits for the quota."
        yield Flaw("failed" if share >= 1 else "warning", f"The daily quota is nearly used: {used}.", fix)


def ses_identity(sender: str | None, found: list[SesIdentity] | Silent) -> Diagnostic:
    """SES knows a sender by its domain or by its address; one that is verified is enough."""
    if not sender:
        return Diagnostic("ses_identity", "failed", "No sender is set.", "Deploy with the parameter EmailFrom.")
    if isinstance(found, Silent):
        return judged("ses_identity", [_unknown("SES", f"whether {sender} is verified", found)], well="")
    for identity in found:
        if identity.is_verified:
            return judged("ses_identity", _unsigned(identity), well=f"{identity.name} is verified, and mail is signed with DKIM.")
    return judged("ses_identity", [_unverified(found) if found else _not_there(sender)], well="")


def _unsigned(verified: SesIdentity) -> Iterator[Flaw]:
    if not verified.is_signed or verified.dkim != "SUCCESS":
        what = f"{verified.name} is verified, but its mail is not signed with DKIM ({verified.dkim}): much of it lands in spam."
        fix = "Publish the three CNAME records that SES shows for the domain (VerifyEmailDomain with HostedZoneId does it)."
        yield Flaw("warning", what, fix)


def _unverified(found: list[SesIdentity]) -> Flaw:
    named = ", ".join(f"{said.name} ({said.status})" for said in found)
    fix = "For a domain publish the records that SES shows; for an address follow the link that SES mailed to it."
    return Flaw("failed", f"Not verified in this region: {named}.", fix)


def _not_there(sender: str) -> Flaw:
    """SES also takes a verified domain above the sender's, and an address without its +label, about which nobody may ask here."""
    local, _, domain = sender.rpartition("@")
    may_be_covered = domain.count(".") > 1 or "+" in local
    what = f"SES has no identity {sender} or {domain} in this region."
    if may_be_covered:
        what += " Mail goes out only if a domain above it, or the address without its label, is verified."
    fix = "Verify the domain in SES (VerifyEmailDomain with HostedZoneId does it by itself), or deploy with another EmailFrom."
    return Flaw("warning" if may_be_covered else "failed", what, fix)


def _unknown(service: str, what: str, silent: Silent) -> Flaw:
    if "Denied" in silent.reason or "is not set" in silent.reason:
        fix = "The function operate lacks a right or a variable: a deployment puts back what the template says."
    else:
        fix = (
            f"Ask again; if it stays, look whether the function reaches {service}: its endpoint or IPv6, routes, security groups."
        )
    return Flaw("unknown", f"{service} does not say {what} ({silent.reason}).", fix)
