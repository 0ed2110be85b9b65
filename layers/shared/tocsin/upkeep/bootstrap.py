"""Bootstrap: the first tenant and the first key, made once so that someone can make the others."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import key_format
from tocsin.foundation.ids import uuid7
from tocsin.store import api_keys, tenants


def make_tenant(conn: Connection[Any], tenant_id: UUID, name: str = "default") -> None:
    tenants.insert_unless_known(conn, tenant_id, name)


def make_key(conn: Connection[Any], *, tenant_id: UUID, name: str, producer: str, scopes: list[str], mode: str = "live") -> str:
    """A new key, in clear: show it once, keep it nowhere. Needs a connection that sees every tenant."""
    key_id = uuid7()
    minted = key_format.mint(key_id, mode)
    api_keys.insert(
        conn,
        key_id=key_id,
        tenant_id=tenant_id,
        producer=producer,
        name=name,
        mode=mode,
        key_prefix=minted.prefix,
        key_hash=minted.hash,
        scopes=scopes,
        rate_limit=None,
        expires_at=None,
    )
    return minted.plain
