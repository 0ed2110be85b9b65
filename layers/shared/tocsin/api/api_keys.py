"""API keys: made and shown once, rotated with an overlap, revoked."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StrictInt

from tocsin.access import audit, authenticate, key_format
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Moment, Name
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import api_keys
from tocsin.store.api_keys import ApiKey


class KeyBody(Closed):
    name: Name
    producer: Name
    scopes: Annotated[list[Literal["send", "read", "inbox", "data", "manage", "operate", "admin"]], Field(min_length=1)]
    expires_at: Moment | None = None
    mode: Literal["live", "test"] = "live"
    rate_limit: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None


class RotateBody(Closed):
    """How long the old key still works, so that its callers can change over: a day, up to 30, or not at all."""

    overlap_seconds: Annotated[StrictInt, Field(ge=0, le=2_592_000)] = 86_400


def post_key(call: Call) -> Response:
    body: KeyBody = call.request.parsed(KeyBody)
    with tenant_transaction(call.conn, call.tenant_id):
        key, plain = _make(call, body)
    return Response(201, _shown_key(key) | {"key": plain})


def list_keys(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    after = paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = api_keys.list_page(call.conn, call.tenant_id, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown_key, place=lambda key: (key.created_at, key.id))


def rotate_key(call: Call) -> Response:
    """A new secret for the same rights. The old key ends after the overlap; a key is rotated once."""
    body: RotateBody = call.request.parsed(RotateBody) if call.request.body else RotateBody()
    old = _key(call)
    same_rights = KeyBody(
        name=old.name,
        producer=old.producer,
        scopes=old.scopes,  # type: ignore[arg-type]
        mode=old.mode,  # type: ignore[arg-type]
        rate_limit=old.rate_limit,
        expires_at=old.expires_at.isoformat() if old.expires_at else None,  # type: ignore[arg-type]
    )
    with tenant_transaction(call.conn, call.tenant_id):
        new, plain = _make(call, same_rights)
        ends_at = api_keys.replace(call.conn, call.tenant_id, old.id, new.id, overlap=timedelta(seconds=body.overlap_seconds))
        if ends_at is None:
            raise _not_rotatable(api_keys.find(call.conn, call.tenant_id, old.id) or old)
        before = {"expires_at": old.expires_at.isoformat() if old.expires_at else None}
        after = {"expires_at": ends_at.isoformat(), "replaced_by": str(new.id)}
        audit.record(call.conn, call.actor, "rotate", "api_key", str(old.id), {"old": before, "new": after})
    authenticate.forget()
    return Response(201, _shown_key(new) | {"key": plain, "replaces": {"id": old.id, "expires_at": ends_at}})


def _not_rotatable(key: ApiKey) -> Problem:
    if not key.is_active:
        return Problem(409, "revoked", "The key is revoked", "Make a new key instead.")
    if key.replaced_by:
        return Problem(409, "already-rotated", "The key was rotated before", f"Rotate its successor, {key.replaced_by}, instead.")
    return Problem(409, "expired", "The key has expired", "Make a new key instead.")


def revoke_key(call: Call) -> Response:
    key = _key(call)
    with tenant_transaction(call.conn, call.tenant_id):
        api_keys.revoke(call.conn, call.tenant_id, key.id)
        audit.record(
            call.conn,
            call.actor,
            "revoke",
            "api_key",
            str(key.id),
            {"old": {"is_active": key.is_active}, "new": {"is_active": False}},
        )
    authenticate.forget()
    return Response(200, _shown_key(key) | {"is_active": False})


def _make(call: Call, body: KeyBody) -> tuple[ApiKey, str]:
    """The key as it is kept, and as it is shown this once. Its audit row is written with it."""
    key_id = uuid7()
    minted = key_format.mint(key_id, body.mode)
    api_keys.insert(
        call.conn,
        key_id=key_id,
        tenant_id=call.tenant_id,
        producer=body.producer,
        name=body.name,
        mode=body.mode,
        key_prefix=minted.prefix,
        key_hash=minted.hash,
        scopes=sorted(set(body.scopes)),
        rate_limit=body.rate_limit,
        expires_at=body.expires_at,
    )
    stored = api_keys.find(call.conn, call.tenant_id, key_id)
    audit.record(call.conn, call.actor, "create", "api_key", str(key_id), {"new": body.model_dump(mode="json")})
    assert stored is not None  # noqa: S101 - inserted in the same transaction
    return stored, minted.plain


def _key(call: Call) -> ApiKey:
    key_id: UUID | None = as_uuid(call.request.path_parameters.get("id", ""))
    if key_id is not None:
        with tenant_transaction(call.conn, call.tenant_id):
            key = api_keys.find(call.conn, call.tenant_id, key_id)
        if key is not None:
            return key
    raise problems.not_found("API key")


def _shown_key(key: ApiKey) -> dict[str, Any]:
    shown = asdict(key)
    del shown["tenant_id"]
    return shown


ENDPOINTS = [
    Endpoint("GET /v1/api-keys", "admin", list_keys, "List API keys", parameters=paging.PARAMETERS),
    Endpoint(
        "POST /v1/api-keys",
        "admin",
        post_key,
        "Make an API key; it is shown once",
        success=201,
        body=KeyBody,
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
    ),
    Endpoint("POST /v1/api-keys/{id}/revoke", "admin", revoke_key, "Switch a key off for good", answers={404: "No such key"}),
]
