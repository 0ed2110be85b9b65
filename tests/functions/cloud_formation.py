"""What the deployment's door meets: an empty database, the secrets that the template makes, and a CloudFormation that waits."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.postgres import Postgres
from tests.work_queue import WorkQueue
from tests.world import TENANT
from tocsin.foundation import aws
from tocsin.foundation.settings import settings

MIGRATIONS = Path(__file__).parent.parent.parent / "migrations"
ROLES = ("app", "worker", "retention")
CREATE = {"RequestType": "Create", "ResponseURL": None}


@dataclass
class CloudFormation:
    """The URL it waits at, and what was put there."""

    url: str
    answers: list[dict[str, Any]] = field(default_factory=list)


def request(url: str, kind: str = "Create") -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": url,
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Migration",
    }


@pytest.fixture
def installation(server: Postgres, work_queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty database and the secrets that the template makes; yields the database's name."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE installation")
    secrets = aws.client("secretsmanager")
    admin = secrets.create_secret(Name="master", SecretString=json.dumps({"username": "postgres", "password": "x"}))
    monkeypatch.setenv("DATABASE_ADMIN_SECRET_ARN", admin["ARN"])
    for role in ROLES:
        value = {"username": f"tocsin_{role}", "password": f"it's {role}'s own"}
        made = secrets.create_secret(Name=role, SecretString=json.dumps(value))
        monkeypatch.setenv(f"{role.upper()}_SECRET_ARN", made["ARN"])
    first_key = secrets.create_secret(Name="first-key", SecretString="to be made")
    environment = {
        "ADMIN_KEY_SECRET_ARN": first_key["ARN"],
        "DATABASE_HOST": "127.0.0.1",
        "DATABASE_PORT": str(server.port),
        "DATABASE_NAME": "installation",
        "DATABASE_SSLMODE": "disable",
        "DEFAULT_TENANT_ID": str(TENANT),
        "MIGRATIONS_FOLDER": str(MIGRATIONS),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    yield "installation"
    settings.cache_clear()
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("DROP DATABASE installation WITH (FORCE)")
        for role in ROLES:
            conn.execute(f"ALTER ROLE tocsin_{role} PASSWORD NULL")  # type: ignore[call-overload]


@pytest.fixture
def cloud_formation() -> Iterator[CloudFormation]:
    answers: list[dict[str, Any]] = []

    class Waiting(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quietly."""

    http = HTTPServer(("127.0.0.1", 0), Waiting)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield CloudFormation(f"http://127.0.0.1:{http.server_port}/answer", answers)
    http.shutdown()
    thread.join()
    http.server_close()
