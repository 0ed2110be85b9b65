"""Jobs: what an operator asked for and takes longer than a request; how far it has come."""

from dataclasses import asdict

from tocsin.dead_letters import replay_many
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import jobs
from tocsin.store.jobs import Job

_STATUSES = ("queued", "running", "complete", "cancelled", "failed")


def list_jobs(call: Call) -> Response:
    status = call.request.query.get("status")
    if status is not None and status not in _STATUSES:
        raise problems.invalid_parameter("status", f"must be one of {', '.join(_STATUSES)}")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = jobs.list_page(call.conn, call.tenant_id, status=status, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=asdict, place=lambda row: (row.created_at, row.id))


def get_job(call: Call) -> Response:
    job_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        job = jobs.find(call.conn, call.tenant_id, job_id) if job_id else None
    if job is None:
        raise problems.not_found("job")
    return Response(200, asdict(job))


def cancel_job(call: Call) -> Response:
    job_id = as_uuid(call.request.path_parameters.get("id", ""))
    job = replay_many.cancel(call.conn, call.actor, job_id) if job_id else False
    if isinstance(job, Job):
        return Response(200, asdict(job))
    if not job:
        raise problems.not_found("job")
    raise Problem(409, "job-ended", "The job has ended", "What it has done is in its row.")


ENDPOINTS = [
    Endpoint(
        "GET /v1/jobs",
        "operate",
        list_jobs,
        "List jobs, newest first",
        parameters=[{"name": "status", "in": "query", "schema": {"enum": list(_STATUSES)}}, *paging.PARAMETERS],
    ),
    Endpoint("GET /v1/jobs/{id}", "operate", get_job, "Show a job and how far it has come", answers={404: "No such job"}),
    Endpoint(
        "POST /v1/jobs/{id}/cancel",
        "operate",
        cancel_job,
        "Stop a job; what it has done stays done",
        answers={404: "No such job", 409: "The job has ended"},
    ),
]
