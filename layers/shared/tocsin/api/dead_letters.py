"""Dead letters: what automation gave up on, why, and doing it again or laying it aside."""

from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

from pydantic import Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.api import jobs, letters
from tocsin.api.jobs import ShownJob
from tocsin.api.letters import SOURCES, DeadLetter, DeadLetterDetail, DeadLetterGroup, SourceKind
from tocsin.api.words import WAYS
from tocsin.dead_letters import replay_many, resolve
from tocsin.dead_letters.detail import detail
from tocsin.dead_letters.obstacles import EXPIRED, RESOLVED, Obstacle
from tocsin.dead_letters.replay import replay
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, ExternalId, Moment, Reason, RowId, Word
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Response, parse
from tocsin.http.problems import Problem
from tocsin.store import dead_letters
from tocsin.store.dead_letters import Wanted

STATES = ("unresolved", "resolved", "replayed", "ignored", "handled_by_script", "handler_failed", "all")
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


class UnresolvedCount(TypedDict):
    """How many dead letters wait for a person."""

    unresolved: int


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
    return paging.page(rows, limit, shown=letters.summary, place=lambda row: (row["created_at"], row["id"]))


def count_unresolved(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        count: UnresolvedCount = {"unresolved": dead_letters.count_unresolved(call.conn, call.tenant_id)}
    return Response(200, count)


def list_groups(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        causes = dead_letters.group_by_cause(call.conn, call.tenant_id, limit=limit)
    data = [letters.group(one) for one in causes]
    groups: DeadLetterGroups = {"data": data, "letters_looked_at_at_most": dead_letters.MOST_GROUPED}
    return Response(200, groups)


def get_dead_letter(call: Call) -> Response:
    letter_id = as_uuid(call.request.path_parameters.get("id", ""))
    found = detail(call.conn, call.tenant_id, letter_id) if letter_id else None
    if found is None:
        raise problems.not_found("dead letter")
    return Response(200, letters.detail(found))


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
    return Response(200, letters.detail(found))


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
