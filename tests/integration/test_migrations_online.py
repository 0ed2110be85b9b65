"""A migration beside running intake: nobody waits long for it, and one that failed half-way is made whole by the next run."""

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.world import World
from tocsin.store import migrations
from tocsin.upkeep import migrate

FOLDER = Path(__file__).parent.parent.parent / "migrations"
PATIENCE = 2.0  # seconds: intake's own lock_timeout
CHECKED = """-- depends: {previous}
ALTER TABLE records ADD COLUMN colour text;
ALTER TABLE records ADD CONSTRAINT records_colour CHECK (colour <> '') NOT VALID;
"""
BUILT = """-- transactional: false
-- depends: 9998.checked
ALTER TABLE records VALIDATE CONSTRAINT records_colour;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_colour_idx ON records (tenant_id, colour);
"""
BUILT_ROLLBACK = "DROP INDEX CONCURRENTLY IF EXISTS records_colour_idx;\n"
CHECKED_ROLLBACK = "ALTER TABLE records DROP COLUMN colour;\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The real migrations, and two more that change a table in use."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / "9998.checked.sql").write_text(CHECKED.format(previous=migrations.EXPECTED))
    (tmp_path / "9998.checked.rollback.sql").write_text(CHECKED_ROLLBACK)
    (tmp_path / "9999.built.sql").write_text(BUILT)
    (tmp_path / "9999.built.rollback.sql").write_text(BUILT_ROLLBACK)
    return tmp_path


class Intake:
    """Intents that come in one after the other, on a connection as the doors have it, until told to stop."""

    def __init__(self, world: World) -> None:
        self._world, self._conn = world, world.connect("tocsin_app")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.accepted, self.longest = 0, 0.0
        self.failure: Exception | None = None

    def __enter__(self) -> "Intake":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                began = time.monotonic()
                self._world.try_accept(self._world.asked(), conn=self._conn)
                self.longest = max(self.longest, time.monotonic() - began)
                self.accepted += 1
        except Exception as error:  # the test tells what it was
            self.failure = error


def test_intake_goes_on_while_a_migration_waits_for_its_lock_and_while_it_works(
    breakable_world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = breakable_world
    world.add_user()
    monkeypatch.setattr(migrate, "_LOCK_PAUSES", (0.3,) * 100)
    tries = threading.Semaphore(0)
    give_up = migrations.give_up_locks_soon

    def counted(conn: Any) -> None:
        tries.release()
        give_up(conn)

    monkeypatch.setattr(migrations, "give_up_locks_soon", counted)
    holder = world.connect("postgres")
    holder.execute("BEGIN; SELECT count(*) FROM records")  # somebody's long report: no column can be added beside it
    applied: list[str] = []
    run = threading.Thread(target=lambda: applied.extend(migrate.migrate(world.dsn("postgres"), folder)))

    with Intake(world) as intake:
        run.start()
        for _ in range(3):  # it gave up twice
            assert tries.acquire(timeout=30)
        before = intake.accepted
        holder.execute("ROLLBACK")
        run.join(60)

    assert applied == ["9998.checked", "9999.built"]
    assert intake.failure is None
    assert intake.longest < PATIENCE
    assert (before > 0, intake.accepted > before) == (True, True)
    assert world.one("SELECT indisvalid FROM pg_index WHERE indexrelid = 'records_colour_idx'::regclass") is True
    assert world.one("SELECT convalidated FROM pg_constraint WHERE conname = 'records_colour'") is True


def test_a_table_that_never_comes_free_fails_the_migration_and_changes_nothing(
    breakable_world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = breakable_world
    monkeypatch.setattr(migrate, "_LOCK_PAUSES", (0.01,))
    holder = world.connect("postgres")
    holder.execute("BEGIN; SELECT count(*) FROM records")

    with pytest.raises(psycopg.errors.LockNotAvailable):
        migrate.migrate(world.dsn("postgres"), folder)
    holder.execute("ROLLBACK")

    assert migrate.migrate(world.dsn("postgres"), folder) == ["9998.checked", "9999.built"]


def test_an_index_that_was_never_finished_is_built_anew(breakable_world: World, folder: Path) -> None:
    world = breakable_world
    world.add_user()
    for _ in range(2):
        world.accept()
    with pytest.raises(psycopg.errors.UniqueViolation):  # leaves behind what a killed one does
        world.admin.execute("CREATE UNIQUE INDEX CONCURRENTLY records_colour_idx ON records (tenant_id)")
    assert world.one("SELECT indisvalid FROM pg_index WHERE indexrelid = 'records_colour_idx'::regclass") is False

    migrate.migrate(world.dsn("postgres"), folder)

    assert (
        world.one("SELECT indisvalid AND NOT indisunique FROM pg_index WHERE indexrelid = 'records_colour_idx'::regclass") is True
    )


def test_a_migration_without_a_transaction_that_was_killed_half_way_begins_again(breakable_world: World, folder: Path) -> None:
    world = breakable_world
    migrate.migrate(world.dsn("postgres"), folder)
    world.admin.execute("DELETE FROM _yoyo_migration WHERE migration_id = '9999.built'")

    assert migrate.migrate(world.dsn("postgres"), folder) == ["9999.built"]
