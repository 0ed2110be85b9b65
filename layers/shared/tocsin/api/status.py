"""Status: what is wrong right now and what to do about it, in one call; and how much work waits, in numbers."""

from datetime import datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict

from tocsin.api import lanes, letters
from tocsin.api.lanes import ShownLane
from tocsin.api.letters import DeadLetterGroup
from tocsin.api.words import RunOutcome
from tocsin.foundation.database import is_of_installation
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import outbox
from tocsin.store.job_runs import JobRun
from tocsin.upkeep import status
from tocsin.upkeep.diagnosis import Finding, diagnose


class TroubleFound(TypedDict):
    """A sentence, since when it is true, and what to do about it; for programs, what kind of trouble it is, and of what."""

    what: str
    since: datetime | None
    do: str
    kind: str
    about: dict[str, Any]


class ShownPile(TypedDict):
    """Work of one kind on one queue. `unknown`: sent, perhaps, and the answer is not known. `at_least`: there is more on this
    queue than was counted."""

    queue: str
    kind: str
    due: int
    leased: int
    waiting: int
    waiting_for_lane: int
    unknown: int
    oldest_due_at: datetime | None
    at_least: bool
    oldest_due_seconds: float | None


class EventsBehind(TypedDict):
    """Events that wait for the fan-out."""

    count: int
    at_least: bool
    oldest_at: datetime | None
    cursor_moved_at: datetime | None
    held_by_open_transaction: bool


class MalformedWaiting(TypedDict):
    """Messages from the queue that wait for somebody."""

    count: int
    oldest_at: datetime | None


class OpenEvents(TypedDict):
    """System events of one severity that are not resolved."""

    open: int
    since: datetime


class LastRun(TypedDict):
    """The last run of a job. What it did is told to the installation's first tenant."""

    outcome: RunOutcome
    error: str
    started_at: datetime
    finished_at: datetime | None
    report: NotRequired[dict[str, Any]]


class ServiceStatus(TypedDict):
    """What is wrong right now, and what to do about it."""

    healthy: bool
    problems: list[TroubleFound]
    at: datetime
    backlog: list[ShownPile]
    events_behind_fan_out: EventsBehind
    lanes: list[ShownLane]
    unknown_attempts: int
    dead_letters: list[DeadLetterGroup]
    malformed_intents: MalformedWaiting
    system_events: dict[str, OpenEvents]
    jobs: dict[str, LastRun]


class OutboxStats(TypedDict):
    """How much work waits, of which kind, and for how long."""

    depth: int
    at_least: bool
    oldest_due_at: datetime | None
    oldest_due_seconds: float | None
    by: list[ShownPile]
    due: int
    leased: int
    waiting: int
    waiting_for_lane: int


def get_status(call: Call) -> Response:
    facts = status.status(call.conn, call.tenant_id)
    problems = diagnose(facts)
    behind = facts.behind
    shown: ServiceStatus = {
        "healthy": not problems,
        "problems": [_shown_problem(problem) for problem in problems],
        "at": facts.now,
        "backlog": [_shown_pile(pile, facts.now) for pile in facts.piles],
        "events_behind_fan_out": {
            "count": behind.count if behind else 0,
            "at_least": behind.is_cut if behind else False,
            "oldest_at": behind.oldest_at if behind else None,
            "cursor_moved_at": behind.moved_at if behind else None,
            "held_by_open_transaction": behind.is_held if behind else False,
        },
        "lanes": [lanes.shown(lane) for lane in facts.lanes],
        "unknown_attempts": sum(pile.unknown for pile in facts.piles),
        "dead_letters": [letters.group(cause) for cause in facts.causes],
        "malformed_intents": {"count": facts.malformed[0], "oldest_at": facts.malformed[1]},
        "system_events": {severity: {"open": count, "since": since} for severity, count, since in facts.open_events},
        "jobs": {run.job: _shown_run(run, with_report=is_of_installation(call.tenant_id)) for run in facts.runs},
    }
    return Response(200, shown)


def get_outbox_stats(call: Call) -> Response:
    now, piles = status.backlog(call.conn, call.tenant_id)
    oldest = min((pile.oldest_due_at for pile in piles if pile.oldest_due_at), default=None)
    due, leased, waiting = (sum(getattr(pile, name) for pile in piles) for name in ("due", "leased", "waiting"))
    shown: OutboxStats = {
        "depth": due + leased + waiting,
        "at_least": any(pile.is_cut for pile in piles),
        "oldest_due_at": oldest,
        "oldest_due_seconds": _seconds(oldest, now),
        "by": [_shown_pile(pile, now) for pile in piles],
        "due": due,
        "leased": leased,
        "waiting": waiting,
        "waiting_for_lane": sum(pile.waiting_for_lane for pile in piles),
    }
    return Response(200, shown)


def _shown_problem(found: Finding) -> TroubleFound:
    return {"what": found.what, "since": found.since, "do": found.do, "kind": found.kind, "about": found.about}


def _shown_pile(pile: outbox.Pile, now: datetime) -> ShownPile:
    return {
        "queue": pile.queue,
        "kind": pile.kind,
        "due": pile.due,
        "leased": pile.leased,
        "waiting": pile.waiting,
        "waiting_for_lane": pile.waiting_for_lane,
        "unknown": pile.unknown,
        "oldest_due_at": pile.oldest_due_at,
        "at_least": pile.is_cut,
        "oldest_due_seconds": _seconds(pile.oldest_due_at, now),
    }


def _shown_run(run: JobRun, *, with_report: bool) -> LastRun:
    """What a run did is the installation's to know: it counts everybody's work."""
    shown: LastRun = {
        "outcome": run.outcome,
        "error": run.error,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }
    if with_report:
        shown["report"] = run.report
    return shown


def _seconds(moment: datetime | None, now: datetime) -> float | None:
    return (now - moment).total_seconds() if moment else None


ENDPOINTS = [
    Endpoint("GET /v1/status", "operate", get_status, "What is wrong right now, and what to do about it", answer=ServiceStatus),
    Endpoint(
        "GET /v1/outbox/stats",
        "operate",
        get_outbox_stats,
        "How much work waits, of which kind, and for how long",
        answer=OutboxStats,
    ),
]
