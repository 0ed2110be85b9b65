"""Jobs: what an operator asked for and takes longer than a request; how far it has come."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.dead_letters import replay_many
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import jobs

_STATUSES = ("queued", "running", "complete", "cancelled", "failed")


class ShownJob(TypedDict):
    """What takes longer than a request. `done` counts what was carried out, `skipped` what was left out, `failed` what could
    not be tried."""

    id: UUID
    kind: Annotated[str, one_of("replay")]
    status: Annotated[str, one_of(*_STATUSES)]
    arguments: dict[str, Any]
    total: int | None
    done: int
    skipped: int
    failed: int
    skipped_reasons: dict[str, int]
    created_by: UUID
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


def list_jobs(call: Call) -> Response:
    status = filters.choice_of(call.request, "status", _STATUSES)
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = jobs.list_page(call.conn, call.tenant_id, status=status, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=shown, place=lambda row: (row.created_at, row.id))


def get_job(call: Call) -> Response:
    job_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        job = jobs.find(call.conn, call.tenant_id, job_id) if job_id else None
    if job is None:
        raise problems.not_found("job")
    return Response(200, shown(job))


def cancel_job(call: Call) -> Response:
    job_id = as_uuid(call.request.path_parameters.get("id", ""))
    job = replay_many.cancel(call.conn, call.actor, job_id) if job_id else False
    if isinstance(job, jobs.Job):
        return Response(200, shown(job))
    if not job:
        raise problems.not_found("job")
    raise Problem(409, "job-ended", "The job has ended", "What it has done is in its row.")


def shown(job: jobs.Job) -> ShownJob:
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.status,
        "arguments": job.arguments,
        "total": job.total,
        "done": job.done,
        "skipped": job.skipped,
        "failed": job.failed,
        "skipped_reasons": job.skipped_reasons,
        "created_by": job.created_by,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "updated_at": job.updated_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/jobs",
        "operate",
        list_jobs,
        "List jobs, newest first",
        parameters=[filters.choice("status", _STATUSES), *paging.PARAMETERS],
        answer=PageOf[ShownJob],
    ),
    Endpoint(
        "GET /v1/jobs/{id}",
        "operate",
        get_job,
        "Show a job and how far it has come",
        answers={404: "No such job"},
        answer=ShownJob,
    ),
    Endpoint(
        "POST /v1/jobs/{id}/cancel",
        "operate",
        cancel_job,
        "Stop a job; what it has done stays done",
        answers={404: "No such job", 409: "The job has ended"},
        answer=ShownJob,
    ),
]
