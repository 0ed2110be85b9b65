"""Retention: how long what is kept, what was forgotten, and what was archived before."""

from typing import Any

from tocsin.foundation.database import is_of_installation, tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.http import paging
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import archives, job_runs, tenants
from tocsin.store.archives import ArchivedObject
from tocsin.store.job_runs import JobRun
from tocsin.upkeep.retain import JOB
from tocsin.upkeep.retention_rules import Rule, rules_of


def get_retention(call: Call) -> Response:
    config = settings()
    rules = rules_of(config)
    with tenant_transaction(call.conn, call.tenant_id):
        own = tenants.own_days(call.conn, call.tenant_id, [rule.own for rule in rules if rule.own])
        last = job_runs.last_finished(call.conn, JOB)
    # the counts are of all tenants together: what one has is no other's business
    counts = last.report.get("forgotten", {}) if last and is_of_installation(call.tenant_id) else {}
    return Response(
        200,
        {
            "rules": [_rule(rule, own.get(rule.own), counts.get(rule.name)) for rule in rules],
            "archives_records": config.archive_bucket is not None,
            "last_run": _run(last, with_counts=False) if last else None,
        },
    )


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


def _rule(rule: Rule, own: int | None, count: int | None) -> dict[str, Any]:
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


def _run(run: JobRun, *, with_counts: bool) -> dict[str, Any]:
    counts = {"forgotten": run.report.get("forgotten", {}), "held_up": run.report.get("held_up", {})}
    return {
        "id": run.id,
        "outcome": run.outcome,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    } | (counts if with_counts else {})


def _archive(one: ArchivedObject) -> dict[str, Any]:
    return {
        "id": one.id,
        "object_key": one.object_key,
        "records": one.records,
        "bytes": one.size,
        "sha256": one.sha256.hex(),
        "created_at": one.created_at,
    }


ENDPOINTS = [
    Endpoint("GET /v1/retention", "operate", get_retention, "Show how long what is kept, and what the last run forgot"),
    Endpoint(
        "GET /v1/retention/runs", "operate", list_runs, "List the runs of retention, newest first", parameters=paging.PARAMETERS
    ),
    Endpoint(
        "GET /v1/retention/archives",
        "operate",
        list_archives,
        "List the objects that were written to the archive, newest first",
        parameters=paging.PARAMETERS,
    ),
]
