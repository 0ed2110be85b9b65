"""One Postgres server per test process, and databases cloned from a migrated one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import Connection, sql

from devstack.postgres import Postgres
from tests.world import TENANT, World
from tocsin import bootstrap, database, principals, settings
from tocsin.migrate import migrate

ROOT = Path(__file__).parent.parent
OPTIONS = "?options=-c%20lock_timeout%3D5000"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    server = Postgres.cached(tmp_path_factory.mktemp("postgres"), ROOT / ".local" / "cache", durable=False)
    server.start()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def template(server: Postgres) -> str:
    """The name of a migrated database with one tenant, to be cloned."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE tocsin_template")
    migrate(server.dsn("tocsin_template"), ROOT / "migrations")
    with psycopg.connect(server.dsn("tocsin_template", "tocsin_worker"), autocommit=True) as conn:
        bootstrap.make_tenant(conn, TENANT)
    return "tocsin_template"


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
def world(server: Postgres, make_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A database of its own, and connections to it under each role."""
    name = make_database()
    monkeypatch.setenv("TOCSIN_DATABASE_URL", server.dsn(name, "tocsin_app"))
    monkeypatch.setenv("DEFAULT_TENANT_ID", str(TENANT))
    settings.settings.cache_clear()
    principals.forget()
    database.disconnect()
    world = World(lambda role: server.dsn(name, role))
    yield world
    world.close()
    database.disconnect()
    settings.settings.cache_clear()


@pytest.fixture
def conn(world: World) -> Connection[Any]:
    return world.worker


@pytest.fixture
def tenant() -> UUID:
    return TENANT
