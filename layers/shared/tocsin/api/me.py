"""Me: what a key is told of itself, whatever it may do. A console asks it first, and so does whoever was handed a key."""

from typing import Any

from tocsin.foundation.database import is_of_installation, tenant_transaction
from tocsin.http import person_header, problems
from tocsin.http.door import ANY_KEY, Call, Endpoint, Response
from tocsin.store import api_keys, clock, tenants
from tocsin.store.api_keys import ApiKey


def get_me(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        key = api_keys.find(call.conn, call.tenant_id, call.principal.key_id)
        name = tenants.name_of(call.conn, call.tenant_id)
        now = clock.now(call.conn)
    if key is None:
        raise problems.unauthorized()  # forgotten since it was checked
    tenant = {"id": call.tenant_id, "name": name, "is_installation": is_of_installation(call.tenant_id)}
    return Response(200, {"key": _shown(key), "tenant": tenant, "person": call.person_name, "at": now})


def _shown(key: ApiKey) -> dict[str, Any]:
    shown = {name: getattr(key, name) for name in ("id", "name", "producer", "mode", "expires_at", "created_at")}
    return shown | {"scopes": sorted(key.scopes), "user_id": key.owner}


ENDPOINTS = [
    Endpoint(
        "GET /v1/me",
        ANY_KEY,
        get_me,
        "Which key this is: its scopes, mode and tenant, and the time here",
        parameters=[person_header.PARAMETER],
    ),
]
