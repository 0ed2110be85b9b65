"""Tenants side by side on a whole local stack: what they send, and when it arrives."""

import json
import sqlite3
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import boto3
import psycopg
from psycopg import Connection

from bench.ground import ROOT
from devstack.intrinsics import REGION
from devstack.launch import RunningStack, started_stack
from devstack.state import State
from tocsin import bootstrap
from tocsin.ids import uuid7

QUIET = 5
ANSWER_SECONDS = 60
CALM_SECONDS = 40  # in which the queues are empty again after a noise


@dataclass(frozen=True, slots=True)
class Tenant:
    id: UUID
    key: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One tenant that makes noise and some that do not. `admin` sees them all."""

    stack: RunningStack
    admin: Connection[Any]
    noisy: Tenant
    quiet: list[Tenant]

    def post(self, tenant: Tenant, path: str, body: Any, media_type: str = "application/json") -> None:
        headers = {"Authorization": f"Bearer {tenant.key}", "Content-Type": media_type, "Idempotency-Key": uuid4().hex}
        _ask("POST", self.stack.dev["base_url"] + path, body, headers)

    def happen(self, tenant: Tenant, thread: str, **data: Any) -> None:
        """An event on a thread of its own."""
        data |= {"title": "News", "thread": {"kind": "sample", "id": thread}}
        event = {"specversion": "1.0", "id": thread, "source": "bench", "type": "news.broken", "data": data}
        self.post(tenant, "/v1/events", event, "application/cloudevents+json")

    def connect(self) -> Connection[Any]:
        """Another connection like `admin`, for another thread."""
        return psycopg.connect(self.stack.dev["database_url"], autocommit=True)

    def fail(self, **fault: Any) -> None:
        """The post office fails like this from now on."""
        _ask("PUT", self.stack.dev["post_office_url"] + "/_faults", fault)

    def undone(self) -> int:
        """How much work of the noisy tenant waits, or is being done."""
        return self.count("SELECT count(*) FROM outbox WHERE tenant_id = %s", [self.noisy.id])

    def count(self, query: str, values: list[Any]) -> int:
        row = self.admin.execute(query, values).fetchone()
        assert row is not None
        return int(row[0])

    def calm_down(self) -> None:
        """Take the noise away, and wait until no worker is started for it any more."""
        _ask("DELETE", self.stack.dev["post_office_url"] + "/_faults")
        self.admin.execute("DELETE FROM outbox WHERE tenant_id = %s", [self.noisy.id])
        self.admin.execute("DELETE FROM lanes")
        deadline = time.monotonic() + CALM_SECONDS
        while (left := self._hints()) and time.monotonic() < deadline:
            time.sleep(0.5)
        if left:
            print(f"    {left} hints are still on the queues after {CALM_SECONDS} s", flush=True)

    def _hints(self) -> int:
        endpoint = self.stack.dev["aws_endpoint_url"]
        session = boto3.Session("test", "test", region_name=REGION)
        sqs: Any = session.client("sqs", endpoint_url=endpoint)
        found = [
            sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
            for url in sqs.list_queues().get("QueueUrls", [])
        ]
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(each[name]) for each in found for name in counts)


@dataclass(slots=True)
class Letters:
    """What the post office accepted, and when: read on from where the last look ended."""

    file: Path
    accepted_at: dict[str, float] = field(default_factory=dict)
    _last: int = 0

    def look(self) -> dict[str, float]:
        with closing(sqlite3.connect(self.file, timeout=30)) as conn:
            query = "SELECT id, recipients, accepted_at FROM letters WHERE id > ? ORDER BY id"
            rows = conn.execute(query, [self._last]).fetchall()
        for number, recipients, accepted_at in rows:
            self._last = number
            self.accepted_at |= dict.fromkeys(json.loads(recipients), datetime.fromisoformat(accepted_at).timestamp())
        return self.accepted_at


def intent(audience: dict[str, Any], channels: list[str]) -> dict[str, Any]:
    words = {"title": "Your order has shipped", "message": "It will be with you on Tuesday."}
    return {"type": "order.shipped", "audience": audience, "channels": channels, "payload": words}


@contextmanager
def neighbourhood(*, crowd: int) -> Iterator[Neighbourhood]:
    """A stack with a crowd at the noisy tenant, who all watch `everything`; one reader at each other tenant."""
    local = ROOT / ".local"
    local.mkdir(exist_ok=True)
    arguments = ("--port", "0", "--parameter", "RateLimitPerMinute=1000000")
    with (
        tempfile.TemporaryDirectory(prefix="bench-stack-", dir=local, ignore_cleanup_errors=True) as folder,
        started_stack(Path(folder), *arguments) as stack,
        psycopg.connect(stack.dev["database_url"], autocommit=True) as admin,
    ):
        noisy, *quiet = [_tenant(admin, name) for name in ("noisy", *(f"quiet {n}" for n in range(QUIET)))]
        _gather(admin, noisy, crowd)
        _route(admin, noisy, '{"watching": ["in_app"]}')
        for one in quiet:
            _route(admin, one, '{"mention": ["in_app"]}')
            admin.execute(
                "INSERT INTO users (id, tenant_id, external_id) VALUES (tocsin_uuid7(), %s, 'reader')",
                [one.id],
            )
        admin.execute("VACUUM (ANALYZE) users, watches")
        yield Neighbourhood(stack, admin, noisy, quiet)


def letters_of(stack: RunningStack) -> Letters:
    return Letters(State(stack.folder).ledger)


def _tenant(admin: Connection[Any], name: str) -> Tenant:
    tenant_id = uuid7()
    bootstrap.make_tenant(admin, tenant_id, name)
    return Tenant(tenant_id, bootstrap.make_key(admin, tenant_id=tenant_id, name=name, producer=name, scopes=["send"]))


def _gather(admin: Connection[Any], tenant: Tenant, crowd: int) -> None:
    """People with phones, who watch."""
    admin.execute(
        """
        WITH person AS (
            INSERT INTO users (id, tenant_id, external_id, phone)
            SELECT tocsin_uuid7(), %s, 'person-' || n, '+1212' || lpad(n::text, 7, '0') FROM generate_series(1, %s::integer) AS n
            RETURNING id, tenant_id
        )
        INSERT INTO watches (tenant_id, user_id, scope, level) SELECT tenant_id, id, 'everything', 'all' FROM person
        """,
        [tenant.id, crowd],
    )


def _route(admin: Connection[Any], tenant: Tenant, rules: str) -> None:
    admin.execute("INSERT INTO event_routing (tenant_id, event_type, rules) VALUES (%s, 'news.*', %s)", [tenant.id, rules])


def _ask(method: str, url: str, body: Any = None, headers: dict[str, str] | None = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {}, method=method)
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:
        response.read()
