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
    rate_limit: int | None


def authenticate(conn: Connection[Any], presented: str) -> Principal | None:
    """The principal of this key, or None for every reason alike. The caller has checked its shape (keys.is_well_formed)."""
    key_hash = key_format.digest(presented)
    cached = _cache.get(key_hash)
    if cached and time.monotonic() - cached[0] < CACHE_SECONDS:
        return cached[1]
    with key_transaction(conn, key_hash):
        found = api_keys.find_by_hash(conn, key_hash)
    key = found.fetchone()
    if key is None or not hmac.compare_digest(key.key_hash, key_hash) or not key.is_usable:
        _cache.pop(key_hash, None)
        return None
    principal = Principal(key.id, key.tenant_id, key.producer, key.mode, frozenset(key.scopes), key.rate_limit)
    if len(_cache) > 1000:
        _cache.clear()
    _cache[key_hash] = (time.monotonic(), principal)
    return principal


def forget() -> None:
    """Empty the cache (tests, and the door that revokes)."""
    _cache.clear()
