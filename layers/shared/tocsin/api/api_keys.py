"""API keys: made and shown once, rotated with an overlap, revoked."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StrictInt
from typing_extensions import TypedDict

from tocsin.access import issue_key
from tocsin.access.issue_key import Issued, NotRotatable, Rights
from tocsin.access.key_format import SCOPES, Scope
from tocsin.api.words import Mode
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Moment, Name
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import api_keys, users
from tocsin.store.users import UnknownUser


class KeyBody(Closed):
    name: Name
    producer: Name
    scopes: Annotated[list[Scope], Field(min_length=1)]
    expires_at: Moment | None = None
    mode: Literal["live", "test"] = "live"
    rate_limit: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    user_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None


class RotateBody(Closed):
    """How long the old key still works, so that its callers can change over: a day, up to 30, or not at all."""

    overlap_seconds: Annotated[StrictInt, Field(ge=0, le=2_592_000)] = 86_400


class ShownApiKey(TypedDict):
    """An API key, without its secret."""

    id: UUID
    user_id: Annotated[str | None, Field(description="Whose key it is")]
    producer: str
    name: str
    mode: Mode
    key_prefix: str
    scopes: list[Annotated[str, one_of(*SCOPES)]]
    rate_limit: int | None
    is_active: bool
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    created_at: datetime
    replaced_by: UUID | None


class IssuedKey(ShownApiKey):
    """An API key with its secret, which is shown this once."""

    key: str


class ReplacedKey(TypedDict):
    """The key before, and when it ends."""

    id: UUID
    expires_at: datetime


class RotatedKey(IssuedKey):
    """A new key with its secret, which is shown this once, and the key that it takes the place of."""

    replaces: ReplacedKey


def post_key(call: Call) -> Response:
    body: KeyBody = call.request.parsed(KeyBody)
    rights = Rights(**body.model_dump(exclude={"user_id"}))
    try:
        issued = issue_key.issue(call.conn, call.actor, rights, owner=body.user_id)
    except UnknownUser:
        raise problems.invalid_field("/user_id", "is not known") from None
    return Response(201, _shown_issued(issued))


def list_keys(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    after = paging.cursor_of(call.request)
    query, is_active = call.request.query, filters.flag_of(call.request, "is_active")
    with tenant_transaction(call.conn, call.tenant_id):
        owner = users.find(call.conn, call.tenant_id, query["user_id"]) if "user_id" in query else None
        if "user_id" in query and owner is None:
            return paging.whole([])
        rows = api_keys.list_page(
            call.conn,
            call.tenant_id,
            limit=limit + 1,
            after=after,
            is_active=is_active,
            owner_id=owner.id if owner else None,
            producer=query.get("producer"),
        )
    return paging.page(rows, limit, shown=_shown_key, place=lambda key: (key.created_at, key.id))


def get_key(call: Call) -> Response:
    key_id = _key_id(call)
    with tenant_transaction(call.conn, call.tenant_id):
        key = api_keys.find(call.conn, call.tenant_id, key_id)
    if key is None:
        raise problems.not_found("API key")
    return Response(200, _shown_key(key))


def rotate_key(call: Call) -> Response:
    """A new secret for the same rights. The old key ends after the overlap; a key is rotated once."""
    body: RotateBody = call.request.parsed(RotateBody) if call.request.body else RotateBody()
    key_id, overlap = _key_id(call), timedelta(seconds=body.overlap_seconds)
    try:
        rotated = issue_key.rotate(call.conn, call.actor, key_id, overlap=overlap)
    except NotRotatable as error:
        raise _not_rotatable(error.key) from None
    if rotated is None:
        raise problems.not_found("API key")
    replaces: ReplacedKey = {"id": rotated.old_id, "expires_at": rotated.old_ends_at}
    shown: RotatedKey = {**_shown_issued(rotated.new), "replaces": replaces}
    return Response(201, shown)


def _not_rotatable(key: api_keys.ApiKey) -> Problem:
    if key.revoked_at:
        return Problem(409, "revoked", "The key is revoked", "Make a new key instead.")
    if key.replaced_by:
        return Problem(409, "already-rotated", "The key was rotated before", f"Rotate its successor, {key.replaced_by}, instead.")
    return Problem(409, "key-expired", "The key has expired", "Make a new key instead.")


def revoke_key(call: Call) -> Response:
    key = issue_key.revoke(call.conn, call.actor, _key_id(call))
    if key is None:
        raise problems.not_found("API key")
    return Response(200, _shown_key(key))


def _key_id(call: Call) -> UUID:
    key_id = as_uuid(call.request.path_parameters.get("id", ""))
    if key_id is None:
        raise problems.not_found("API key")
    return key_id


def _shown_issued(issued: Issued) -> IssuedKey:
    return {**_shown_key(issued.key), "key": issued.plain}


def _shown_key(key: api_keys.ApiKey) -> ShownApiKey:
    return {
        "id": key.id,
        "user_id": key.owner,
        "producer": key.producer,
        "name": key.name,
        "mode": key.mode,
        "key_prefix": key.key_prefix,
        "scopes": key.scopes,
        "rate_limit": key.rate_limit,
        "is_active": key.is_active,
        "expires_at": key.expires_at,
        "last_used_at": key.last_used_at,
        "revoked_at": key.revoked_at,
        "created_at": key.created_at,
        "replaced_by": key.replaced_by,
    }


_FILTERS: list[dict[str, Any]] = [
    {
        "name": "is_active",
        "in": "query",
        "schema": {"type": "boolean"},
        "description": "Whether it still opens doors: neither revoked nor run out",
    },
    {"name": "user_id", "in": "query", "schema": {"type": "string"}, "description": "Whose keys"},
    {"name": "producer", "in": "query", "schema": {"type": "string"}},
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/api-keys",
        "admin",
        list_keys,
        "List API keys",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownApiKey],
    ),
    Endpoint(
        "GET /v1/api-keys/{id}",
        "admin",
        get_key,
        "Show an API key, without its secret",
        answers={404: "No such key"},
        answer=ShownApiKey,
    ),
    Endpoint(
        "POST /v1/api-keys",
        "admin",
        post_key,
        "Make an API key; it is shown once",
        success=201,
        body=KeyBody,
        answer=IssuedKey,
    ),
    Endpoint(
        "POST /v1/api-keys/{id}/rotate",
        "admin",
        rotate_key,
        "Make a new key with the same rights; the old one ends after an overlap",
        success=201,
        body=RotateBody,
        body_is_optional=True,
        answers={404: "No such key", 409: "The key is revoked, expired, or was rotated before"},
        answer=RotatedKey,
    ),
    Endpoint(
        "POST /v1/api-keys/{id}/revoke",
        "admin",
        revoke_key,
        "Switch a key off for good",
        answers={404: "No such key"},
        answer=ShownApiKey,
    ),
]
