"""Replay many: all letters that a filter finds, tried dry, or as a job that a worker carries out page by page."""

from collections import Counter
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.dead_letters.obstacles import obstacle_of
from tocsin.dead_letters.replay import Replays, replay_letters
from tocsin.foundation import work_queue
from tocsin.foundation.database import tenant_transaction, worker_transaction
from tocsin.foundation.due import Due
from tocsin.foundation.ids import as_uuid
from tocsin.store import admin_system_events, dead_letters, jobs
from tocsin.store.dead_letters import LetterPlace, Wanted
from tocsin.store.flow import letter_standing, run_jobs
from tocsin.store.flow.bury import bury
from tocsin.store.jobs import Job
from tocsin.store.rows import Buried
from tocsin.upkeep.run_job import FAILED

KIND = "replay"
PAGE = 100  # letters in one transaction
MOST_TRIED_DRY = 10_000
MOST_COUNTED = 1_000_000
_OF_THE_LETTER = (psycopg.DataError, psycopg.IntegrityError, psycopg.InternalError)
_MOMENTS, _IDS = ("since", "until"), ("notification_id", "trigger_id")

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a replay would do: how many of each kind, and how many not, for which reason. `is_complete`: all were looked at."""

    replayable: dict[str, int]
    skipped_reasons: dict[str, int]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class JobPage:
    """A job under our lease, and where its next page begins."""

    job: Job
    tenant_id: UUID
    after: LetterPlace | None


def try_dry(conn: Connection[Any], tenant_id: UUID, wanted: Wanted, *, past_expiry: bool) -> DryRun:
    """Changes nothing."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with tenant_transaction(conn, tenant_id):
        places = dead_letters.find_page(conn, tenant_id, wanted, limit=MOST_TRIED_DRY + 1)
        for standing in letter_standing.look(conn, tenant_id, [letter_id for _, letter_id in places[:MOST_TRIED_DRY]]):
            obstacle = obstacle_of(standing, past_expiry=past_expiry)
            if obstacle is None:
                kinds[standing.source_kind] += 1
            else:
                reasons[obstacle.reason] += 1
    return DryRun(dict(kinds), dict(reasons), is_complete=len(places) <= MOST_TRIED_DRY)


def enqueue(conn: Connection[Any], actor: Actor, job_id: UUID, wanted: Wanted, *, by: UUID, past_expiry: bool) -> Job:
    """The id is made by the caller: a call that is repeated makes one job. Whatever it does is told of the person whom the caller
    named."""
    arguments = {"filter": _written(wanted), "past_expiry": past_expiry}
    with tenant_transaction(conn, actor.tenant_id):
        kept = arguments | ({"person": actor.person_name} if actor.person_name else {})
        due = run_jobs.enqueue(conn, actor.tenant_id, job_id, kind=KIND, arguments=kept, by=by)
        job = jobs.find(conn, actor.tenant_id, job_id)
        if due:
            audit.record(conn, actor, "replay", "job", str(job_id), {"new": arguments})
    if due:
        work_queue.nudge([due])
    assert job is not None  # noqa: S101  for the type checker: it was written just now
    return job


def cancel(conn: Connection[Any], actor: Actor, job_id: UUID) -> Job | bool:
    """The job as it was stopped. False: there is no such job; True: it had ended before."""
    with tenant_transaction(conn, actor.tenant_id):
        is_cancelled = run_jobs.cancel(conn, actor.tenant_id, job_id)
        job = jobs.find(conn, actor.tenant_id, job_id)
        if is_cancelled:
            audit.record(conn, actor, "cancel", "job", str(job_id), {"new": {"status": "cancelled"}})
    return job if job and is_cancelled else job is not None


def replay_page(conn: Connection[Any], page: JobPage, *, lease_token: UUID) -> list[Due]:
    """One page, and how far the job has come, in one transaction: a worker that dies leaves all of it or nothing. A letter that
    cannot be tried stops nobody: its page is repeated one by one, and it is counted."""
    try:
        return _replay(conn, page, lease_token, limit=PAGE)
    except _OF_THE_LETTER as error:
        log.error("a page of a replay failed", extra={"job": str(page.job.id), "error": type(error).__name__})
    try:
        return _replay(conn, page, lease_token, limit=1)
    except _OF_THE_LETTER as error:
        log.error("a letter cannot be replayed", extra={"job": str(page.job.id), "error": type(error).__name__})
        return _replay(conn, page, lease_token, limit=1, is_tried=False)


def _replay(conn: Connection[Any], page: JobPage, lease_token: UUID, *, limit: int, is_tried: bool = True) -> list[Due]:
    job, tenant_id = page.job, page.tenant_id
    wanted = _existing(job)
    if job.status == "queued":
        jobs.start(conn, job.id, total=dead_letters.count_matching(conn, tenant_id, wanted, most=MOST_COUNTED))
    with worker_transaction(conn):
        if not run_jobs.hold(conn, job.id, lease_token=lease_token):
            return []
        places = dead_letters.find_page(conn, tenant_id, wanted, limit=limit, before=page.after)
        made = Replays([], {}, set())
        if is_tried and places:
            ids = [letter_id for _, letter_id in places]
            past_expiry = job.arguments["past_expiry"]
            made = replay_letters(conn, tenant_id, ids, by=job.created_by, past_expiry=past_expiry)
        reasons = Counter(obstacle.reason for obstacle in made.not_replayed.values())
        failed = 0 if is_tried else len(places)
        jobs.count(conn, job.id, done=len(made.again), failed=failed, skipped_reasons=dict(reasons))
        next_page = None
        if len(places) < limit:
            run_jobs.finish(conn, job.id, lease_token=lease_token)
        else:
            at, letter_id = places[-1]
            payload = {"after": {"at": at.isoformat(), "id": str(letter_id)}}
            next_page = run_jobs.go_on(conn, job.id, lease_token=lease_token, payload=payload)
        if made.again:
            changes = {"new": {"replayed": [str(one.letter_id) for one in made.again]}}
            actor = Actor(tenant_id, f"job:{KIND}", person_name=job.arguments.get("person"))
            audit.record(conn, actor, "replay", "job", str(job.id), changes)
    return [*made.due, *([next_page] if next_page else [])]


def bury_jobs(conn: Connection[Any], buried: list[Buried], *, lease_token: UUID) -> list[UUID]:
    """A job whose work is given up has failed: that is in its row, in a dead letter that can be replayed, and a system event."""
    with worker_transaction(conn):
        ids = bury(conn, buried, lease_token=lease_token)
        run_jobs.fail(conn, ids)
        for tenant_id, job_id in jobs.tenants_of(conn, ids):
            admin_system_events.raise_once(
                conn,
                event_type=FAILED,
                severity="high",
                subject=f"{KIND}:{job_id}",
                description="A replay of many dead letters failed. Its dead letter says why; replay that one to go on.",
                details={"job_id": str(job_id)},
                tenant_id=tenant_id,
            )
    return ids


def _existing(job: Job) -> Wanted:
    """What the job was asked for, of the letters that were there then: what it brings to die again is not among them."""
    read = dict(job.arguments["filter"])
    for name in _MOMENTS:
        read[name] = datetime.fromisoformat(read[name]) if read.get(name) else None
    for name in _IDS:
        read[name] = as_uuid(read.get(name) or "")
    wanted = Wanted(**read)
    return replace(wanted, until=min(wanted.until or job.created_at, job.created_at))


def _written(wanted: Wanted) -> dict[str, Any]:
    said = {name: value for name, value in asdict(wanted).items() if value is not None}
    return {
        name: value.isoformat() if name in _MOMENTS else str(value) if name in _IDS else value for name, value in said.items()
    }
