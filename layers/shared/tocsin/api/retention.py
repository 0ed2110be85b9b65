"""Retention: how long what is kept, what was forgotten, and what was archived before."""

from datetime import datetime
from typing import Any, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import RunOutcome
from tocsin.foundation.database import is_of_installation, tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.http import paging
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import archives, job_runs, tenants
from tocsin.store.job_runs import JobRun
from tocsin.upkeep.retain import JOB
from tocsin.upkeep.retention_rules import Rule, rules_of


class RetentionRule(TypedDict):
    """How long something is kept, and which setting says so."""

    name: str
    says: str
    days: int | None
    default_days: int | None
    setting: str | None
    tenant_setting: str | None
    least_days: int | None
    forgotten_in_last_run: int | None


class RetentionRun(TypedDict):
    """A run of retention. What it forgot is told to the installation's first tenant."""

    id: UUID
    outcome: RunOutcome
    started_at: datetime
    finished_at: datetime | None
    forgotten: NotRequired[dict[str, int]]
    held_up: NotRequired[dict[str, Any]]


class RetentionRules(TypedDict):
    """How long what is kept, and when that was last seen to."""

    rules: list[RetentionRule]
    archives_records: bool
    last_run: RetentionRun | None


class ShownArchivedObject(TypedDict):
    """An object that was written to the archive."""

    id: UUID
    object_key: str
    records: int
    bytes: int
    sha256: str
    created_at: datetime


def get_retention(call: Call) -> Response:
    config = settings()
    rules = rules_of(config)
    with tenant_transaction(call.conn, call.tenant_id):
        own = tenants.own_days(call.conn, call.tenant_id, [rule.own for rule in rules if rule.own])
        last = job_runs.last_finished(call.conn, JOB)
    # the counts are of all tenants together: what one has is no other's business
    counts = last.report.get("forgotten", {}) if last and is_of_installation(call.tenant_id) else {}
    shown: RetentionRules = {
        "rules": [_rule(rule, own.get(rule.own), counts.get(rule.name)) for rule in rules],
        "archives_records": config.archive_bucket is not None,
        "last_run": _run(last, with_counts=False) if last else None,
    }
    return Response(200, shown)


def list_runs(call: Call) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = job_runs.list_page(call.conn, JOB, limit=limit + 1, after=after)
    with_counts = is_of_installation(call.tenant_id)
    return paging.page(
        rows, limit, shown=lambda run: _run(run, with_counts=with_counts), place=lambda run: (run.started_at, run.id)
    )


def list_archives(call: Call) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = archives.list_page(call.conn, call.tenant_id, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_archive, place=lambda row: (row.created_at, row.id))


def _rule(rule: Rule, own: int | None, count: int | None) -> RetentionRule:
    return {
        "name": rule.name,
        "says": rule.says,
        "days": rule.effective_days(own),
        "default_days": rule.days,
        "setting": rule.setting or None,
        "tenant_setting": f"{rule.own}_days" if rule.own else None,
        "least_days": rule.least if rule.own or rule.setting else None,
        "forgotten_in_last_run": count,
    }


def _run(run: JobRun, *, with_counts: bool) -> RetentionRun:
    shown: RetentionRun = {
        "id": run.id,
        "outcome": run.outcome,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }
    if with_counts:
        shown["forgotten"] = run.report.get("forgotten", {})
        shown["held_up"] = run.report.get("held_up", {})
    return shown


def _archive(one: archives.ArchivedObject) -> ShownArchivedObject:
    return {
        "id": one.id,
        "object_key": one.object_key,
        "records": one.records,
        "bytes": one.size,
        "sha256": one.sha256.hex(),
        "created_at": one.created_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/retention",
        "operate",
        get_retention,
        "Show how long what is kept, and what the last run forgot",
        answer=RetentionRules,
    ),
    Endpoint(
        "GET /v1/retention/runs",
        "operate",
        list_runs,
        "List the runs of retention, newest first",
        parameters=paging.PARAMETERS,
        answer=PageOf[RetentionRun],
    ),
    Endpoint(
        "GET /v1/retention/archives",
        "operate",
        list_archives,
        "List the objects that were written to the archive, newest first",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownArchivedObject],
    ),
]
