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
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import boto3
import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from bench.ground import ROOT
from devstack.intrinsics import REGION
from devstack.launch import RunningStack, started_stack
from devstack.state import State
from tocsin.foundation.ids import uuid7
from tocsin.upkeep import bootstrap

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
        self.post(tenant, "/v1/events", event(thread, **data), "application/cloudevents+json")

    def connect(self) -> Connection[Any]:
        """Another connection like `admin`, for another thread."""
        return psycopg.connect(self.stack.dev["database_url"], autocommit=True)

    def fail(self, **fault: Any) -> None:
        """The post office fails like this from now on."""
        _ask("PUT", self.stack.dev["post_office_url"] + "/_faults", fault)

    def undone(self) -> int:
        """How much of the noisy tenant's waits, or is being done."""
        row = self.admin.execute(
            """
            SELECT (SELECT count(*) FROM outbox WHERE tenant_id = %(tenant)s)
                   + (SELECT count(*) FROM domain_events WHERE tenant_id = %(tenant)s AND outcome = 'waiting')
            """,
            {"tenant": self.noisy.id},
        ).fetchone()
        assert row is not None
        return int(row[0])

    def calm_down(self) -> None:
        """Take the noise away, until no worker makes any more of it or is started for it."""
        _ask("DELETE", self.stack.dev["post_office_url"] + "/_faults")
        deadline = time.monotonic() + CALM_SECONDS
        while left := self.undone() + self._nudges():
            self.admin.execute("DELETE FROM domain_events WHERE tenant_id = %s AND outcome = 'waiting'", [self.noisy.id])
            self.admin.execute("DELETE FROM outbox WHERE tenant_id = %s", [self.noisy.id])
            if time.monotonic() > deadline:
                print(f"    not calm after {CALM_SECONDS} s: {left} pieces of work and nudges", flush=True)
                break
            time.sleep(0.5)
        self.admin.execute("DELETE FROM lanes")

    def _nudges(self) -> int:
        sqs = _sqs(self.stack.dev["aws_endpoint_url"])
        found = [
            sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
            for url in sqs.list_queues().get("QueueUrls", [])
        ]
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(each[name]) for each in found for name in counts)


@dataclass(slots=True)
class Letters:
    """Whom the post office accepted something for, and when first: read on from where the last look ended."""

    file: Path
    accepted_at: dict[str, float] = field(default_factory=dict)
    _last: int = 0

    def look(self) -> dict[str, float]:
        with closing(sqlite3.connect(self.file, timeout=30)) as conn:
            query = "SELECT id, recipients, accepted_at FROM letters WHERE id > ? ORDER BY id"
            rows = conn.execute(query, [self._last]).fetchall()
        for number, recipients, accepted_at in rows:
            self._last = number
            for one in json.loads(recipients):
                self.accepted_at.setdefault(one, datetime.fromisoformat(accepted_at).timestamp())
        return self.accepted_at


def intent(audience: dict[str, Any], channels: list[str]) -> dict[str, Any]:
    words = {"title": "Your order has shipped", "message": "It will be with you on Tuesday."}
    return {"type": "order.shipped", "audience": audience, "channels": channels, "payload": words}


def event(thread: str, **data: Any) -> dict[str, Any]:
    """An event on a thread of its own."""
    data |= {"title": "News", "thread": {"kind": "sample", "id": thread}}
    return {"specversion": "1.0", "id": thread, "source": "bench", "type": "news.broken", "data": data}


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
        for one in quiet:
            admin.execute("INSERT INTO users (id, tenant_id, external_id) VALUES (tocsin_uuid7(), %s, 'reader')", [one.id])
        admin.execute("VACUUM (ANALYZE) users, watches")
        yield Neighbourhood(stack, admin, noisy, quiet)


def letters_of(stack: RunningStack) -> Letters:
    return Letters(State(stack.folder).ledger)


@cache
def _sqs(endpoint: str) -> Any:
    return boto3.Session("test", "test", region_name=REGION).client("sqs", endpoint_url=endpoint)


def _tenant(admin: Connection[Any], name: str) -> Tenant:
    tenant_id = uuid7()
    bootstrap.make_tenant(admin, tenant_id, name)
    rules = Jsonb({"watching": ["in_app"], "mention": ["in_app"]})
    admin.execute("INSERT INTO event_routing (tenant_id, event_type, rules) VALUES (%s, 'news.*', %s)", [tenant_id, rules])
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


def _ask(method: str, url: str, body: Any = None, headers: dict[str, str] | None = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {}, method=method)
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:
        response.read()
