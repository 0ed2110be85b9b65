"""Users: whom the producer's own ids mean, and how they are reached."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, StrictBool
from typing_extensions import TypedDict

from tocsin.api.erasures import ErasureReceipt, shown_count, shown_receipt
from tocsin.api.words import AtLeast
from tocsin.foundation import merge_patch
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, ExternalId
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, ShownProblem
from tocsin.http.door import Call, Endpoint, Response, parse
from tocsin.http.problems import Problem
from tocsin.people import users as people
from tocsin.people.erase import erase
from tocsin.people.try_erase import try_erase
from tocsin.people.user_fields import Attributes, UserFields, UserPatch
from tocsin.people.users import AlreadyTaken, Profile
from tocsin.store import users
from tocsin.store.users import UnknownUser, User

MAX_BATCH = 500
ERASES_FOR = 6.0  # seconds of a request, which has ten
QUERY = {
    "name": "query",
    "in": "query",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "the beginning of an id, an email (in either case), a username or a phone number",
}


class UserBody(UserFields):
    """The whole user: what is not named is cleared."""

    attributes: Attributes = Field(default_factory=dict)


class UserItem(UserBody):
    id: ExternalId


class UserBatch(Closed):
    users: Annotated[list[UserItem], Field(min_length=1, max_length=MAX_BATCH)]


class _AnyItems(Closed):
    users: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


class EraseBody(Closed):
    """`dry_run`: say what would be erased, and erase nothing."""

    dry_run: StrictBool = False


class ShownUser(TypedDict):
    """A user, by the producer's own id."""

    id: str
    email: str | None
    username: str | None
    phone: str | None
    locale: str | None
    timezone: str | None
    avatar_url: str | None
    attributes: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class WrittenUser(ShownUser):
    """A user who was replaced, or is new, and the names of what was cleared by that."""

    cleared: list[str]


class UserResult(TypedDict):
    """What became of one user of a batch: 201 new, 200 written again, or the problem."""

    id: str | None
    status: int
    problem: NotRequired[ShownProblem]


class UserResults(TypedDict):
    """One result for each user, in their order."""

    results: list[UserResult]


class ErasureDryRun(TypedDict):
    """What would be erased, by table."""

    dry_run: Literal[True]
    user_id: str
    would_erase: dict[str, int | AtLeast]


def put_user(call: Call) -> Response:
    external_id = external_id_of(call)
    body: UserBody = call.request.parsed(UserBody)
    try:
        written = people.make_known(call.conn, call.actor, external_id, Profile(**body.model_dump()))
    except AlreadyTaken as taken:
        raise taken_by_another(taken) from None
    return Response(201 if written.is_new else 200, _shown_written(written))


def patch_user(call: Call) -> Response:
    """JSON Merge Patch: what is named is changed, null clears."""
    external_id = external_id_of(call)
    patch = call.request.json(merge_patch.MEDIA_TYPE, "application/json")
    if not isinstance(patch, dict):
        raise problems.invalid_field("", "must be an object")

    def read(merged: dict[str, Any]) -> Profile:
        body: UserBody = parse(UserBody, merged)
        return Profile(**body.model_dump())

    try:
        with named_user():
            user = people.change(call.conn, call.actor, external_id, patch, read)
    except AlreadyTaken as taken:
        raise taken_by_another(taken) from None
    return Response(200, _shown_user(user))


def post_user_batch(call: Call) -> Response:
    """Up to 500 whole users in one transaction; one that cannot be written does not spoil the others."""
    items = call.request.parsed(_AnyItems).users
    read: list[UserItem | Problem] = []
    profiles: dict[str, Profile] = {}
    for item in items:
        one = _read_item(item)
        if isinstance(one, UserItem) and one.id in profiles:
            one = Problem(422, "named-twice", "The user is named twice", "The first one of the batch counts.")
        if isinstance(one, UserItem):
            profiles[one.id] = Profile(**one.model_dump(exclude={"id"}))
        read.append(one)
    ends = people.make_all_known(call.conn, call.actor, profiles) if profiles else {}
    results = [_result(item, one, ends, call.request.request_id) for item, one in zip(items, read, strict=True)]
    shown: UserResults = {"results": results}
    return Response(200, shown)


def _read_item(item: Any) -> "UserItem | Problem":
    try:
        found: UserItem = parse(UserItem, item)
        return found
    except Problem as problem:
        return problem


def _result(item: Any, one: "UserItem | Problem", ends: dict[str, bool | AlreadyTaken], request_id: str) -> UserResult:
    name = item.get("id") if isinstance(item, dict) and isinstance(item.get("id"), str) else None
    end = one if isinstance(one, Problem) else ends[one.id]
    if isinstance(end, AlreadyTaken):
        end = taken_by_another(end)
    if isinstance(end, Problem):
        return {"id": name, "status": end.status, "problem": end.body(request_id)}
    return {"id": name, "status": 201 if end else 200}


def taken_by_another(taken: AlreadyTaken) -> Problem:
    detail = f"Another user of this tenant has this {taken.field}."
    errors = [{"pointer": f"/{taken.field}", "message": "is another user's"}]
    return Problem(409, "already-taken", f"The {taken.field} is taken", detail, errors)


def get_user(call: Call) -> Response:
    external_id = external_id_of(call)
    with tenant_transaction(call.conn, call.tenant_id):
        user = users.find(call.conn, call.tenant_id, external_id)
    if user is None:
        raise problems.not_found("user")
    return Response(200, _shown_user(user))


def list_users(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    cursor = paging.cursor_of(call.request)
    before = cursor[1] if cursor else None
    query = call.request.query.get("query")
    if query is not None and not 1 <= len(query) <= 255:
        raise problems.invalid_parameter("query", "must have 1 to 255 characters")
    with tenant_transaction(call.conn, call.tenant_id):
        if query is None:
            rows = users.list_page(call.conn, call.tenant_id, limit=limit + 1, before=before)
        else:
            rows = users.search(call.conn, call.tenant_id, query, limit=limit + 1, before=before)
    return paging.page(rows, limit, shown=_shown_user, place=lambda user: (user.created_at, user.id))


def erase_user(call: Call) -> Response:
    """Everything of theirs, everywhere; the receipt says what. 202: there is a lot, and the next run of retention goes on.

    `dry_run` counts what it would be, and leaves it all as it is."""
    body: EraseBody = call.request.parsed(EraseBody) if call.request.body else EraseBody()
    return _counted(call) if body.dry_run else _erased(call)


def delete_user(call: Call) -> Response:
    return _erased(call)


def _erased(call: Call) -> Response:
    with named_user():
        receipt = erase(call.conn, call.actor, external_id_of(call), has_time=_for_a_while())
    return Response(200 if receipt.finished_at else 202, shown_receipt(receipt))


def _counted(call: Call) -> Response:
    with named_user():
        reach = try_erase(call.conn, call.tenant_id, external_id_of(call), has_time=_for_a_while())
    counts = {table: shown_count(count, is_cut=table in reach.cut) for table, count in reach.counts.items()}
    shown: ErasureDryRun = {"dry_run": True, "user_id": external_id_of(call), "would_erase": counts}
    return Response(200, shown)


def _for_a_while() -> Callable[[], bool]:
    until = time.monotonic() + ERASES_FOR
    return lambda: time.monotonic() < until


def external_id_of(call: Call) -> str:
    external_id = call.request.path_parameters.get("id", "")
    if not 1 <= len(external_id) <= 255:
        raise problems.invalid_path("id", "must have 1 to 255 characters")
    return external_id


@contextmanager
def named_user() -> Iterator[None]:
    """A user whom nobody knows is answered with 404, whatever was to be done with them."""
    try:
        yield
    except UnknownUser:
        raise problems.not_found("user") from None


def _shown_written(written: people.Written) -> WrittenUser:
    return {**_shown_user(written.user), "cleared": written.cleared}


def _shown_user(user: User) -> ShownUser:
    return {
        "id": user.external_id,
        "email": user.email,
        "username": user.username,
        "phone": user.phone,
        "locale": user.locale,
        "timezone": user.timezone,
        "avatar_url": user.avatar_url,
        "attributes": user.attributes,
        "created_at": user.created_at,
        "updated_at": user.updated_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/users",
        "manage",
        list_users,
        "List users, or find some",
        parameters=[QUERY, *paging.PARAMETERS],
        answer=PageOf[ShownUser],
    ),
    Endpoint(
        "POST /v1/users/batch",
        "manage",
        post_user_batch,
        "Write up to 500 users in one transaction",
        body=UserBatch,
        answer=UserResults,
    ),
    Endpoint(
        "PUT /v1/users/{id}",
        "manage",
        put_user,
        "Replace a user: what is not named is cleared, and the answer says what was",
        body=UserBody,
        answer=WrittenUser,
        answers={201: "A new user", 409: "Email or username taken"},
    ),
    Endpoint(
        "PATCH /v1/users/{id}",
        "manage",
        patch_user,
        "Change a user (JSON Merge Patch): what is named is changed, null clears",
        body=UserPatch,
        other_media_types=(merge_patch.MEDIA_TYPE,),
        answer=ShownUser,
        answers={404: "No such user", 409: "Email or username taken"},
    ),
    Endpoint("GET /v1/users/{id}", "manage", get_user, "Show a user", answers={404: "No such user"}, answer=ShownUser),
    Endpoint(
        "POST /v1/users/{id}/erase",
        "manage",
        erase_user,
        "Erase a user everywhere, with a receipt; or count what that would be",
        body=EraseBody,
        answer=ErasureReceipt,
        other_answers={200: ErasureReceipt | ErasureDryRun},
        body_is_optional=True,
        answers={202: "Begun; it is gone on with", 404: "No such user"},
    ),
    Endpoint(
        "DELETE /v1/users/{id}",
        "manage",
        delete_user,
        "The same",
        answer=ErasureReceipt,
        answers={202: "Begun; it is gone on with", 404: "No such user"},
    ),
]
