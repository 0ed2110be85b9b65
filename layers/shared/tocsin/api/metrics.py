"""Metrics: how much was sent, failed and waits, by hour and day; how it stands just now, and what happens minute by minute."""

import re
from collections import Counter
from datetime import UTC, date, timedelta
from typing import Any

from tocsin.foundation.database import tenant_transaction
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.store import clock, job_runs, metrics, outbox, routes
from tocsin.store.metrics import Counted
from tocsin.upkeep.recent_metrics import STEP, recent

_CHANNELS = ("email", "sms", "push", "in_app", "webhook")
_MODES = ("live", "test")
MOST_DAYS = {"hour": 31, "day": 400}
DEFAULT_DAYS = {"hour": 1, "day": 7}
EARLIEST = date(2000, 1, 1)
LONGEST_WINDOW = 86_400  # seconds
FEWEST_MINUTES, DEFAULT_MINUTES, MOST_MINUTES = 5, 60, 180
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TOTALS = ("total_sent", "total_failed", "total_skipped", "total_pending", "total_delivery_ms")


def get_metrics(call: Call) -> Response:
    query = call.request.query
    by = _one_of(query.get("by", "day"), "by", tuple(MOST_DAYS))
    mode = _one_of(query.get("mode", "live"), "mode", _MODES)
    channel = _one_of(query["channel"], "channel", _CHANNELS) if "channel" in query else None
    asked = _day(call.request, "from"), _day(call.request, "to")
    with tenant_transaction(call.conn, call.tenant_id):
        first, last = _days(*asked, by, today=clock.now(call.conn).astimezone(UTC).date())
        rows = metrics.find_between(
            call.conn,
            call.tenant_id,
            first,
            last,
            mode=mode,
            hourly=by == "hour",
            channel=channel,
            provider=query.get("provider"),
        )
        runs = job_runs.latest(call.conn, ["metrics"])
    return Response(
        200,
        {
            "from": first.isoformat(),
            "to": last.isoformat(),
            "by": by,
            "mode": mode,
            "counted_at": runs[0].finished_at if runs else None,
            "totals": _totals(rows),
            "data": [_shown(row) for row in rows],
        },
    )


def get_summary(call: Call) -> Response:
    window = timedelta(seconds=_seconds(call.request, "window", LONGEST_WINDOW))
    mode = _one_of(call.request.query.get("mode", "live"), "mode", _MODES)
    with tenant_transaction(call.conn, call.tenant_id):
        counted = routes.count_since(call.conn, call.tenant_id, window=window, mode=mode)
        unplanned = outbox.count_unplanned(call.conn, call.tenant_id, window=window, mode=mode)
    statuses: Counter[str] = Counter()
    providers: dict[tuple[str, str], Counter[str]] = {}
    for channel, provider, status, count in counted:
        statuses[status] += count
        if provider:
            providers.setdefault((channel, provider), Counter())[status] += count
    return Response(
        200,
        {
            "window": int(window.total_seconds()),
            "mode": mode,
            "statuses": dict(statuses),
            "unplanned": unplanned,
            "providers": [_performance(*key, of_status) for key, of_status in providers.items()],
        },
    )


def get_recent(call: Call) -> Response:
    minutes = _minutes(call.request)
    mode = _one_of(call.request.query.get("mode", "live"), "mode", _MODES)
    found = recent(call.conn, call.tenant_id, minutes=minutes, mode=mode)
    return Response(
        200,
        {
            "from": found.minutes[0],
            "to": found.now,
            "mode": mode,
            "step_seconds": int(STEP.total_seconds()),
            "minutes": found.minutes,
            **found.totals,
            "by": [{"channel": channel, "provider": provider} | series for (channel, provider), series in found.by.items()],
        },
    )


def _performance(channel: str, provider: str, statuses: Counter[str]) -> dict[str, Any]:
    return {
        "channel": channel,
        "provider": provider,
        "total": statuses.total(),
        "sent": statuses["published"],
        "failed": statuses["dead_letter"],
        "retrying": statuses["failed"],
    }


def _shown(row: Counted) -> dict[str, Any]:
    return {
        "id": row.id,
        "date": row.date.isoformat(),
        "hour": row.hour,
        "channel": row.channel,
        "provider": row.provider,
        "total_sent": row.total_sent,
        "total_failed": row.total_failed,
        "total_skipped": row.total_skipped,
        "total_pending": row.total_pending,
        "avg_delivery_ms": row.avg_delivery_ms,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def _totals(rows: list[Counted]) -> dict[str, Any]:
    sums = {name: sum(getattr(row, name) for row in rows) for name in _TOTALS}
    took = sums.pop("total_delivery_ms")
    return sums | {"avg_delivery_ms": took // sums["total_sent"] if sums["total_sent"] else None}


def _days(first: date | None, last: date | None, by: str, *, today: date) -> tuple[date, date]:
    last = last or today
    first = first or max(last, EARLIEST) - timedelta(days=DEFAULT_DAYS[by] - 1)
    if first > last:
        raise problems.invalid_parameter("from", "must not be after `to`")
    if (last - first).days >= MOST_DAYS[by]:
        raise problems.invalid_parameter("from", f"by {by}, at most {MOST_DAYS[by]} days are shown at once")
    return first, last


def _day(request: Request, name: str) -> date | None:
    text = request.query.get(name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else _no_day(name)
    except ValueError:
        return _no_day(name)


def _no_day(name: str) -> date:
    raise problems.invalid_parameter(name, "must be a day (UTC), such as 2026-11-17") from None


def _seconds(request: Request, name: str, default: int) -> int:
    text = request.query.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 6 or not 60 <= int(text) <= LONGEST_WINDOW:
        raise problems.invalid_parameter(name, f"must be a number of seconds from 60 to {LONGEST_WINDOW}")
    return int(text)


def _minutes(request: Request) -> int:
    text = request.query.get("minutes", str(DEFAULT_MINUTES))
    if not text.isascii() or not text.isdigit() or len(text) > 3 or not FEWEST_MINUTES <= int(text) <= MOST_MINUTES:
        raise problems.invalid_parameter("minutes", f"must be a number from {FEWEST_MINUTES} to {MOST_MINUTES}")
    return int(text)


def _one_of(value: str, name: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise problems.invalid_parameter(name, f"must be one of {', '.join(known)}")
    return value


_MODE: dict[str, Any] = {"name": "mode", "in": "query", "schema": {"type": "string", "enum": list(_MODES), "default": "live"}}
ENDPOINTS = [
    Endpoint(
        "GET /v1/metrics",
        "operate",
        get_metrics,
        "How much was sent, failed, was skipped and waits, by hour or day",
        parameters=[
            {"name": "from", "in": "query", "schema": {"type": "string", "format": "date"}, "description": "first day (UTC)"},
            {"name": "to", "in": "query", "schema": {"type": "string", "format": "date"}, "description": "last day, included"},
            {"name": "by", "in": "query", "schema": {"type": "string", "enum": list(MOST_DAYS), "default": "day"}},
            {"name": "channel", "in": "query", "schema": {"type": "string", "enum": list(_CHANNELS)}},
            {"name": "provider", "in": "query", "schema": {"type": "string"}},
            _MODE,
        ],
    ),
    Endpoint(
        "GET /v1/metrics/summary",
        "operate",
        get_summary,
        "What became of all that was accepted lately: by status, and by provider",
        parameters=[
            {
                "name": "window",
                "in": "query",
                "schema": {"type": "integer", "minimum": 60, "maximum": LONGEST_WINDOW, "default": LONGEST_WINDOW},
                "description": "seconds back from now",
            },
            _MODE,
        ],
    ),
    Endpoint(
        "GET /v1/metrics/recent",
        "operate",
        get_recent,
        "What happened in the last minutes, minute by minute, as series for charts",
        parameters=[
            {
                "name": "minutes",
                "in": "query",
                "schema": {
                    "type": "integer",
                    "minimum": FEWEST_MINUTES,
                    "maximum": MOST_MINUTES,
                    "default": DEFAULT_MINUTES,
                },
                "description": "back from now, the present one included",
            },
            _MODE,
        ],
    ),
]
