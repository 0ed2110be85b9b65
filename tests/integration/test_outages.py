"""Real servers that cannot be used, each in its own way, and the reason we give."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from devstack.postgres import Postgres
from tests.conftest import ROOT
from tests.tls_wire import encrypted
from tests.work_queue import WorkQueue
from tests.world import TENANT, World
from tocsin.foundation import aws, connecting
from tocsin.foundation.database import run, tenant_transaction
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.foundation.settings import Settings

ENTRY = """
host     all  postgres    127.0.0.1/32  trust
host     all  tocsin_app  127.0.0.1/32  scram-sha-256
hostssl  all  careful     127.0.0.1/32  trust
"""
PLACES = 5  # of which Postgres reserves three for superusers


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A server without TLS that asks for passwords and has hardly any room."""
    settings = {"max_connections": str(PLACES), "max_wal_senders": "0"}
    server = Postgres.cached(tmp_path_factory.mktemp("guarded"), ROOT / ".local" / "cache", settings=settings)
    (server.data_dir / "cluster" / "pg_hba.conf").write_text(ENTRY)
    with server:
        with psycopg.connect(server.dsn(), autocommit=True) as conn:
            conn.execute("CREATE ROLE tocsin_app LOGIN PASSWORD 'right'")
            conn.execute("CREATE ROLE careful LOGIN")
        yield server
    server.remove()


def _refusal(url: str) -> DatabaseUnavailable:
    with pytest.raises(DatabaseUnavailable) as refused:
        connecting.connect_in_time(Settings(tocsin_database_url=url)).close()
    return refused.value


def _url(
    server: Postgres, user: str = "tocsin_app", password: str = "right", database: str = "postgres", options: str = ""
) -> str:
    return f"postgresql://{user}:{password}@127.0.0.1:{server.port}/{database}?{options}"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ({"password": "hunter2"}, OutageReason.PASSWORD),
        ({"password": ""}, OutageReason.PASSWORD),
        ({"options": "sslmode=require"}, OutageReason.TLS),
        ({"user": "careful", "options": "sslmode=disable"}, OutageReason.TLS),
        ({"database": "nowhere"}, OutageReason.NO_DATABASE),
    ],
    ids=str,
)
def test_a_server_that_does_not_let_us_in_says_why(guarded: Postgres, address: dict[str, str], reason: OutageReason) -> None:
    refusal = _refusal(_url(guarded, **address))

    assert refusal.reason is reason
    assert "hunter2" not in json.dumps(refusal.said)


def test_a_full_server_has_too_many_connections(guarded: Postgres) -> None:
    with ExitStack() as stack:
        taken: list[Connection[Any]] = []
        while len(taken) < PLACES:
            try:
                taken.append(stack.enter_context(psycopg.connect(_url(guarded))))
            except psycopg.OperationalError:
                break

        assert 0 < len(taken) < PLACES
        assert _refusal(_url(guarded)).reason is OutageReason.TOO_MANY_CONNECTIONS


@pytest.mark.parametrize("limited", ["ROLE tocsin_app", "DATABASE postgres"])
def test_so_has_a_role_or_a_database_with_a_limit_of_its_own(guarded: Postgres, limited: str) -> None:
    with psycopg.connect(guarded.dsn(), autocommit=True) as conn:
        conn.execute(f"ALTER {limited} CONNECTION LIMIT 0")  # type: ignore[call-overload]
        try:
            assert _refusal(_url(guarded)).reason is OutageReason.TOO_MANY_CONNECTIONS
        finally:
            conn.execute(f"ALTER {limited} CONNECTION LIMIT -1")  # type: ignore[call-overload]


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(tmp_path: Path) -> None:
    authorities = f"sslmode=verify-full&sslrootcert={connecting.RDS_CERTIFICATES}"

    with encrypted(tmp_path) as (port, _):
        refusal = _refusal(f"postgresql://tocsin_app@localhost:{port}/postgres?hostaddr=127.0.0.1&{authorities}")

    assert refusal.reason is OutageReason.TLS


def test_nobody_at_home_is_a_refusal() -> None:
    assert _refusal("postgresql://tocsin_app@127.0.0.1:1/x").reason is OutageReason.REFUSED


def test_a_name_that_leads_nowhere_is_said_so() -> None:
    assert _refusal("postgresql://tocsin_app@nowhere.invalid/x").reason is OutageReason.NAME_RESOLUTION


@pytest.mark.parametrize("content", [None, "no json", "[]", '{"username": "tocsin_app"}'], ids=str)
def test_a_secret_that_cannot_be_read_is_named_as_the_cause(work_queue: WorkQueue, content: str | None) -> None:
    arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:none"
    if content is not None:
        arn = aws.client("secretsmanager").create_secret(Name="database", SecretString=content)["ARN"]

    with pytest.raises(DatabaseUnavailable) as unavailable:
        connecting.connect_in_time(Settings(database_host="127.0.0.1", database_name="tocsin", database_secret_arn=arn))

    assert unavailable.value.reason is OutageReason.SECRET


def _rotated(server: Postgres, *passwords: str) -> Settings:
    """The settings of a function whose secret had these passwords, one after the other."""
    written = [json.dumps({"username": "tocsin_app", "password": password}) for password in passwords]
    store = aws.client("secretsmanager")
    arn = store.create_secret(Name="rotated", SecretString=written[0])["ARN"]
    for one in written[1:]:
        store.put_secret_value(SecretId=arn, SecretString=one)
    place = {"database_host": "127.0.0.1", "database_port": server.port, "database_name": "postgres"}
    return Settings.model_validate(place | {"database_secret_arn": arn, "database_sslmode": "disable"})


@pytest.mark.parametrize("passwords", [("right", "new"), ("old", "right")], ids=["not yet in Postgres", "in Postgres"])
def test_while_a_password_rotates_the_new_one_and_the_one_before_let_us_in(
    guarded: Postgres, work_queue: WorkQueue, passwords: tuple[str, ...]
) -> None:
    with connecting.connect_in_time(_rotated(guarded, *passwords)) as conn:
        assert conn.execute("SELECT current_user").fetchone() == ("tocsin_app",)


@pytest.mark.parametrize("passwords", [("wrong",), ("wrong", "new"), ("right", "new", "newer")], ids=str)
def test_a_password_that_is_neither_does_not(guarded: Postgres, work_queue: WorkQueue, passwords: tuple[str, ...]) -> None:
    with pytest.raises(DatabaseUnavailable) as refused:
        connecting.connect_in_time(_rotated(guarded, *passwords))

    assert refused.value.reason is OutageReason.PASSWORD


def _killed(conn: Connection[Any], world: World) -> None:
    world.admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'tocsin_app'")
    conn.execute("SELECT 1")


def _cut(conn: Connection[Any], world: World) -> None:
    with socket.socket(fileno=os.dup(conn.fileno())) as wire:
        wire.shutdown(socket.SHUT_RDWR)
    conn.execute("SELECT 1")


def _slow(conn: Connection[Any], world: World) -> None:
    conn.execute("SET statement_timeout = '50ms'")
    conn.execute("SELECT pg_sleep(60)")


def _read_only(conn: Connection[Any], world: World) -> None:
    conn.execute("SET default_transaction_read_only = on")
    with tenant_transaction(conn, TENANT):
        conn.execute("DELETE FROM outbox")


def _locked(conn: Connection[Any], world: World) -> None:
    world.admin.execute("BEGIN; LOCK TABLE outbox")
    conn.execute("SET lock_timeout = '50ms'")
    try:
        with tenant_transaction(conn, TENANT):
            conn.execute("SELECT FROM outbox")
    finally:
        world.admin.execute("ROLLBACK")


def _idle_in_a_transaction(conn: Connection[Any], world: World) -> None:
    pid = conn.info.backend_pid
    conn.execute("SET idle_in_transaction_session_timeout = '50ms'")
    conn.execute("BEGIN")
    while world.one("SELECT count(*) FROM pg_stat_activity WHERE pid = %(pid)s", pid=pid):
        world.one("SELECT 1 FROM pg_sleep(0.01)")
    conn.execute("SELECT 1")


@pytest.mark.parametrize(
    ("mishap", "reason"),
    [
        (_killed, OutageReason.SHUTTING_DOWN),
        (_cut, OutageReason.LOST),
        (_slow, OutageReason.TIMEOUT),
        (_read_only, OutageReason.READ_ONLY),
        (_locked, OutageReason.LOCKED),
        (_idle_in_a_transaction, OutageReason.LOST),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_a_server_that_fails_us_under_way_is_unavailable_for_a_reason_and_fit_for_the_next_work(
    world: World, mishap: Callable[[Connection[Any], World], None], reason: OutageReason
) -> None:
    with pytest.raises(DatabaseUnavailable) as unavailable:
        run(lambda conn: mishap(conn, world))

    assert unavailable.value.reason is reason
    assert run(lambda conn: conn.execute("SELECT 7").fetchone()) == (7,)
