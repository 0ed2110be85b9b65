"""Dead letters: what automation gave up on, why, and doing it again or laying it aside."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

from pydantic import Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.api import attempts, jobs, webhook_deliveries
from tocsin.api.attempts import Attempt
from tocsin.api.jobs import ShownJob
from tocsin.api.webhook_deliveries import ShownWebhookDelivery
from tocsin.api.words import WAYS, WORK_KINDS, Backoff, Mode, Priority, Resolution, TemplateRef
from tocsin.dead_letters import replay_many, resolve
from tocsin.dead_letters.detail import LetterDetail, detail
from tocsin.dead_letters.obstacles import EXPIRED, RESOLVED, Obstacle
from tocsin.dead_letters.replay import replay
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, ExternalId, Moment, Reason, RowId, Word
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response, parse
from tocsin.http.problems import Problem
from tocsin.store import dead_letters
from tocsin.store.dead_letters import Cause, Wanted

STATES = ("unresolved", "resolved", "replayed", "ignored", "handled_by_script", "handler_failed", "all")
SOURCES = (*WORK_KINDS, "replay")
SourceKind = Annotated[str, one_of(*SOURCES)]
SECOND_COPY = "An earlier attempt may have arrived: this replay may be a second copy."


class FilterBody(Closed):
    """Letters that fit all of it. Without a state: those that are not resolved."""

    state: Literal[STATES] = "unresolved"  # type: ignore[valid-type]
    source_kind: Literal[SOURCES] | None = None  # type: ignore[valid-type]
    channel: Literal[WAYS] | None = None  # type: ignore[valid-type]
    classification: Word | None = None
    provider: Word | None = None
    provider_code: Word | None = None
    notification_id: RowId | None = None
    user_id: ExternalId | None = None
    recipient: Word | None = None
    type: Word | None = None
    template: Word | None = None
    template_version: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)] | None = None
    trigger_id: RowId | None = None
    since: Moment | None = None
    until: Moment | None = None


class ReplayBody(Closed):
    past_expiry: StrictBool = False


class ResolveLetterBody(Closed):
    resolution: Literal["ignored"]
    reason: Reason


class ReplayManyBody(Closed):
    filter: FilterBody
    past_expiry: StrictBool = False
    dry_run: StrictBool = False


class DeadLetter(TypedDict):
    """What automation gave up on, and why. `channel`, `route_id` and `recipient` are empty where it was not about a message."""

    id: UUID
    source_kind: SourceKind
    notification_id: UUID | None
    route_id: str | None
    generation: int
    channel: str
    final_attempt_count: int
    max_attempts: int
    provider: str
    provider_code: str
    recovery_hint: str
    trigger_id: UUID | None
    handler_id: UUID | None
    first_attempt_at: datetime | None
    last_attempt_at: datetime | None
    created_at: datetime
    resolution: Resolution | None
    resolved_at: datetime | None
    resolution_reason: str
    type: str
    recipient: str
    classification: str
    failure_message: str
    template: TemplateRef | None
    resolved_by: str | None


class DeadWork(TypedDict):
    """The work that died."""

    id: UUID
    queue: str
    priority: Any
    payload: Any
    retry_backoff: Backoff
    retry_base_ms: int
    principal_id: UUID | None
    trigger_depth: int


class LetterNotification(TypedDict):
    """The notification that a dead letter is about."""

    type: str
    notification_id: UUID
    producer: str
    mode: Mode
    priority: Priority
    accepted_at: datetime
    send_at: datetime | None
    expires_at: datetime | None
    cancelled_at: datetime | None


class ReplayObstacle(TypedDict):
    """Why a dead letter cannot be replayed just now."""

    reason: str
    detail: str


class LetterReplay(TypedDict):
    """What became of a replay."""

    work_id: UUID
    generation: int
    status: str
    dead_letter_id: UUID | None


class DeadLetterDetail(DeadLetter):
    """A dead letter with its retry history, and what became of its replay."""

    attempts: list[Attempt]
    work: DeadWork
    notification: LetterNotification | None
    delivery: ShownWebhookDelivery | None
    obstacle: ReplayObstacle | None
    second_copy_possible: bool
    replay: LetterReplay | None


class UnresolvedCount(TypedDict):
    """How many dead letters wait for a person."""

    unresolved: int


class DeadLetterGroup(TypedDict):
    """Unresolved dead letters that died of the same."""

    source_kind: SourceKind
    channel: str
    classification: str
    provider: str
    provider_code: str
    template: str | None
    template_version: int | None
    count: int
    first_seen_at: datetime
    last_seen_at: datetime
    example_id: UUID
    recovery_hint: str


class DeadLetterGroups(TypedDict):
    """Unresolved dead letters by their causes, the most frequent first."""

    data: list[DeadLetterGroup]
    letters_looked_at_at_most: int


class ReplayStarted(TypedDict):
    """The work is done once more."""

    id: UUID
    source_kind: SourceKind
    resolution: Literal["replayed"]
    generation: int
    work_id: UUID
    second_copy_possible: bool
    warning: str | None


class ReplayDryRun(TypedDict):
    """What a replay would do. `is_complete`: all that the filter finds was looked at."""

    dry_run: Literal[True]
    replayed: int
    skipped: int
    replayable: dict[str, int]
    skipped_reasons: dict[str, int]
    is_complete: bool


def list_dead_letters(call: Call) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    wanted = _asked(call)
    with tenant_transaction(call.conn, call.tenant_id):
        places = dead_letters.find_page(call.conn, call.tenant_id, wanted, limit=limit + 1, before=after)
        rows = dead_letters.find(call.conn, call.tenant_id, [letter_id for _, letter_id in places])
    return paging.page(rows, limit, shown=_summary, place=lambda row: (row["created_at"], row["id"]))


def count_unresolved(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        count: UnresolvedCount = {"unresolved": dead_letters.count_unresolved(call.conn, call.tenant_id)}
    return Response(200, count)


def list_groups(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        causes = dead_letters.group_by_cause(call.conn, call.tenant_id, limit=limit)
    data = [shown_group(one) for one in causes]
    groups: DeadLetterGroups = {"data": data, "letters_looked_at_at_most": dead_letters.MOST_GROUPED}
    return Response(200, groups)


def get_dead_letter(call: Call) -> Response:
    letter_id = as_uuid(call.request.path_parameters.get("id", ""))
    found = detail(call.conn, call.tenant_id, letter_id) if letter_id else None
    if found is None:
        raise problems.not_found("dead letter")
    return Response(200, _shown(found))


def replay_dead_letter(call: Call) -> Response:
    letter_id = as_uuid(call.request.path_parameters.get("id", ""))
    body: ReplayBody = call.request.parsed(ReplayBody) if call.request.body else ReplayBody()
    by = call.principal.key_id
    made = replay(call.conn, call.actor, letter_id, by=by, past_expiry=body.past_expiry) if letter_id else None
    if made is None or letter_id is None:
        raise problems.not_found("dead letter")
    if isinstance(made, Obstacle):
        raise _problem(made)
    shown: ReplayStarted = {
        "id": letter_id,
        "source_kind": made.again.source_kind,
        "resolution": "replayed",
        "generation": made.again.generation,
        "work_id": made.again.outbox_id,
        "second_copy_possible": made.in_doubt,
        "warning": SECOND_COPY if made.in_doubt else None,
    }
    return Response(202, shown)


def resolve_dead_letter(call: Call) -> Response:
    letter_id = as_uuid(call.request.path_parameters.get("id", ""))
    body: ResolveLetterBody = call.request.parsed(ResolveLetterBody)
    by = call.principal.key_id
    is_done = resolve.ignore(call.conn, call.actor, letter_id, reason=body.reason, by=by) if letter_id else None
    found = detail(call.conn, call.tenant_id, letter_id) if letter_id and is_done is not None else None
    if found is None:
        raise problems.not_found("dead letter")
    if not is_done:
        raise _problem(Obstacle(RESOLVED, f"This dead letter is resolved already: {found.letter['resolution']}."))
    return Response(200, _shown(found))


def replay_dead_letters(call: Call) -> Response:
    body: ReplayManyBody = call.request.parsed(ReplayManyBody)
    wanted = _wanted(body.filter)
    if body.dry_run:
        tried = replay_many.try_dry(call.conn, call.tenant_id, wanted, past_expiry=body.past_expiry)
        shown: ReplayDryRun = {
            "dry_run": True,
            "replayed": sum(tried.replayable.values()),
            "skipped": sum(tried.skipped_reasons.values()),
            "replayable": tried.replayable,
            "skipped_reasons": tried.skipped_reasons,
            "is_complete": tried.is_complete,
        }
        return Response(200, shown)
    by = call.principal.key_id
    job = replay_many.enqueue(call.conn, call.actor, _job_id(call), wanted, by=by, past_expiry=body.past_expiry)
    return Response(202, jobs.shown(job))


def _job_id(call: Call) -> UUID:
    """The same for the same request: a try that is repeated on another connection makes one job."""
    return uuid5(call.tenant_id, f"job {call.request.request_id}") if call.request.request_id else uuid7()


def _asked(call: Call) -> Wanted:
    query: dict[str, Any] = {name: value for name, value in call.request.query.items() if name not in ("limit", "cursor")}
    version = query.get("template_version", "")
    if version.isascii() and version.isdigit():
        query["template_version"] = int(version[:11])
    try:
        return _wanted(parse(FilterBody, query))
    except Problem as problem:
        errors = [{"pointer": f"?{one['pointer'].lstrip('/')}", "message": one["message"]} for one in problem.errors]
        raise problems.invalid_fields(errors) from None


def _wanted(body: FilterBody) -> Wanted:
    """A user is a recipient by another name; both at once find nothing, unless they are the same."""
    said = body.model_dump(exclude={"user_id"})
    if body.user_id is not None:
        named = f"user:{body.user_id}"
        if body.recipient not in (None, named):
            raise problems.invalid_field("/recipient", "is another one than `user_id`: name one of them")
        said["recipient"] = named
    if body.template_version is not None and body.template is None:
        raise problems.invalid_field("/template_version", "is the version of a `template`: name that too")
    return Wanted(**said)


def _problem(obstacle: Obstacle) -> Problem:
    kind = {RESOLVED: "already-resolved", EXPIRED: "expired"}.get(obstacle.reason, "not-replayable")
    title = {
        "already-resolved": "The dead letter is resolved already",
        "expired": "The notification has expired",
        "not-replayable": "This dead letter cannot be replayed",
    }[kind]
    return Problem(409, kind, title, obstacle.detail)


def shown_group(cause: Cause) -> DeadLetterGroup:
    return {
        "source_kind": cause.source_kind,
        "channel": cause.channel,
        "classification": cause.classification,
        "provider": cause.provider,
        "provider_code": cause.provider_code,
        "template": cause.template,
        "template_version": cause.template_version,
        "count": cause.count,
        "first_seen_at": cause.first_seen_at,
        "last_seen_at": cause.last_seen_at,
        "example_id": cause.example_id,
        "recovery_hint": cause.recovery_hint,
    }


def _summary(row: dict[str, Any]) -> DeadLetter:
    template: TemplateRef = {"id": row["template_id"], "name": row["template_name"], "version": row["template_version"]}
    return {
        "id": row["id"],
        "source_kind": row["source_kind"],
        "notification_id": row["notification_id"],
        "route_id": row["route_id"],
        "generation": row["generation"],
        "channel": row["channel"],
        "final_attempt_count": row["final_attempt_count"],
        "max_attempts": row["max_attempts"],
        "provider": row["provider"],
        "provider_code": row["provider_code"],
        "recovery_hint": row["recovery_hint"],
        "trigger_id": row["trigger_id"],
        "handler_id": row["handler_id"],
        "first_attempt_at": row["first_attempt_at"],
        "last_attempt_at": row["last_attempt_at"],
        "created_at": row["created_at"],
        "resolution": row["resolution"],
        "resolved_at": row["resolved_at"],
        "resolution_reason": row["resolution_reason"],
        "type": row["notification_type"],
        "recipient": row["recipient_ref"],
        "classification": row["failure_classification"],
        "failure_message": row["failure_message"],
        "template": template if row["template_id"] else None,
        "resolved_by": f"key:{row['resolved_by']}" if row["resolved_by"] else None,
    }


def _shown(found: LetterDetail) -> DeadLetterDetail:
    letter, obstacle, replayed = found.letter, found.obstacle, found.replay
    return {
        **_summary(letter),
        "attempts": [attempts.shown(attempt) for attempt in found.attempts],
        "work": {
            "id": letter["outbox_id"],
            "queue": letter["queue"],
            "priority": letter["priority"],
            "payload": letter["payload"],
            "retry_backoff": letter["retry_backoff"],
            "retry_base_ms": letter["retry_base_ms"],
            "principal_id": letter["principal_id"],
            "trigger_depth": letter["trigger_depth"],
        },
        "notification": _shown_record(found.record) if found.record else None,
        "delivery": webhook_deliveries.shown(found.delivery) if found.delivery else None,
        "obstacle": {"reason": obstacle.reason, "detail": obstacle.detail} if obstacle else None,
        "second_copy_possible": found.in_doubt,
        "replay": {
            "work_id": replayed.work_id,
            "generation": replayed.generation,
            "status": replayed.status,
            "dead_letter_id": replayed.dead_letter_id,
        }
        if replayed
        else None,
    }


def _shown_record(record: dict[str, Any]) -> LetterNotification:
    return {
        "type": record["notification_type"],
        "notification_id": record["notification_id"],
        "producer": record["producer"],
        "mode": record["mode"],
        "priority": record["priority"],
        "accepted_at": record["accepted_at"],
        "send_at": record["send_at"],
        "expires_at": record["expires_at"],
        "cancelled_at": record["cancelled_at"],
    }


_FILTERS: list[dict[str, Any]] = [
    filters.choice("state", STATES, default="unresolved"),
    filters.choice("source_kind", SOURCES),
    filters.choice("channel", WAYS),
    *filters.text("classification", "provider", "provider_code", "user_id", "recipient", "type", "template"),
    {"name": "template_version", "in": "query", "schema": {"type": "integer", "minimum": 1}},
    *(
        {"name": name, "in": "query", "schema": {"type": "string", "format": "uuid"}}
        for name in ("notification_id", "trigger_id")
    ),
    *filters.SINCE_UNTIL,
]
_UNKNOWN = {404: "No such dead letter"}

ENDPOINTS = [
    Endpoint(
        "GET /v1/dead-letters", "operate", list_dead_letters, "List dead letters, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS], answer=PageOf[DeadLetter],
    ),
    Endpoint(
        "GET /v1/dead-letters/unresolved-count", "operate", count_unresolved, "Count what waits for a person",
        answer=UnresolvedCount,
    ),
    Endpoint(
        "GET /v1/dead-letters/groups", "operate", list_groups, "Group unresolved dead letters by cause",
        parameters=[paging.LIMIT], answer=DeadLetterGroups,
    ),
    Endpoint(
        "GET /v1/dead-letters/{id}", "operate", get_dead_letter, "Show a dead letter with its retry history", answers=_UNKNOWN,
        answer=DeadLetterDetail,
    ),
    Endpoint(
        "POST /v1/dead-letters/{id}/replay", "operate", replay_dead_letter, "Do once more what died", success=202,
        body=ReplayBody, body_is_optional=True, answer=ReplayStarted,
        answers=_UNKNOWN | {409: "It is resolved already, has expired, or cannot be replayed"},
    ),
    Endpoint(
        "POST /v1/dead-letters/{id}/resolve", "operate", resolve_dead_letter, "Lay a dead letter aside, with a reason",
        body=ResolveLetterBody, answer=DeadLetterDetail, answers=_UNKNOWN | {409: "It is resolved already"},
    ),
    Endpoint(
        "POST /v1/dead-letters/replay", "operate", replay_dead_letters, "Replay all that a filter finds, as a job, or try it dry",
        success=202, body=ReplayManyBody, answers={200: "What a dry run found"},
        answer=ShownJob, other_answers={200: ReplayDryRun},
    ),
]  # fmt: skip
