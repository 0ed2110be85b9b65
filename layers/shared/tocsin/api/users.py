"""Users: whom the producer's own ids mean, and how they are reached."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake.intents import Email, Phone
from tocsin.people.time_zones import known_zone
from tocsin.people.users import AlreadyTaken, Profile, UnknownUser, make_known
from tocsin.store import users
from tocsin.store.users import User


class UserBody(Closed):
    email: Email | None = None
    phone: Phone | None = None
    username: Name | None = None
    locale: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", max_length=35)] | None = None
    timezone: Annotated[str, Field(max_length=50), AfterValidator(known_zone)] | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


def put_user(call: Call) -> Response:
    external_id = external_id_of(call)
    body: UserBody = call.request.parsed(UserBody)
    try:
        user, is_new = make_known(call.conn, call.tenant_id, external_id, Profile(**body.model_dump()))
    except AlreadyTaken as taken:
        detail = f"Another user of this tenant has this {taken.field}."
        raise Problem(409, "already-taken", f"The {taken.field} is taken", detail) from None
    return Response(201 if is_new else 200, _shown_user(user))


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
    with tenant_transaction(call.conn, call.tenant_id):
        rows = users.list_page(call.conn, call.tenant_id, limit=limit + 1, before=cursor[1] if cursor else None)
    return paging.page(rows, limit, shown=_shown_user, place=lambda user: (user.created_at, user.id))


def external_id_of(call: Call) -> str:
    external_id = call.request.path_parameters.get("id", "")
    if not 1 <= len(external_id) <= 255:
        raise problems.invalid("A user id has 1 to 255 characters.")
    return external_id


@contextmanager
def named_user() -> Iterator[None]:
    """A user whom nobody knows is answered with 404, whatever was to be done with them."""
    try:
        yield
    except UnknownUser:
        raise problems.not_found("user") from None


def _shown_user(user: User) -> dict[str, Any]:
    shown = asdict(user)
    del shown["id"]
    return {"id": shown.pop("external_id")} | shown


ENDPOINTS = [
    Endpoint("GET /v1/users", "manage", list_users, "List users", parameters=paging.PARAMETERS),
    Endpoint(
        "PUT /v1/users/{id}",
        "manage",
        put_user,
        "Make a user known, or change one",
        body=UserBody,
        answers={201: "A new user", 409: "Email or username taken"},
    ),
    Endpoint("GET /v1/users/{id}", "manage", get_user, "Show a user", answers={404: "No such user"}),
]
