"""Whether a person with a token is still to be served: a token outlives whom it is for, and whose they are."""

import time
from enum import Enum
from typing import Any

from psycopg import Connection

from tocsin.access.authenticate import CACHE_SECONDS
from tocsin.access.user_tokens import Person
from tocsin.foundation.database import tenant_transaction
from tocsin.store import tenants


class Standing(Enum):
    WELCOME = "known, and of a tenant that is served"
    SUSPENDED = "of a tenant that is suspended"
    UNKNOWN = "erased, or of a tenant that is being deleted"


_cache: dict[Person, tuple[float, Standing]] = {}


def of(conn: Connection[Any], person: Person) -> Standing:
    cached = _cache.get(person)
    if cached and time.monotonic() - cached[0] < CACHE_SECONDS:
        return cached[1]
    with tenant_transaction(conn, person.tenant_id):
        status = tenants.status_for(conn, person.tenant_id, person.user_id)
    standing = {"active": Standing.WELCOME, "suspended": Standing.SUSPENDED}.get(status or "", Standing.UNKNOWN)
    if len(_cache) > 1000:
        _cache.clear()
    _cache[person] = (time.monotonic(), standing)
    return standing


def forget() -> None:
    """Empty the cache (tests, and the door that erases)."""
    _cache.clear()
