"""Keep a tenant's brand: all of it as it is said, with its audit row."""

from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import brands
from tocsin.store.brands import BrandRow


@dataclass(frozen=True, slots=True)
class Appearance:
    """What is not said is cleared."""

    name: str | None = None
    logo_url: str | None = None
    color: str | None = None
    postal_address: str | None = None
    reply_to: str | None = None
    from_name: str | None = None


def keep(conn: Connection[Any], actor: Actor, appearance: Appearance) -> BrandRow:
    new = asdict(appearance)
    with tenant_transaction(conn, actor.tenant_id):
        before = brands.find_row(conn, actor.tenant_id)
        row = brands.upsert(conn, actor.tenant_id, **new)
        old = {name: getattr(before, name) for name in new} if before else None
        audit.record(conn, actor, "put", "brand", str(actor.tenant_id), {"old": old, "new": new})
    return row
