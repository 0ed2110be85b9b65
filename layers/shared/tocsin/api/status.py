"""Status: what is wrong right now and what to do about it, in one call; and the outbox in numbers."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from tocsin.api import lanes
from tocsin.foundation.database import is_of_installation
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store.job_runs import JobRun
from tocsin.store.outbox import Pile
from tocsin.upkeep import status
from tocsin.upkeep.diagnosis import diagnose


def get_status(call: Call) -> Response:
    facts = status.status(call.conn, call.tenant_id)
    problems = diagnose(facts)
    behind = facts.behind
    return Response(
        200,
        {
            "healthy": not problems,
            "problems": [asdict(problem) for problem in problems],
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
            "dead_letters": [asdict(cause) for cause in facts.causes],
            "malformed_intents": {"count": facts.malformed[0], "oldest_at": facts.malformed[1]},
            "system_events": {severity: {"open": count, "since": since} for severity, count, since in facts.open_events},
            "jobs": {run.job: _shown_run(run, with_report=is_of_installation(call.tenant_id)) for run in facts.runs},
        },
    )


def get_outbox_stats(call: Call) -> Response:
    now, piles = status.backlog(call.conn, call.tenant_id)
    oldest = min((pile.oldest_due_at for pile in piles if pile.oldest_due_at), default=None)
    totals = {name: sum(getattr(pile, name) for pile in piles) for name in ("due", "leased", "waiting", "waiting_for_lane")}
    return Response(
        200,
        {
            "depth": totals["due"] + totals["leased"] + totals["waiting"],
            "at_least": any(pile.is_cut for pile in piles),
            "oldest_due_at": oldest,
            "oldest_due_seconds": _seconds(oldest, now),
            "by": [_shown_pile(pile, now) for pile in piles],
        }
        | totals,
    )


def _shown_pile(pile: Pile, now: datetime) -> dict[str, Any]:
    """`at_least`: there is more on this queue than was counted."""
    shown = asdict(pile)
    return shown | {"at_least": shown.pop("is_cut"), "oldest_due_seconds": _seconds(pile.oldest_due_at, now)}


def _shown_run(run: JobRun, *, with_report: bool) -> dict[str, Any]:
    """What a run did is the installation's to know: it counts everybody's work."""
    shown: dict[str, Any] = {name: getattr(run, name) for name in ("outcome", "error", "started_at", "finished_at")}
    return shown | ({"report": run.report} if with_report else {})


def _seconds(moment: datetime | None, now: datetime) -> float | None:
    return (now - moment).total_seconds() if moment else None


ENDPOINTS = [
    Endpoint("GET /v1/status", "operate", get_status, "What is wrong right now, and what to do about it"),
    Endpoint("GET /v1/outbox/stats", "operate", get_outbox_stats, "How much work waits, of which kind, and for how long"),
]
