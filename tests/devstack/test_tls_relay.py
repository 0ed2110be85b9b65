"""The relay that gives a local Postgres the TLS of RDS."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.certificates import Authority
from devstack.children import Child
from devstack.postgres import Postgres
from tests.e2e.client import wait_for


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.make("Of these tests")


@pytest.fixture(scope="module")
def address(authority: Authority, server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Where the relay is, for a client that knows the authority."""
    folder = tmp_path_factory.mktemp("relay")
    authority.certify("localhost", folder / "server.pem")
    (folder / "authority.pem").write_bytes(authority.pem)
    arguments = ("--certificate", str(folder / "server.pem"), "--to", str(server.port))
    child = Child.module("devstack.tls_relay", *arguments, log=folder / "log", stdout=subprocess.PIPE)
    try:
        yield {
            "host": "localhost",
            "port": child.first_line(),
            "user": "postgres",
            "sslmode": "verify-full",
            "sslrootcert": str(folder / "authority.pem"),
        }
    finally:
        child.kill()


def test_who_knows_the_authority_and_the_name_gets_in_and_what_is_sent_arrives_whole(address: dict[str, Any]) -> None:
    def echo(number: int) -> bool:
        sent = f"{number}-" + "ä" * 3_000_000
        with psycopg.connect(**address) as conn:
            row = conn.execute("SELECT %s::text, repeat('b', 3000000)", [sent]).fetchone()
        return row == (sent, "b" * 3_000_000)

    with ThreadPoolExecutor(4) as crowd:
        assert list(crowd.map(echo, range(8))) == [True] * 8


def test_a_client_that_goes_takes_its_session_along(address: dict[str, Any], server: Postgres) -> None:
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'relayed'"
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        with psycopg.connect(**address, application_name="relayed"):
            during = conn.execute(sessions).fetchone()
        wait_for(lambda: conn.execute(sessions).fetchone(), lambda count: count == (0,))

    assert during == (1,)


def test_a_server_that_is_cut_off_is_noticed(address: dict[str, Any], server: Postgres) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as admin, psycopg.connect(**address, autocommit=True) as conn:
        admin.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])

        with pytest.raises(psycopg.OperationalError):
            conn.execute("SELECT 1")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"host": "127.0.0.1"}, "does not match host name"),
        ({"sslrootcert": "other.pem"}, "certificate verify failed"),
        ({"sslmode": "disable"}, "no encryption"),
    ],
    ids=str,
)
def test_everybody_else_is_refused(address: dict[str, Any], tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    (tmp_path / "other.pem").write_bytes(Authority.make("Of somebody else").pem)
    if "sslrootcert" in wrong:
        wrong = {"sslrootcert": str(tmp_path / wrong["sslrootcert"])}

    with pytest.raises(psycopg.OperationalError, match=said):
        psycopg.connect(**(address | wrong))


def test_the_key_of_a_certificate_is_for_its_owner_alone(authority: Authority, tmp_path: Path) -> None:
    authority.certify("localhost", tmp_path / "server.pem")

    assert (tmp_path / "server.pem").stat().st_mode & 0o777 == 0o600
