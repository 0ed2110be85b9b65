"""The peers from PyPI with their best settings: a no-op job, one process, until nothing is left."""

import asyncio
import json
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

import asyncpg  # type: ignore[import-untyped]
import procrastinate
import uvloop
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from bench.ground import INTENT, Ground

PAYLOAD = json.dumps(INTENT["payload"])
Value = TypeVar("Value")


class _Peer:
    """An event loop of its own (uvloop, the quickest there is) that stays open between rounds."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._open = AsyncExitStack()

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        return self._runner.run(work)

    async def _prepare(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.run(self._prepare())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run(self._open.aclose())
        self._runner.close()


class _TimedQueries(Queries):
    """Notes when the first job is asked for and when the last one is recorded, so that starting and stopping cost nothing."""

    started: float | None = None
    ended: float = 0.0

    async def dequeue(self, *args: Any, **kwargs: Any) -> Any:
        if self.started is None:
            self.started = time.perf_counter()
        return await super().dequeue(*args, **kwargs)

    async def log_jobs(self, *args: Any, **kwargs: Any) -> None:
        await super().log_jobs(*args, **kwargs)
        self.ended = time.perf_counter()


class Pgqueuer(_Peer):
    """asyncpg, a pool so that dequeue and completion overlap, both in batches; no limits, no log aggregation."""

    CONNECTIONS = 4
    SETTINGS = f"pgqueuer (asyncpg, uvloop, pool of {CONNECTIONS})"

    async def _prepare(self) -> None:
        size = self.CONNECTIONS
        self.pool = await asyncpg.create_pool(self.ground.url(database="peers"), min_size=size, max_size=size)
        self._open.push_async_callback(self.pool.close)
        self.queries = Queries(AsyncpgPoolDriver(self.pool))
        if not await self.queries.schema_is_installed():
            await self.queries.install()
            await self.queries.optimize_autovacuum()

    def enqueue_rate(self, count: int) -> float:
        """How many single enqueues a second, one after the other on one connection of their own."""
        return self.run(self._enqueue_rate(count))

    async def _enqueue_rate(self, count: int) -> float:
        async with self.pool.acquire() as conn:
            queries = Queries(AsyncpgDriver(conn))
            started = time.perf_counter()
            for _ in range(count):
                await queries.enqueue("noop", PAYLOAD.encode())
            return count / (time.perf_counter() - started)

    def fill(self, rows: int) -> None:
        self.run(self.queries.enqueue(["noop"] * rows, [PAYLOAD.encode()] * rows, [0] * rows))

    def clear(self) -> None:
        self.run(self.queries.clear_queue())

    def drain(self, batch: int) -> float:
        """Seconds from the first dequeue to the last completion."""
        return self.run(self._drain(batch))

    async def _drain(self, batch: int) -> float:
        queries = _TimedQueries(AsyncpgPoolDriver(self.pool))
        manager = QueueManager(queries)

        @manager.entrypoint("noop")
        async def noop(job: object) -> None:
            pass

        await manager.run(
            batch_size=batch,
            mode=QueueExecutionMode.drain,
            dequeue_timeout=timedelta(milliseconds=10),
            log_aggregation_interval=timedelta(0),
        )
        assert await queries.queue_size() == [], "pgqueuer left work behind"
        assert queries.started is not None
        return queries.ended - queries.started


class Procrastinate(_Peer):
    """psycopg, several jobs at a time (it has no batches), finished jobs deleted, no notifications."""

    CONCURRENCY = 10
    SETTINGS = f"procrastinate (concurrency {CONCURRENCY}, delete)"

    async def _prepare(self) -> None:
        connector = procrastinate.PsycopgConnector(
            conninfo=self.ground.url(database="peers"), min_size=self.CONCURRENCY, max_size=self.CONCURRENCY
        )
        self.app = procrastinate.App(connector=connector)
        self.app.task(name="noop")(_noop)
        await self._open.enter_async_context(self.app.open_async())
        found = await connector.execute_query_one_async("SELECT to_regclass('procrastinate_jobs') AS jobs")
        if found["jobs"] is None:
            await self.app.schema_manager.apply_schema_async()

    def fill(self, rows: int) -> None:
        self.run(self._fill(rows))

    async def _fill(self, rows: int) -> None:
        await self.app.configure_task("noop").batch_defer_async(*[json.loads(PAYLOAD)] * rows)

    def drain(self) -> float:
        return self.run(self._drain())

    async def _drain(self) -> float:
        started = time.perf_counter()
        await self.app.run_worker_async(
            concurrency=self.CONCURRENCY,
            wait=False,
            listen_notify=False,
            delete_jobs="always",
            install_signal_handlers=False,
        )
        return time.perf_counter() - started


async def _noop(**_: Any) -> None:
    pass
