"""Dead letters: what automation gave up on, why, and doing it again or laying it aside."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

from pydantic import Field, StrictBool, StrictInt

from tocsin.dead_letters import replay_many, resolve
from tocsin.dead_letters.detail import LetterDetail, detail
from tocsin.dead_letters.obstacles import EXPIRED, RESOLVED, Obstacle
from tocsin.dead_letters.replay import replay
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, ExternalId, Moment, Reason, RowId, Word
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import filters, paging, problems
from tocsin.http.door import Call, Endpoint, Response, parse
from tocsin.http.problems import Problem
from tocsin.store import dead_letters
from tocsin.store.dead_letters import Wanted
from tocsin.webhooks.sign import message_id_of

STATES = ("unresolved", "resolved", "replayed", "ignored", "handled_by_script", "handler_failed", "all")
KINDS = ("plan", "deliver", "fanout", "webhook", "trigger", "replay")
CHANNELS = ("email", "sms", "push", "in_app", "webhook")
SECOND_COPY = "An earlier attempt may have arrived: this replay may be a second copy."


class FilterBody(Closed):
    """Letters that fit all of it. Without a state: those that are not resolved."""

    state: Literal[STATES] = "unresolved"  # type: ignore[valid-type]
    source_kind: Literal[KINDS] | None = None  # type: ignore[valid-type]
    channel: Literal[CHANNELS] | None = None  # type: ignore[valid-type]
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


def list_dead_letters(call: Call) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    wanted = _asked(call)
    with tenant_transaction(call.conn, call.tenant_id):
        places = dead_letters.find_page(call.conn, call.tenant_id, wanted, limit=limit + 1, before=after)
        rows = dead_letters.find(call.conn, call.tenant_id, [letter_id for _, letter_id in places])
    return paging.page(rows, limit, shown=_summary, place=lambda row: (row["created_at"], row["id"]))


def count_unresolved(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        return Response(200, {"unresolved": dead_letters.count_unresolved(call.conn, call.tenant_id)})


def list_groups(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        causes = dead_letters.group_by_cause(call.conn, call.tenant_id, limit=limit)
    return Response(200, {"data": [asdict(one) for one in causes], "letters_looked_at_at_most": dead_letters.MOST_GROUPED})


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
    if made is None:
        raise problems.not_found("dead letter")
    if isinstance(made, Obstacle):
        raise _problem(made)
    return Response(
        202,
        {
            "id": letter_id,
            "source_kind": made.again.source_kind,
            "resolution": "replayed",
            "generation": made.again.generation,
            "work_id": made.again.outbox_id,
            "second_copy_possible": made.in_doubt,
            "warning": SECOND_COPY if made.in_doubt else None,
        },
    )


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
        counts = {"replayed": sum(tried.replayable.values()), "skipped": sum(tried.skipped_reasons.values())}
        return Response(200, {"dry_run": True} | counts | asdict(tried))
    by = call.principal.key_id
    job = replay_many.enqueue(call.conn, call.actor, _job_id(call), wanted, by=by, past_expiry=body.past_expiry)
    return Response(202, asdict(job))


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


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    names = (
        "id", "source_kind", "notification_id", "route_id", "generation", "channel", "final_attempt_count", "max_attempts",
        "provider", "provider_code", "recovery_hint", "trigger_id", "handler_id", "first_attempt_at", "last_attempt_at",
        "created_at", "resolution", "resolved_at", "resolution_reason",
    )  # fmt: skip
    template = {"id": row["template_id"], "name": row["template_name"], "version": row["template_version"]}
    return {name: row[name] for name in names} | {
        "type": row["notification_type"],
        "recipient": row["recipient_ref"],
        "classification": row["failure_classification"],
        "failure_message": row["failure_message"],
        "template": template if row["template_id"] else None,
        "resolved_by": f"key:{row['resolved_by']}" if row["resolved_by"] else None,
    }


def _shown(found: LetterDetail) -> dict[str, Any]:
    letter, record, delivery = found.letter, found.record, found.delivery
    work = ("queue", "priority", "payload", "retry_backoff", "retry_base_ms", "principal_id", "trigger_depth")
    of_record = ("notification_id", "producer", "mode", "priority", "accepted_at", "send_at", "expires_at", "cancelled_at")
    return _summary(letter) | {
        "attempts": found.attempts,
        "work": {"id": letter["outbox_id"]} | {name: letter[name] for name in work},
        "notification": {"type": record["notification_type"]} | {name: record[name] for name in of_record} if record else None,
        "delivery": asdict(delivery) | {"message_id": message_id_of(delivery.message_id)} if delivery else None,
        "obstacle": asdict(found.obstacle) if found.obstacle else None,
        "second_copy_possible": found.in_doubt,
        "replay": asdict(found.replay) if found.replay else None,
    }


_FILTERS: list[dict[str, Any]] = [
    {"name": "state", "in": "query", "schema": {"enum": list(STATES), "default": "unresolved"}},
    filters.choice("source_kind", KINDS),
    filters.choice("channel", CHANNELS),
    *filters.text("classification", "provider", "provider_code", "user_id", "recipient", "type", "template"),
    {"name": "template_version", "in": "query", "schema": {"type": "integer", "minimum": 1}},
    *(
        {"name": name, "in": "query", "schema": {"type": "string", "format": "uuid"}}
        for name in ("notification_id", "trigger_id")
    ),
    *({"name": name, "in": "query", "schema": {"type": "string", "format": "date-time"}} for name in ("since", "until")),
]
_UNKNOWN = {404: "No such dead letter"}

ENDPOINTS = [
    Endpoint(
        "GET /v1/dead-letters", "operate", list_dead_letters, "List dead letters, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
    ),
    Endpoint("GET /v1/dead-letters/unresolved-count", "operate", count_unresolved, "Count what waits for a person"),
    Endpoint(
        "GET /v1/dead-letters/groups", "operate", list_groups, "Group unresolved dead letters by cause",
        parameters=[paging.PARAMETERS[0]],
    ),
    Endpoint(
        "GET /v1/dead-letters/{id}", "operate", get_dead_letter, "Show a dead letter with its retry history", answers=_UNKNOWN
    ),
    Endpoint(
        "POST /v1/dead-letters/{id}/replay", "operate", replay_dead_letter, "Do once more what died", success=202,
        body=ReplayBody, body_is_optional=True,
        answers=_UNKNOWN | {409: "It is resolved already, has expired, or cannot be replayed"},
    ),
    Endpoint(
        "POST /v1/dead-letters/{id}/resolve", "operate", resolve_dead_letter, "Lay a dead letter aside, with a reason",
        body=ResolveLetterBody, answers=_UNKNOWN | {409: "It is resolved already"},
    ),
    Endpoint(
        "POST /v1/dead-letters/replay", "operate", replay_dead_letters, "Replay all that a filter finds, as a job, or try it dry",
        success=202, body=ReplayManyBody, answers={200: "What a dry run found"},
    ),
]  # fmt: skip
