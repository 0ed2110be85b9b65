"""Me: what a key is told of itself, whatever it may do. A console asks it first, and so does whoever was handed a key."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.access.key_format import SCOPES
from tocsin.api.words import Mode
from tocsin.foundation.database import is_of_installation, tenant_transaction
from tocsin.http import person_header, problems
from tocsin.http.answers import one_of
from tocsin.http.door import ANY_KEY, Call, Endpoint, Response
from tocsin.store import api_keys, clock, tenants
from tocsin.store.api_keys import ApiKey


class OwnKey(TypedDict):
    """The key that asks."""

    id: UUID
    name: str
    producer: str
    mode: Mode
    expires_at: datetime | None
    created_at: datetime
    scopes: list[Annotated[str, one_of(*SCOPES)]]
    user_id: str | None


class OwnTenant(TypedDict):
    """The tenant whose key it is."""

    id: UUID
    name: str | None
    is_installation: bool


class Me(TypedDict):
    """Which key this is, who acts with it by their own word, and the time here."""

    key: OwnKey
    tenant: OwnTenant
    person: str | None
    at: datetime


def get_me(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        key = api_keys.find(call.conn, call.tenant_id, call.principal.key_id)
        name = tenants.name_of(call.conn, call.tenant_id)
        now = clock.now(call.conn)
    if key is None:
        raise problems.unauthorized()  # forgotten since it was checked
    tenant: OwnTenant = {"id": call.tenant_id, "name": name, "is_installation": is_of_installation(call.tenant_id)}
    me: Me = {"key": _shown(key), "tenant": tenant, "person": call.person_name, "at": now}
    return Response(200, me)


def _shown(key: ApiKey) -> OwnKey:
    return {
        "id": key.id,
        "name": key.name,
        "producer": key.producer,
        "mode": key.mode,
        "expires_at": key.expires_at,
        "created_at": key.created_at,
        "scopes": sorted(key.scopes),
        "user_id": key.owner,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/me",
        ANY_KEY,
        get_me,
        "Which key this is: its scopes, mode and tenant, and the time here",
        parameters=[person_header.PARAMETER],
        answer=Me,
    ),
]
