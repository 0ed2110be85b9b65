"""Who is calling: a key that was checked."""

import hmac
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import key_format
from tocsin.foundation.database import key_transaction
from tocsin.store import api_keys

CACHE_SECONDS = 5.0  # how long a revoked key may still work in an execution environment that knew it

_cache: dict[bytes, tuple[float, "Principal"]] = {}


@dataclass(frozen=True, slots=True)
class Principal:
    key_id: UUID
    tenant_id: UUID
    producer: str
    mode: str
    scopes: frozenset[str]
    rate_limit: int | None  # the key's own, or its tenant's cap where that is less
    calls_cap: int | None = None  # the tenant's
    is_suspended: bool = False  # the key is good, but its tenant may do nothing just now
    user_id: UUID | None = None  # whose key it is


def authenticate(conn: Connection[Any], presented: str) -> Principal | None:
    """The principal of this key, or None for every reason alike. The caller has checked its shape (keys.is_well_formed)."""
    key_hash = key_format.digest(presented)
    cached = _cache.get(key_hash)
    if cached and time.monotonic() - cached[0] < CACHE_SECONDS:
        return cached[1]
    with key_transaction(conn, key_hash):
        found = api_keys.find_by_hash(conn, key_hash)
    key = found.fetchone()
    is_good = key is not None and hmac.compare_digest(key.key_hash, key_hash) and key.is_usable
    if key is None or not is_good or key.tenant_status == "deleting":
        _cache.pop(key_hash, None)
        return None
    principal = Principal(
        key.id,
        key.tenant_id,
        key.producer,
        key.mode,
        frozenset(key.scopes),
        key.rate_limit,
        key.calls_cap,
        is_suspended=key.tenant_status == "suspended",
        user_id=key.user_id,
    )
    if len(_cache) > 1000:
        _cache.clear()
    _cache[key_hash] = (time.monotonic(), principal)
    return principal


def forget() -> None:
    """Empty the cache (tests, and the door that revokes)."""
    _cache.clear()
