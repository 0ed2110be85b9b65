"""The embedded Postgres starts, stops, recovers, and never shares its folder."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from devstack.postgres import Postgres, PostgresError


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def server(tmp_path: Path, cache: Path) -> Iterator[Postgres]:
    with Postgres.cached(tmp_path / "postgres", cache) as server:
        yield server


@pytest.fixture(autouse=True)
def no_data_left_behind(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in list(tmp_path.rglob("cluster")):
        Postgres(folder.parent).remove()


def ask(server: Postgres, question: str) -> object:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        found = conn.execute(question).fetchone()
    assert found
    return found[0]


def remember(server: Postgres, word: str) -> None:
    with psycopg.connect(server.dsn()) as conn:
        conn.execute("CREATE TABLE IF NOT EXISTS memory (word text)")
        conn.execute("INSERT INTO memory VALUES (%s)", (word,))


def cluster(server: Postgres) -> Path:
    return server.data_dir / "cluster"


def test_a_new_folder_becomes_a_server_on_loopback_with_utf8_utc_and_full_durability(tmp_path: Path) -> None:
    with Postgres(tmp_path / "postgres") as server:
        assert ask(server, "SHOW listen_addresses") == "127.0.0.1"
        assert ask(server, "SHOW max_connections") == "100"
        assert ask(server, "SHOW server_encoding") == "UTF8"
        assert ask(server, "SHOW timezone") == "UTC"
        assert ask(server, "SHOW fsync") == "on"
        assert ask(server, "SELECT upper('é')") == "É"


def test_a_server_for_tests_does_without_fsync(server: Postgres) -> None:
    assert ask(server, "SHOW fsync") == "off"


def test_nothing_is_printed_and_the_log_is_in_the_folder(server: Postgres, capfd: pytest.CaptureFixture[str]) -> None:
    server.stop()
    server.start()

    assert capfd.readouterr() == ("", "")
    assert "ready to accept connections" in server.log.read_text()


def test_a_restart_keeps_the_data_and_the_port(server: Postgres) -> None:
    remember(server, "kept")
    port = server.port

    server.stop()
    assert server.pid is None
    server.start()

    assert server.port == port
    assert ask(server, "SELECT word FROM memory") == "kept"


def test_starting_twice_and_stopping_twice_is_harmless(server: Postgres) -> None:
    pid = server.pid

    server.start()
    assert server.pid == pid
    server.stop()
    server.stop()


def test_committed_rows_survive_a_killed_server(tmp_path: Path, cache: Path) -> None:
    with Postgres.cached(tmp_path / "postgres", cache, durable=True) as server:
        remember(server, "kept")
        with closing(psycopg.connect(server.dsn())) as witness:
            witness.execute("SELECT 1")
            server.kill()  # while a backend lives, which must be gone before the next server starts

            server.start()

        assert ask(server, "SELECT word FROM memory") == "kept"


def test_a_lock_file_whose_process_number_now_belongs_to_another_program_is_no_obstacle(server: Postgres) -> None:
    lock = cluster(server) / "postmaster.pid"
    content = lock.read_text().splitlines()
    server.stop()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        try:
            lock.write_text("\n".join([str(bystander.pid), *content[1:]]))

            server.start()

            assert ask(server, "SELECT 1") == 1
            assert bystander.poll() is None
        finally:
            bystander.kill()


def test_a_server_left_running_by_a_dead_owner_is_replaced(server: Postgres) -> None:
    remember(server, "kept")
    abandoned = server.pid
    assert abandoned

    with Postgres(server.data_dir) as successor:
        assert ask(successor, "SELECT word FROM memory") == "kept"
        assert successor.pid != abandoned
        assert server.pid is None


def test_removing_a_server_leaves_nothing_of_it(tmp_path: Path, cache: Path) -> None:
    server = Postgres.cached(tmp_path / "postgres", cache)
    server.start()
    real = cluster(server).resolve()

    server.remove()

    assert server.pid is None
    assert not real.exists()
    assert not server.data_dir.exists()


def test_two_servers_from_one_cache_share_nothing(server: Postgres, tmp_path: Path, cache: Path) -> None:
    remember(server, "mine")

    with Postgres.cached(tmp_path / "other", cache) as other:
        assert ask(other, "SELECT to_regclass('memory')") is None


def test_a_port_that_is_taken_is_reported_with_the_servers_own_words(server: Postgres, tmp_path: Path, cache: Path) -> None:
    late = Postgres.cached(tmp_path / "late", cache, port=server.port)

    with pytest.raises(PostgresError, match="Address already in use"):
        late.start()


def test_the_port_is_unknown_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(PostgresError, match="before start"):
        _ = Postgres(tmp_path / "postgres").port


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders that the server cannot enter")
def test_a_folder_only_root_can_enter_still_holds_a_server_that_does_not_run_as_root(server: Postgres) -> None:
    server.data_dir.parent.chmod(0o700)

    with Postgres(server.data_dir.parent / "closed" / "postgres") as other:
        assert Path(f"/proc/{other.pid}").stat().st_uid != 0
        assert cluster(other).is_symlink()
        assert ask(other, "SELECT 1") == 1


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no second loopback address to come from")
def test_guests_come_in_by_their_password_alone_and_whoever_is_on_loopback_without(tmp_path: Path) -> None:
    settings = {"listen_addresses": "127.0.0.1,::1"}
    with Postgres(tmp_path / "postgres", settings=settings, guests="::1/128") as server:
        remember(server, "at home")
        with psycopg.connect(server.dsn()) as conn:
            conn.execute("CREATE ROLE guest LOGIN PASSWORD 'welcome'")
        door = f"host=::1 port={server.port} dbname=postgres"

        with psycopg.connect(f"{door} user=guest password=welcome") as conn:
            assert conn.execute("SELECT current_user").fetchone() == ("guest",)
        for login in ("user=guest password=wrong", "user=guest", "user=postgres"):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(f"{door} {login}")


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no second loopback address to come from")
def test_a_stranger_who_is_no_guest_is_not_even_asked_for_a_password(tmp_path: Path) -> None:
    settings = {"listen_addresses": "127.0.0.1,::1"}
    with (
        Postgres(tmp_path / "postgres", settings=settings, guests="192.0.2.0/24") as server,
        pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"),
    ):
        psycopg.connect(f"host=::1 port={server.port} dbname=postgres user=postgres")
