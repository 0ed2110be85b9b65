"""A deployment whose migration fails: CloudFormation is told why in one line, and nothing keeps the next one from going on."""

import shutil
from pathlib import Path
from typing import Any

import psycopg
import pytest

from devstack.postgres import Postgres
from tests.functions.cloud_formation import CREATE, MIGRATIONS, CloudFormation, request
from tests.functions.doors import Context, handler_of
from tocsin.foundation.settings import settings
from tocsin.store import migrations
from tocsin.upkeep import migration_failures
from tocsin.upkeep.migrate import MigrationUnderWay

ADDRESS = "alice@example.com"


@pytest.fixture
def folder(installation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real migrations, applied, in a folder for more."""
    handler_of("migrate")(CREATE, Context(600_000))
    shutil.copytree(MIGRATIONS, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("MIGRATIONS_FOLDER", str(tmp_path))
    settings.cache_clear()
    return tmp_path


def _add(folder: Path, statements: str) -> None:
    (folder / "9999.new.sql").write_text(f"-- depends: {migrations.EXPECTED}\n{statements}\n")


def _update(cloud_formation: CloudFormation, context: Context) -> dict[str, Any]:
    handler_of("migrate")(request(cloud_formation.url, "Update"), context)
    return cloud_formation.answers[-1]


def test_cloudformation_is_told_which_migration_failed_and_why(folder: Path, cloud_formation: CloudFormation) -> None:
    _add(folder, "CREATE TABLE half (id int); ALTER TABLE nowhere ADD COLUMN colour text;")

    told = _update(cloud_formation, Context(600_000))

    assert (told["Status"], told["Reason"]) == (
        "FAILED",
        'migration 9999.new: 42P01 relation "nowhere" does not exist; see log group group, stream stream',
    )


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"SELECT '{ADDRESS}'::uuid;", "22P02 InvalidTextRepresentation"),
        (f"DO $$ BEGIN RAISE EXCEPTION 'what of {ADDRESS}'; END $$;", "P0001 RaiseException"),
        (
            f"CREATE TABLE twice (address text UNIQUE); INSERT INTO twice VALUES ('{ADDRESS}'), ('{ADDRESS}');",
            '23505 duplicate key value violates unique constraint "twice_address_key"',
        ),
    ],
)
def test_what_a_row_holds_is_not_told(folder: Path, cloud_formation: CloudFormation, statement: str, said: str) -> None:
    _add(folder, statement)

    told = _update(cloud_formation, Context(600_000))

    assert told["Reason"].startswith(f"migration 9999.new: {said};")
    assert ADDRESS not in told["Reason"]


def test_a_statement_that_would_outlast_the_function_is_rolled_back_and_the_way_is_free(
    server: Postgres, folder: Path, cloud_formation: CloudFormation
) -> None:
    """Three seconds and a half are left once what the answer needs is put aside."""
    _add(folder, "CREATE TABLE half (id int); SELECT pg_sleep(600);")

    told = _update(cloud_formation, Context(28_500))
    (folder / "9999.new.sql").unlink()
    rolled_back = _update(cloud_formation, Context(600_000))
    _add(folder, "CREATE TABLE half (id int);")
    repaired = _update(cloud_formation, Context(600_000))

    assert told["Reason"].startswith("migration 9999.new: 57014 canceling statement due to statement timeout;")
    assert (rolled_back["Status"], rolled_back["Data"]) == ("SUCCESS", {"Applied": 0})
    assert (repaired["Status"], repaired["Data"]) == ("SUCCESS", {"Applied": 1})
    with psycopg.connect(server.dsn("installation")) as conn:
        asking = conn.execute("SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%'").fetchall()
        assert asking == [(conn.info.backend_pid,)], "nobody but who asks this"


def test_a_reason_is_one_line_of_bounded_length() -> None:
    long = MigrationUnderWay("another run\nmigrates " + "x" * 5_000)

    said = migration_failures.in_one_line(long)

    assert said.startswith("MigrationUnderWay: another run migrates xxx")
    assert len(said) == migration_failures.LONGEST


def test_of_an_error_that_nobody_knows_only_the_name_is_told() -> None:
    assert migration_failures.in_one_line(ValueError("postgresql://tocsin_owner:hush@db")) == "ValueError"


def test_why_the_database_cannot_be_reached_is_told_in_a_word(
    installation: str, cloud_formation: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PORT", "1")
    settings.cache_clear()

    told = _update(cloud_formation, Context(600_000))

    assert told["Reason"].startswith("OperationalError: refused;")
