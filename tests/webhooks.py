"""Hooks, and receivers on loopback that verify what they are told with a package that is not ours, and answer as a test wants."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from devstack.post_office.letters import Reply, Silence
from devstack.post_office.wire import Server
from tests.providers import make_data_key
from tests.world import LEASE, TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation import settings
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker
from tocsin.webhooks import register, signing_secrets
from tocsin.webhooks.register import NewWebhook

EVENTS = [
    f"notification.{name}"
    for name in ("published", "delivered", "bounced", "complained", "dead_lettered", "skipped", "cancelled")
]
KEY_ID = UUID("00000000-0000-7000-8000-00000000000a")
GOOD = Reply(204, b"", "text/plain")


@dataclass
class Receiver:
    """An endpoint. It keeps what it heard and answers in order; then it takes everything."""

    url: str = ""
    heard: list[dict[str, Any]] = field(default_factory=list)
    answers: deque[Reply | Silence | Callable[[], Reply | Silence]] = field(default_factory=deque)
    always: Reply | Silence | Callable[[], Reply | Silence] = GOOD
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, body: bytes, headers: Any) -> Reply | Silence:
        with self._lock:
            self.heard.append(
                {"method": method, "path": path, "body": body, "headers": {k.lower(): v for k, v in headers.items()}}
            )
            answer = self.answers.popleft() if self.answers else self.always
        return answer() if callable(answer) else answer

    @property
    def ids(self) -> list[str]:
        return [one["headers"]["webhook-id"] for one in self.heard]

    def events(self, secret: str) -> list[Any]:
        """What it was told, each signature verified."""
        return [Verifier(secret).verify(one["body"], one["headers"]) for one in self.heard]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    server = Server(0, receiver.answer)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    server.start()
    try:
        yield receiver
    finally:
        if isinstance(receiver.always, Gate):
            receiver.always.open()
        server.stop()


class Gate:
    """An answer that is not given before the test says so; it counts who waits for it."""

    def __init__(self, then: Reply | Silence = GOOD) -> None:
        self.then, self.held, self.most = then, 0, 0
        self._lock, self._over = threading.Lock(), threading.Event()

    def __call__(self) -> Reply | Silence:
        with self._lock:
            self.held += 1
            self.most = max(self.most, self.held)
        self._over.wait(30)
        with self._lock:
            self.held -= 1
        return self.then

    def open(self) -> None:
        self._over.set()


def status(code: int, body: str = "", **headers: str) -> Reply:
    return Reply(code, body.encode(), "text/plain", {name.replace("_", "-"): value for name, value in headers.items()})


def allow_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the local stack does; and the key that seals secrets, with nothing remembered of another."""
    monkeypatch.setenv("ALLOW_PRIVATE_DESTINATIONS", "true")
    make_data_key(monkeypatch)
    settings.settings.cache_clear()
    signing_secrets.forget()


@dataclass(frozen=True)
class Added:
    id: UUID
    secret: str


def add_hook(world: World, url: str, *, tenant: UUID = TENANT, **fields: Any) -> Added:
    new = {"url": url, "events": EVENTS, "description": "", "modes": ["live"], "is_active": True, "retry_count": 10}
    row, secret = register.add(
        world.app, Actor(tenant, "key:test"), NewWebhook(**(new | {"timeout_seconds": 10} | fields)), created_by=KEY_ID
    )
    return Added(row.id, secret)


def tell(world: World, *, tenant: UUID = TENANT, title: str = "Shipped") -> None:
    """Something for hooks to hear: an email that is published; its webhooks are due."""
    world.accept(tenant=tenant, payload={"title": title, "message": "It is on its way."})
    carry_out(world)


def carry_out(world: World) -> None:
    """Plan and deliver what there is, and call no hook."""
    for queue in ("plan", "email"):
        dispatch(world.worker, [], replace(world.worker_policy(), queue=queue))


def webhook_worker(*, remaining: timedelta = timedelta(seconds=60)) -> Worker:
    return Worker(None, LEASE, None, lambda: remaining, queue="webhook", longest_call=timedelta(seconds=15))


def nudges_within(world: World, seconds: int) -> list[int]:
    """After how many seconds a worker of the webhook queue is nudged."""
    return sorted(one.delay_seconds for one in world.nudges() if one.queue == "webhook" and 0 < one.delay_seconds <= seconds)


def call_hooks(world: World, worker: Worker | None = None, conn: Any = None) -> int:
    """What a worker of the webhook queue does when it is nudged."""
    return dispatch(conn or world.worker, [], worker or webhook_worker())


def deliveries(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM webhook_deliveries ORDER BY id")


def delivery(world: World) -> dict[str, Any]:
    (row,) = deliveries(world)
    return row
