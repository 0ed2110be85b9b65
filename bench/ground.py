"""The ground everyone runs on: one durable Postgres server, our schema in one database and the peers' in another."""

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from uuid import UUID

import psycopg
from psycopg import Connection, sql

from devstack.postgres import Postgres
from tocsin.foundation import aws, connecting, database, settings, strict_json
from tocsin.foundation.ids import uuid7
from tocsin.intake import accept_intents
from tocsin.intake.accept_intents import Asked
from tocsin.intake.admission import Sender
from tocsin.intake.intents import Intent
from tocsin.upkeep import bootstrap
from tocsin.upkeep.migrate import migrate

ROOT = Path(__file__).parent.parent
TENANT = UUID("00000000-0000-7000-8000-000000000001")
NO_LIMIT = 1_000_000_000
PEOPLE = 50_000  # the work is spread over them: one person gets no more than 100 emails an hour
INBOX_ROWS = 5_000_000
SENDER = Sender(TENANT, "shop", "live", rate_subject="bench", rate_limit=NO_LIMIT)
INTENT = {
    "type": "order.shipped",
    "audience": {"kind": "users", "user_ids": ["person-1"]},
    "channels": ["email"],
    "payload": {"title": "Your order has shipped", "message": "It is on its way and will be with you on Tuesday."},
}


_turns = itertools.cycle(range(1, PEOPLE + 1))


class SilentCloud:
    """SQS and the secrets without the call: what is measured is our own work and the database's."""

    meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))  # nothing is refused here, so nobody is told

    def send_message(self, **_: Any) -> dict[str, Any]:
        return {}

    def send_message_batch(self, **_: Any) -> dict[str, Any]:
        return {}

    def get_secret_value(self, **_: Any) -> dict[str, Any]:
        return {"SecretString": "a secret that only this bench knows"}


@dataclass(frozen=True, slots=True)
class Ground:
    server: Postgres
    api_key: str
    database: str = "tocsin"
    inbox_rows: int = INBOX_ROWS

    def url(self, user: str = "postgres", *, database: str | None = None) -> str:
        return self.server.dsn(database or self.database, user)

    def connect(self, user: str, *, url: str | None = None) -> Connection[Any]:
        """A connection made as the functions make theirs."""
        return connecting.connect(settings.Settings(tocsin_database_url=url or self.url(user)))


@contextmanager
def prepared(*, inbox_rows: int = INBOX_ROWS) -> Iterator[Ground]:
    """A server that lasts as long as the run; fsync and everything else as Postgres ships it."""
    local = ROOT / ".local"
    local.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=local, ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder) / "postgres", durable=True)
        server.start()
        try:
            yield _furnished(server, inbox_rows)
        finally:
            database.disconnect()
            server.remove()


def _furnished(server: Postgres, inbox_rows: int) -> Ground:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE peers")
    ground = Ground(server, furnish(server, "tocsin"), inbox_rows=inbox_rows)
    point_functions_at(ground.url("tocsin_app"))
    with mock.patch("boto3.client", return_value=SilentCloud()):
        for service in ("sqs", "secretsmanager"):
            aws.client(service)  # stays in the cache of aws.client
    return ground


def furnish(server: Postgres, name: str, people: int = PEOPLE) -> str:
    """A database with our schema, one tenant and its people; returns an API key for it."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(server.dsn(name), ROOT / "migrations")
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        bootstrap.make_tenant(conn, TENANT)
        conn.execute(
            """
            INSERT INTO users (id, tenant_id, external_id, email)
            SELECT tocsin_uuid7(), %s, 'person-' || n, 'person-' || n || '@example.com' FROM generate_series(1, %s) AS n
            """,
            [TENANT, people],
        )
        conn.execute("ANALYZE users")
        return bootstrap.make_key(conn, tenant_id=TENANT, name="bench", producer="shop", scopes=["send"])


def point_functions_at(url: str) -> None:
    """Let the functions' own connection go to this database from now on."""
    os.environ |= {
        "TOCSIN_DATABASE_URL": url,
        **{f"{queue.upper()}_QUEUE_URL": f"http://localhost/{queue}" for queue in settings.QUEUES},
        "RATE_LIMIT_PER_MINUTE": str(NO_LIMIT),
        "PUBLIC_URL": "https://notify.example.com",
        "UNSUBSCRIBE_SECRET_ARN": "unsubscribe",
        "USER_TOKEN_SECRET_ARN": "user-tokens",
        "POWERTOOLS_SERVICE_NAME": "bench",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    settings.settings.cache_clear()
    database.disconnect()


def asked() -> Asked:
    """An intent to the next person in turn."""
    intent = INTENT | {"audience": {"kind": "users", "user_ids": [f"person-{next(_turns)}"]}}
    return Asked(str(uuid7()), Intent.model_validate(intent), strict_json.fingerprint(intent))


def accept_all(conn: Connection[Any], intents: list[Asked]) -> list[accept_intents.IntakeEnd]:
    ends, _ = accept_intents.accept(conn, intents, sender=SENDER, request_id="bench", trace_id="", window=timedelta(days=7))
    return ends
