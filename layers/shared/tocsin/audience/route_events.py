"""Route events: say whom an event type tells and on which channels, or that it tells nobody; each with its audit row."""

from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import event_routing
from tocsin.store.event_routing import Routing


@dataclass(frozen=True, slots=True)
class Telling:
    """Which reasons are told, and on which channels. A reason that is not named tells nobody."""

    rules: dict[str, list[str]]
    overrides: list[str]
    subscribe_actor: bool


def route(conn: Connection[Any], actor: Actor, event_type: str, telling: Telling) -> Routing:
    """Of this type, or of every type that begins so where it ends with a *."""
    with tenant_transaction(conn, actor.tenant_id):
        before = event_routing.find_all(conn, actor.tenant_id, event_type)
        routing = event_routing.upsert(conn, actor.tenant_id, event_type, **asdict(telling))
        old = {"old": _audited(before[0])} if before else {}
        audit.record(conn, actor, "put", "event_routing", event_type, old | {"new": _audited(routing)})
    return routing


def stop(conn: Connection[Any], actor: Actor, event_type: str) -> bool:
    """False: the type was not routed."""
    with tenant_transaction(conn, actor.tenant_id):
        before = event_routing.find_all(conn, actor.tenant_id, event_type)
        if not before or not event_routing.delete(conn, actor.tenant_id, event_type):
            return False
        audit.record(conn, actor, "delete", "event_routing", event_type, {"old": _audited(before[0])})
    return True


def _audited(routing: Routing) -> dict[str, Any]:
    return {"rules": routing.rules, "overrides": routing.overrides, "subscribe_actor": routing.subscribe_actor}
