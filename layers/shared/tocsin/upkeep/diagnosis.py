"""Diagnosis: from what is known of the service to what is wrong, since when, and the call that helps."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from tocsin.store.dead_letters import Cause
from tocsin.store.domain_events_processed import Behind
from tocsin.store.job_runs import JobRun
from tocsin.store.lanes import TroubledLane
from tocsin.store.outbox import Pile
from tocsin.store.webhooks import Webhook

CLOSED = ("stopped", "broken")  # states of a lane that does not open by what goes through
LATE = timedelta(minutes=5)  # how long something may be due, or an event wait, before it is a problem
# What tells one group of dead letters from another; a replay takes these as its filter.
_GROUP = ("source_kind", "channel", "classification", "provider", "provider_code", "template", "template_version")
# Jobs, and how long ago each may have begun before something is wrong with its schedule.
_HOURLY = timedelta(hours=3)
JOBS = {
    "sweep": timedelta(minutes=5),
    "metrics": _HOURLY,
    "books": _HOURLY,
    "audit_check": _HOURLY,
    "finish_erasures": _HOURLY,
    "delete_tenants": _HOURLY,
    "retention": _HOURLY,
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known. `now` is the database's; `malformed` how many messages from the queue wait for somebody, and since when."""

    now: datetime
    piles: list[Pile] = field(default_factory=list)
    behind: Behind | None = None
    lanes: list[TroubledLane] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    open_events: list[tuple[str, int, datetime]] = field(default_factory=list)
    runs: list[JobRun] = field(default_factory=list)
    malformed: tuple[int, datetime | None] = (0, None)
    first_run_at: datetime | None = None  # when any job first ran, as far as is remembered
    webhooks: list[Webhook] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, since when it is true, and what to do about it; for programs, what kind of trouble it is, and of what."""

    what: str
    since: datetime | None
    do: str
    kind: str
    about: dict[str, Any] = field(default_factory=dict)


def diagnose(facts: Facts) -> list[Finding]:
    """What is wrong, the cause before what follows from it."""
    return [
        *late_jobs(facts),
        *closed_lanes(facts.lanes),
        *_late_work(facts),
        *_late_events(facts),
        *_unknown(facts),
        *_dead_letters(facts),
        *_malformed(facts),
        *_webhooks(facts),
        *_events(facts),
    ]


def late_jobs(facts: Facts) -> Iterator[Finding]:
    """The jobs that failed, or did not run when they should have."""
    ran = {run.job: run for run in facts.runs}
    for job, longest in JOBS.items():
        run, function = ran.get(job), "sweep" if job == "sweep" else "retention"
        if run is None:
            # a new installation has not had its hour yet
            if job == "sweep" or (facts.first_run_at is not None and facts.now - facts.first_run_at > longest):
                do = f"Look at the schedule and the log of the function {function}."
                yield Finding(f"The job {job} has never run.", None, do, "job", {"job": job})
        elif run.outcome == "failed":
            do = f"Look at the log of the function {function}; it runs again on schedule, and a success resolves this."
            yield Finding(f"The job {job} failed last time: {run.error}.", run.started_at, do, "job", {"job": job})
        elif facts.now - run.started_at > longest:
            do = f"Look at the schedule, the throttles and the log of the function {function}."
            what = f"The job {job} has not run for {span(facts.now - run.started_at)}."
            yield Finding(what, run.started_at, do, "job", {"job": job})


def closed_lanes(troubled: list[TroubledLane]) -> Iterator[Finding]:
    for lane in troubled:
        if lane.state in CLOSED:
            waits = f"{many(lane.waiting, 'message waits', 'messages wait')} for it."
            do = f"Remove the cause ({lane.reason}), then POST /v1/lanes/{lane.lane}/open."
            what = f"The lane {lane.lane} is {lane.state}: {lane.reason}. {waits}"
            yield Finding(what, lane.since, do, "lane", {"lane": lane.lane})


def _late_work(facts: Facts) -> Iterator[Finding]:
    for pile in facts.piles:
        if pile.oldest_due_at is not None and facts.now - pile.oldest_due_at > LATE:
            what = f"Work on the {pile.queue} queue ({pile.kind}) has been due for {span(facts.now - pile.oldest_due_at)}: "
            what += f"{many(pile.due, 'piece', 'pieces')}{' or more' if pile.is_cut else ''}."
            do = "See GET /v1/outbox/stats; then look at the workers of this queue: throttles, errors, their concurrency."
            yield Finding(what, pile.oldest_due_at, do, "late_work", {"queue": pile.queue, "kind": pile.kind})


def _late_events(facts: Facts) -> Iterator[Finding]:
    behind = facts.behind
    if behind is not None and behind.oldest_at is not None and facts.now - behind.oldest_at > LATE:
        what = f"{many(behind.count, 'event waits', 'events wait')} to be fanned out, the first for "
        what += f"{span(facts.now - behind.oldest_at)}."
        do = "Look at the workers of the plan queue: throttles, errors, their concurrency."
        if behind.is_held:
            do = "A transaction that has written something stays open in the database: end it where it was opened."
        yield Finding(what, behind.oldest_at, do, "late_events")


def _unknown(facts: Facts) -> Iterator[Finding]:
    if unknown := sum(pile.unknown for pile in facts.piles):
        what = f"The provider's answer to {many(unknown, 'attempt', 'attempts')} is not known."
        do = "Wait: the provider's event, or the policy of the type after 15 minutes, decides. See GET /v1/notifications/{id}."
        yield Finding(what, None, do, "unknown_attempts")


def _dead_letters(facts: Facts) -> Iterator[Finding]:
    for cause in facts.causes:
        by = f"{cause.source_kind} {cause.channel}".strip()
        what = f"{many(cause.count, 'dead letter', 'dead letters')} ({by}): {cause.classification}."
        do = "See GET /v1/dead-letters/groups, remove the cause, then POST /v1/dead-letters/replay; or resolve each."
        about = {name: told for name in _GROUP if (told := getattr(cause, name))}
        yield Finding(what, cause.first_seen_at, do, "dead_letters", about)


def _malformed(facts: Facts) -> Iterator[Finding]:
    count, since = facts.malformed
    if count:
        what = f"{many(count, 'message', 'messages')} from the queue could not be accepted."
        do = "See GET /v1/malformed-intents?is_resolved=false; repair and accept each, or resolve it."
        yield Finding(what, since, do, "malformed_intents")


def _webhooks(facts: Facts) -> Iterator[Finding]:
    for hook in facts.webhooks:
        if not hook.is_active and hook.disabled_reason != "request":
            what = f"A webhook is switched off ({hook.disabled_reason}): {_host(hook.url)} hears nothing."
            do = f"Mend the endpoint, then PATCH /v1/webhooks/{hook.id} with is_active true; redeliver what it missed."
            yield Finding(what, hook.disabled_at, do, "webhook", {"webhook_id": str(hook.id)})


def _events(facts: Facts) -> Iterator[Finding]:
    for severity, count, since in facts.open_events:
        if severity in ("critical", "high"):
            what = f"{many(count, 'system event', 'system events')} of severity {severity} {'is' if count == 1 else 'are'} open."
            do = f"See GET /v1/system-events?is_resolved=false&severity={severity}."
            yield Finding(what, since, do, "system_events", {"severity": severity})


def _host(url: str) -> str:
    return urlsplit(url).hostname or "its endpoint"


def many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def span(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    return many(minutes, "minute", "minutes") if minutes < 120 else f"{minutes // 60} hours"
