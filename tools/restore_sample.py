"""A small installation with work at every stage, for the restore drill to save."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from devstack.postgres import Postgres
from tocsin.foundation import strict_json
from tocsin.foundation.ids import uuid7
from tocsin.intake import accept_intents
from tocsin.intake.accept_intents import Asked
from tocsin.intake.admission import Sender
from tocsin.intake.intents import Intent
from tocsin.upkeep import bootstrap
from tocsin.upkeep.migrate import migrate

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
TENANT = UUID("00000000-0000-7000-8000-000000000001")
PEOPLE = 5
SENT, UNSENT = 4, 10  # intents that were sent, and that were accepted and not even planned
TOLD, WAITING = 2, 3  # events, likewise


def make(server: Postgres, go_on: Callable[[Connection[Any]], object]) -> str:
    """Its address. `go_on` carries out what is due."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE tocsin")
    url = server.dsn("tocsin")
    migrate(url, MIGRATIONS)
    with psycopg.connect(url, autocommit=True) as conn:
        bootstrap.make_tenant(conn, TENANT)
        people = [uuid7() for _ in range(PEOPLE)]
        for n, user_id in enumerate(people):
            conn.execute(
                "INSERT INTO users (id, tenant_id, external_id, email) VALUES (%s, %s, %s, %s)",
                [user_id, TENANT, f"person-{n}", f"person-{n}@example.com"],
            )
        conn.execute(
            "INSERT INTO event_routing (tenant_id, event_type, rules) VALUES (%s, 'order.*', %s)",
            [TENANT, Jsonb({"mention": ["in_app", "email"]})],
        )
        for n in range(TOLD):
            _add_event(conn, n)
        _accept(server, SENT)
        with psycopg.connect(server.dsn("tocsin", "tocsin_worker"), autocommit=True) as worker:
            go_on(worker)
        for n in range(TOLD, TOLD + WAITING):
            _add_event(conn, n)
        _accept(server, UNSENT)
        # as on a server that has run for years: the fresh one is far from numbers like these
        conn.execute("UPDATE domain_events SET txid = '99999999999'")
        conn.execute("UPDATE domain_events_processed SET last_txid = '99999999999'")
    return url


def _add_event(conn: Connection[Any], n: int) -> None:
    data = {"mentions": ["person-1"], "title": f"Order {n}", "message": "It was changed."}
    conn.execute(
        """INSERT INTO domain_events (tenant_id, event_id, type, source, data, notification_id, occurred_at, recorded_at)
           VALUES (%s, %s, 'order.changed', '/shop', %s, %s, tocsin_now(), tocsin_now())""",
        [TENANT, f"event-{n}", Jsonb(data), uuid7()],
    )


def _accept(server: Postgres, count: int) -> None:
    sender = Sender(TENANT, "shop", "live", rate_subject="drill", rate_limit=1_000_000)
    bodies = [
        {
            "type": "order.shipped",
            "audience": {"kind": "users", "user_ids": [f"person-{n % PEOPLE}"]},
            "channels": ["email"],
            "payload": {"title": "Shipped", "message": "It is on its way."},
        }
        for n in range(count)
    ]
    asked = [Asked(str(uuid7()), Intent.model_validate(body), strict_json.fingerprint(body)) for body in bodies]
    with psycopg.connect(server.dsn("tocsin", "tocsin_app"), autocommit=True) as conn:
        accept_intents.accept(conn, asked, sender=sender, request_id="drill", trace_id="", window=timedelta(days=7))
