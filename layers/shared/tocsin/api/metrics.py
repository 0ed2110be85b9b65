"""Metrics: how much was sent, failed and waits, by hour and day; how it stands just now, and what happens minute by minute."""

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Annotated
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import MODES, WAYS, Mode, WayWord
from tocsin.foundation.database import tenant_transaction
from tocsin.http import filters, problems
from tocsin.http.answers import one_of
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.store import clock, job_runs, metrics, outbox, routes
from tocsin.store.metrics import Counted
from tocsin.upkeep.recent_metrics import STEP, Series, recent

MOST_DAYS = {"hour": 31, "day": 400}
DEFAULT_DAYS = {"hour": 1, "day": 7}
EARLIEST = date(2000, 1, 1)
LONGEST_WINDOW = 86_400  # seconds
FEWEST_MINUTES, DEFAULT_MINUTES, MOST_MINUTES = 5, 60, 180
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FromTo = TypedDict("_FromTo", {"from": date, "to": date})  # a word of Python's cannot be a field of a class
_RecentFromTo = TypedDict("_RecentFromTo", {"from": datetime, "to": datetime})


class MetricTotals(TypedDict):
    """How much in all, and how long a delivery took on average."""

    total_sent: int
    total_failed: int
    total_skipped: int
    total_pending: int
    avg_delivery_ms: int | None


class MetricRow(MetricTotals):
    """How much in one hour, or (without one) in one day."""

    id: UUID
    date: date
    hour: int | None
    channel: WayWord
    provider: str
    created_at: datetime
    updated_at: datetime


class Metrics(_FromTo):
    """How much was sent, failed, was skipped and waits."""

    by: Annotated[str, one_of(*MOST_DAYS)]
    mode: Mode
    counted_at: datetime | None
    totals: MetricTotals
    data: list[MetricRow]


class ProviderMetrics(TypedDict):
    """How a provider did."""

    channel: str
    provider: str
    total: int
    sent: int
    failed: int
    retrying: int


class MetricsSummary(TypedDict):
    """What became of all that was accepted in the last `window` seconds."""

    window: int
    mode: Mode
    statuses: dict[str, int]
    unplanned: int
    providers: list[ProviderMetrics]


class ProviderSeries(TypedDict):
    """What a provider did, minute by minute."""

    channel: str
    provider: str
    published: list[int]
    failed_attempts: list[int]
    dead_lettered: list[int]


class RecentMetrics(_RecentFromTo):
    """What happened lately: each series has a number for each of `minutes`. The last minute is not over."""

    mode: Mode
    step_seconds: int
    minutes: list[datetime]
    accepted: list[int]
    published: list[int]
    dead_lettered: list[int]
    skipped: list[int]
    by: list[ProviderSeries]


def get_metrics(call: Call) -> Response:
    query = call.request.query
    by = filters.choice_of(call.request, "by", tuple(MOST_DAYS)) or "day"
    mode = filters.choice_of(call.request, "mode", MODES) or "live"
    channel = filters.choice_of(call.request, "channel", WAYS)
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
    shown: Metrics = {
        "from": first,
        "to": last,
        "by": by,
        "mode": mode,
        "counted_at": runs[0].finished_at if runs else None,
        "totals": _totals(rows),
        "data": [_shown(row) for row in rows],
    }
    return Response(200, shown)


def get_summary(call: Call) -> Response:
    window = timedelta(seconds=_seconds(call.request, "window", LONGEST_WINDOW))
    mode = filters.choice_of(call.request, "mode", MODES) or "live"
    with tenant_transaction(call.conn, call.tenant_id):
        counted = routes.count_since(call.conn, call.tenant_id, window=window, mode=mode)
        unplanned = outbox.count_unplanned(call.conn, call.tenant_id, window=window, mode=mode)
    statuses: Counter[str] = Counter()
    providers: dict[tuple[str, str], Counter[str]] = {}
    for channel, provider, status, count in counted:
        statuses[status] += count
        if provider:
            providers.setdefault((channel, provider), Counter())[status] += count
    shown: MetricsSummary = {
        "window": int(window.total_seconds()),
        "mode": mode,
        "statuses": dict(statuses),
        "unplanned": unplanned,
        "providers": [_performance(*key, of_status) for key, of_status in providers.items()],
    }
    return Response(200, shown)


def get_recent(call: Call) -> Response:
    minutes = _minutes(call.request)
    mode = filters.choice_of(call.request, "mode", MODES) or "live"
    found = recent(call.conn, call.tenant_id, minutes=minutes, mode=mode)
    shown: RecentMetrics = {
        "from": found.minutes[0],
        "to": found.now,
        "mode": mode,
        "step_seconds": int(STEP.total_seconds()),
        "minutes": found.minutes,
        "accepted": found.totals["accepted"],
        "published": found.totals["published"],
        "dead_lettered": found.totals["dead_lettered"],
        "skipped": found.totals["skipped"],
        "by": [_series(*key, series) for key, series in found.by.items()],
    }
    return Response(200, shown)


def _series(channel: str, provider: str, series: Series) -> ProviderSeries:
    return {
        "channel": channel,
        "provider": provider,
        "published": series["published"],
        "failed_attempts": series["failed_attempts"],
        "dead_lettered": series["dead_lettered"],
    }


def _performance(channel: str, provider: str, statuses: Counter[str]) -> ProviderMetrics:
    return {
        "channel": channel,
        "provider": provider,
        "total": statuses.total(),
        "sent": statuses["published"],
        "failed": statuses["dead_letter"],
        "retrying": statuses["failed"],
    }


def _shown(row: Counted) -> MetricRow:
    return {
        "id": row.id,
        "date": row.date,
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


def _totals(rows: list[Counted]) -> MetricTotals:
    sent, took = sum(row.total_sent for row in rows), sum(row.total_delivery_ms for row in rows)
    return {
        "total_sent": sent,
        "total_failed": sum(row.total_failed for row in rows),
        "total_skipped": sum(row.total_skipped for row in rows),
        "total_pending": sum(row.total_pending for row in rows),
        "avg_delivery_ms": took // sent if sent else None,
    }


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


_MODE = filters.choice("mode", MODES, default="live")
ENDPOINTS = [
    Endpoint(
        "GET /v1/metrics",
        "operate",
        get_metrics,
        "How much was sent, failed, was skipped and waits, by hour or day",
        parameters=[
            {"name": "from", "in": "query", "schema": {"type": "string", "format": "date"}, "description": "first day (UTC)"},
            {"name": "to", "in": "query", "schema": {"type": "string", "format": "date"}, "description": "last day, included"},
            filters.choice("by", tuple(MOST_DAYS), default="day"),
            filters.choice("channel", WAYS),
            {"name": "provider", "in": "query", "schema": {"type": "string"}},
            _MODE,
        ],
        answer=Metrics,
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
        answer=MetricsSummary,
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
        answer=RecentMetrics,
    ),
]
