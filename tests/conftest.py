"""One Postgres server per test process, and databases cloned from a migrated one."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import sqlparse
from psycopg import Connection, sql

from devstack.postgres import Postgres
from tests import links
from tests.sessions import Sessions
from tests.trigger_runs import Triggers
from tests.without import Thing, make_useless
from tests.work_queue import ACCOUNT, WorkQueue, make_believe
from tests.world import TENANT, World
from tocsin.access import authenticate, standing
from tocsin.foundation import database, secrets, settings
from tocsin.upkeep import bootstrap
from tocsin.upkeep.migrate import migrate

pytest_plugins = ("tests.slowest", "tests.turns")

ROOT = Path(__file__).parent.parent
SPLIT = sqlparse.split
Fill = Callable[[World, pytest.MonkeyPatch], object]


@pytest.fixture(scope="session", autouse=True)
def migrations_are_read_once() -> Iterator[None]:
    """Whoever migrates reads every migration, and taking their statements apart takes a second: as long as all the rest."""
    split = cache(lambda text, encoding: tuple(SPLIT(text, encoding)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlparse, "split", lambda text, encoding=None: list(split(text, encoding)))
        yield


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    server = Postgres.cached(tmp_path_factory.mktemp("postgres"), ROOT / ".local" / "cache", durable=False)
    server.start()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def migrated(server: Postgres) -> str:
    """The name of a migrated database with one tenant."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE tocsin_migrated")
    migrate(server.dsn("tocsin_migrated"), ROOT / "migrations")
    with psycopg.connect(server.dsn("tocsin_migrated", "tocsin_worker"), autocommit=True) as conn:
        bootstrap.make_tenant(conn, TENANT)
    return "tocsin_migrated"


@pytest.fixture(scope="session")
def useless(request: pytest.FixtureRequest) -> str:
    """What carries nothing in this run, to see who notices (`python -m tools.seeds`); else there is nothing of the kind."""
    return str(getattr(request, "param", ""))


@pytest.fixture(scope="session")
def template(server: Postgres, migrated: str, useless: str) -> Iterator[str]:
    """The name of the database that is cloned for the tests."""
    if not useless:
        yield migrated
        return
    with _clone(server, migrated, "tocsin_template", useless) as name:
        yield name


@contextmanager
def _clone(server: Postgres, template: str, name: str, useless: str) -> Iterator[str]:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    try:
        if useless:
            with psycopg.connect(server.dsn(name), autocommit=True) as conn:
                make_useless(conn, Thing.parse(useless))
        yield name
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def make_database(server: Postgres, template: str) -> Iterator[Callable[[], str]]:
    made: list[str] = []

    def make() -> str:
        name = f"t_{uuid4().hex[:12]}"
        with psycopg.connect(server.dsn(), autocommit=True) as conn:
            conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
        made.append(name)
        return name

    yield make
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        for name in made:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def work_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkQueue]:
    """A make-believe AWS account with the work queues in it, so that nudges are really sent."""
    with _work_queue(monkeypatch) as queue:
        yield queue


@contextmanager
def _work_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkQueue]:
    for name, value in ACCOUNT.items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith("AWS_ENDPOINT_URL")]:
        monkeypatch.delenv(name)
    with make_believe() as queue:
        for name, url in queue.variables.items():
            monkeypatch.setenv(name, url)
        yield queue


@pytest.fixture(scope="session")
def shared_database(server: Postgres, migrated: str, useless: str) -> Iterator[str]:
    """One database for every test of this process: emptying it takes a hundredth of the time that cloning another would."""
    with _clone(server, migrated, "tocsin_shared", useless) as name:
        yield name


@pytest.fixture(scope="session")
def sessions(server: Postgres, shared_database: str) -> Iterator[Sessions]:
    sessions = Sessions(lambda role: server.dsn(shared_database, role))
    yield sessions
    sessions.close()


@pytest.fixture(scope="session")
def sweeper(server: Postgres, shared_database: str, sessions: Sessions) -> Iterator["Sweeper"]:
    sweeper = Sweeper(server.dsn(shared_database), sessions)
    yield sweeper
    sweeper.close()


@pytest.fixture
def world(
    server: Postgres,
    shared_database: str,
    sessions: Sessions,
    sweeper: "Sweeper",
    work_queue: WorkQueue,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    """An empty database and an empty work queue, and connections under each role."""
    sessions.complete()
    with _world(server, shared_database, work_queue, monkeypatch, sessions) as world:
        yield world
    sessions.take_back()
    sweeper.sweep()


@pytest.fixture
def breakable_world(
    server: Postgres, make_database: Callable[[], str], work_queue: WorkQueue, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """The same in a database of its own, for tests that change the schema itself."""
    with _world(server, make_database(), work_queue, monkeypatch) as world:
        yield world


@pytest.fixture(scope="session")
def filled_world(server: Postgres, template: str) -> Callable[[Fill], AbstractContextManager[World]]:
    """A world that is filled once, for many tests that leave it as it is. It has no work queue any more."""

    @contextmanager
    def made(fill: Fill) -> Iterator[World]:
        with _clone(server, template, f"t_{uuid4().hex[:12]}", "") as name:
            with pytest.MonkeyPatch.context() as patch, _work_queue(patch) as queue, _world(server, name, queue, patch) as world:
                fill(world, patch)
            world = World(lambda role: server.dsn(name, role))
            yield world
            world.close()

    return made


@contextmanager
def _world(
    server: Postgres,
    name: str,
    work_queue: WorkQueue,
    monkeypatch: pytest.MonkeyPatch,
    sessions: Sessions | None = None,
) -> Iterator[World]:
    monkeypatch.setenv("TOCSIN_DATABASE_URL", server.dsn(name, "tocsin_app"))
    monkeypatch.setenv("DEFAULT_TENANT_ID", str(TENANT))
    for variable, value in links.VARIABLES.items():
        monkeypatch.setenv(variable, value)
    settings.settings.cache_clear()
    authenticate.forget()
    standing.forget()
    secrets.forget()
    links.know_the_secrets()
    database.disconnect()
    world = World(lambda role: server.dsn(name, role), work_queue, sessions)
    try:
        yield world
    finally:
        world.close()
        database.disconnect()
        settings.settings.cache_clear()


class Sweeper:
    """Brings one database back to what the template is: no rows but the first tenant, the clock right, nobody connected but
    the sessions that are kept."""

    def __init__(self, dsn: str, sessions: Sessions) -> None:
        self._dsn = dsn
        self._sessions = sessions
        self._conn = self._connect()

    def sweep(self) -> None:
        try:
            self._sweep()
        except psycopg.OperationalError:  # a test has ended every session, or stopped the server
            self.close()
            self._conn = self._connect()
            self._sweep()

    def close(self) -> None:
        self._conn.close()

    def _connect(self) -> Connection[Any]:
        conn = psycopg.connect(self._dsn, autocommit=True)
        conn.execute("SET session_replication_role = replica")  # no foreign key asks for an order
        conn.execute("SET tocsin.clock_offset = '0'")
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%yoyo%'"
        step = sql.SQL("IF EXISTS (SELECT FROM {0}) THEN DELETE FROM {0}; END IF;")
        steps = sql.SQL(" ").join(step.format(sql.Identifier("public", name)) for (name,) in conn.execute(tables))
        function = sql.SQL("CREATE FUNCTION pg_temp.sweep() RETURNS void LANGUAGE plpgsql AS {}")
        conn.execute(function.format(sql.Literal(f"BEGIN {steps.as_string(conn)} END")))
        return conn

    def _sweep(self) -> None:
        self._be_alone()
        self._conn.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(sql.Identifier(self._conn.info.dbname)))
        self._conn.execute("SELECT pg_temp.sweep()")
        self._conn.execute("INSERT INTO domain_events_processed (consumer, last_event_id) VALUES ('notify_fanout', 0)")
        bootstrap.make_tenant(self._conn, TENANT)

    def _be_alone(self) -> None:
        """Whoever has just left is gone in a moment; the server, asked to end somebody, looks again only after 100 ms."""
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL(%s)"
        kept = [[self._conn.info.backend_pid, *self._sessions.pids]]
        for _ in range(20):
            if self._conn.execute(f"SELECT count(*) {others}", kept).fetchone() == (0,):
                return
            time.sleep(0.002)
        self._conn.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}", kept)


@pytest.fixture
def conn(world: World) -> Connection[Any]:
    return world.worker


@pytest.fixture
def tenant() -> UUID:
    return TENANT


@pytest.fixture
def triggers(world: World, monkeypatch: pytest.MonkeyPatch) -> Triggers:
    return Triggers(world, monkeypatch)
