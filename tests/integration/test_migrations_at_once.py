"""Several runs at once, in one database and in several of one server, and runs that are killed: each leaves the way free."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql

from devstack.postgres import Postgres
from tests.frozen import frozen
from tocsin.foundation import deadlines
from tocsin.foundation.deadlines import Unanswered
from tocsin.store import migrations
from tocsin.upkeep import migrate
from tocsin.upkeep.migrate import MigrationUnderWay

FOLDER = Path(__file__).parent.parent.parent / "migrations"
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def blank(server: Postgres) -> Iterator[Callable[[], str]]:
    """Makes databases with nothing in them."""
    names: list[str] = []

    def make() -> str:
        names.append(f"blank_{len(names)}")
        _on_the_server(server, "CREATE DATABASE {}", names[-1])
        return server.dsn(names[-1])

    yield make
    for name in names:
        _on_the_server(server, "DROP DATABASE {} WITH (FORCE)", name)


def _on_the_server(server: Postgres, statement: str, name: str) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(sql.SQL(statement).format(sql.Identifier(name)))  # type: ignore[arg-type]


@pytest.fixture
def slim(tmp_path: Path) -> Path:
    """A folder with the real roles and two small migrations."""
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup" / "roles.sql").write_bytes((FOLDER / "setup" / "roles.sql").read_bytes())
    (tmp_path / "0001.one.sql").write_text("-- depends:\nCREATE TABLE one (id int);\nINSERT INTO one VALUES (1);\n")
    (tmp_path / "0001.one.rollback.sql").write_text("DROP TABLE one;\n")
    (tmp_path / "0002.two.sql").write_text("-- depends: 0001.one\nCREATE TABLE two (id int);\n")
    (tmp_path / "0002.two.rollback.sql").write_text("DROP TABLE two;\n")
    return tmp_path


def _all_at_once(count: int, work: Callable[[int], object]) -> None:
    """Every thread begins when all are ready."""
    ready = threading.Barrier(count)

    def begin(n: int) -> object:
        ready.wait(60)
        return work(n)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))


def test_two_runs_in_one_database_take_turns(blank: Callable[[], str], slim: Path) -> None:
    url = blank()
    applied: list[list[str]] = []

    _all_at_once(2, lambda _: applied.append(migrate.migrate(url, slim)))

    assert sorted(applied) == [[], ["0001.one", "0002.two"]]


def test_runs_in_several_databases_of_one_server_do_not_disturb_each_other(blank: Callable[[], str]) -> None:
    urls = [blank() for _ in range(4)]

    runs = [SPAWN.Process(target=migrate.migrate, args=(url, FOLDER)) for url in urls]
    for run in runs:
        run.start()
    for run in runs:
        run.join(120)

    assert [run.exitcode for run in runs] == [0] * 4
    assert [migrate.migrate(url, FOLDER) for url in urls] == [[]] * 4


def test_forty_runs_at_once_make_the_roles_and_set_their_passwords(server: Postgres) -> None:
    with ExitStack() as stack:
        conns = [stack.enter_context(psycopg.connect(server.dsn(), autocommit=True)) for _ in range(40)]

        def change(n: int) -> None:
            script = (FOLDER / "setup" / "roles.sql").read_bytes()
            migrate._despite_other_databases(lambda: conns[n].execute(script))
            migrate.set_password(conns[n], "tocsin_app", "the same for all")
            migrate.act_as_worker(conns[n])

        _all_at_once(40, change)
        stack.enter_context(psycopg.connect(server.dsn(), autocommit=True)).execute("ALTER ROLE tocsin_app PASSWORD NULL")


def test_a_change_of_roles_that_fails_for_another_reason_is_not_tried_for_ever(server: Postgres) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as conn, pytest.raises(psycopg.errors.UndefinedObject):
        migrate.set_password(conn, "nobody_of_ours", "x")


def _waiting(url: str) -> None:
    """The target of a process to be killed: it waits inside its second migration."""
    migrate.migrate(url, Path(os.environ["SLIM"]))


@pytest.mark.parametrize(("next_one", "applied"), [("the same again", ["0002.two"]), ("the one before it", [])])
def test_a_run_that_is_killed_in_the_middle_of_a_migration_does_not_block_the_next(
    blank: Callable[[], str], slim: Path, monkeypatch: pytest.MonkeyPatch, next_one: str, applied: list[str]
) -> None:
    """Whether it is deployed again or CloudFormation rolls back, which runs the migrations of the release before."""
    url = blank()
    second = slim / "0002.two.sql"
    monkeypatch.setenv("SLIM", str(slim))
    second.write_text("-- depends: 0001.one\nCREATE TABLE two (id int);\nSELECT pg_sleep(600);\n")
    run = SPAWN.Process(target=_waiting, args=(url,))
    run.start()
    with psycopg.connect(url, autocommit=True) as conn:
        while not conn.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").fetchone():
            conn.execute("SELECT pg_sleep(0.01)")
    assert run.pid
    os.kill(run.pid, signal.SIGKILL)
    run.join(60)
    if next_one == "the same again":
        second.write_text("-- depends: 0001.one\nCREATE TABLE two (id int);\n")
    else:
        second.unlink()
        second.with_suffix(".rollback.sql").unlink()

    assert migrate.migrate(url, slim) == applied


def test_the_release_before_finds_nothing_to_do_in_a_newer_schema(blank: Callable[[], str], slim: Path) -> None:
    url = blank()
    migrate.migrate(url, slim)
    (slim / "0002.two.sql").unlink()
    (slim / "0002.two.rollback.sql").unlink()

    assert migrate.migrate(url, slim) == []


def test_a_migration_says_in_its_name_since_when_code_can_live_with_it(blank: Callable[[], str], slim: Path) -> None:
    url = blank()
    (slim / "0003.less.since-0002.sql").write_text("-- depends: 0002.two\nDROP TABLE one;\n")
    (slim / "0003.less.since-0002.rollback.sql").write_text("CREATE TABLE one (id int);\n")

    migrate.migrate(url, slim)
    with psycopg.connect(url) as conn:
        marked = migrations.schema(conn)
    undone = migrate.roll_back(url, slim, count=1)
    with psycopg.connect(url) as conn:
        free = migrations.schema(conn)

    assert (marked.latest, marked.serves_since) == ("0003.less.since-0002", "0002")
    assert undone == ["0003.less.since-0002"]
    assert (free.latest, free.serves_since) == ("0002.two", None)


class Killed(BaseException):
    """The process ends here: nobody in it tidies up."""


@pytest.mark.parametrize("answer", ["before it is sent", "after it is carried out"])
def test_a_run_may_be_killed_at_any_statement_and_the_next_one_completes_it(
    blank: Callable[[], str], slim: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    wait, at, killed = psycopg.Connection.wait, 0, True
    while killed:
        at += 3
        url, left = blank(), at

        def last_wait(conn: Connection[Any], *args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0 and answer == "after it is carried out":
                wait(conn, *args)
            if left <= 0:
                conn.pgconn.finish()
                raise Killed
            return wait(conn, *args)

        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "wait", last_wait)
            killed = False
            try:
                migrate.migrate(url, slim)
            except (Killed, psycopg.OperationalError):
                killed = True
        migrate.migrate(url, slim)

        with psycopg.connect(url) as conn:
            assert conn.execute("SELECT id FROM one").fetchall() == [(1,)]
            noted = conn.execute("SELECT migration_id FROM _yoyo_migration ORDER BY 1").fetchall()
        assert noted == [("0001.one",), ("0002.two",)]
    assert at > 30


def test_the_row_that_the_tool_would_lock_with_is_not_heeded(blank: Callable[[], str], slim: Path) -> None:
    url = blank()
    with psycopg.connect(url) as conn:  # as a run of an earlier version left it when it was killed
        conn.execute("CREATE TABLE yoyo_lock (locked int DEFAULT 1, ctime timestamp, pid int NOT NULL, PRIMARY KEY (locked))")
        conn.execute("INSERT INTO yoyo_lock VALUES (1, now(), 4711)")

    assert migrate.migrate(url, slim) == ["0001.one", "0002.two"]


def test_who_waits_in_vain_is_told_who_is_in_the_way(blank: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    url = blank()
    monkeypatch.setattr(migrate, "PATIENCE", timedelta(0))

    with (
        migrate.alone(url) as first,
        pytest.raises(MigrationUnderWay, match=f"process {first.info.backend_pid} of 127.0.0.1"),
        migrate.alone(url),
    ):
        raise AssertionError("both at once")


def test_who_waits_says_so_now_and_then_and_goes_on_when_the_other_is_done(
    blank: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = blank()
    told: list[Any] = []
    monkeypatch.setattr(migrate.log, "info", lambda message, *, extra: told.append(extra["waited_seconds"]))
    first = ExitStack()
    first.enter_context(migrate.alone(url))
    clock = 0.0

    def nap(seconds: float) -> None:
        nonlocal clock
        clock += seconds
        if clock == 25:
            first.close()

    monkeypatch.setattr(migrate.time, "monotonic", lambda: clock)
    monkeypatch.setattr(migrate.time, "sleep", nap)

    with migrate.alone(url):
        pass

    assert told[:3] == [0, 10, 20]


def test_the_server_notices_within_seconds_that_the_client_is_gone(blank: Callable[[], str]) -> None:
    names = ("client_connection_check_interval", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count")

    with migrate.alone(blank()) as conn:
        shown = [conn.execute("SELECT current_setting(%s)", [name]).fetchone()[0] for name in names]  # type: ignore[index]

    assert shown == ["2s", "10", "5", "3"]


def test_a_statement_may_take_its_time_but_not_past_the_deadline(blank: Callable[[], str]) -> None:
    with migrate.alone(blank()) as conn, frozen(conn.info.backend_pid), deadlines.within(0.5), pytest.raises(Unanswered):
        conn.execute("SELECT 1")
