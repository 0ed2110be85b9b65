"""Migrations are online: none holds up whoever uses a table that may be large."""

import pytest

from tests.unit.online_migrations import FIRST, SMALL, Schema, faults
from tests.unit.source import ROOT

# A migration's fault (as the test words it), and why it is none here. Whoever adds one says what makes the table small or empty.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("0026a.search", "does not begin again where it failed, or belongs in a transaction: DO ''"): (
        "fills in ten thousand rows at a time, each lot committed, and only those that are still without"
    ),
}

FILES = sorted(file for file in (ROOT / "migrations").glob("*.sql") if not file.name.endswith(".rollback.sql"))
BEFORE = """
CREATE TABLE records (id uuid);
CREATE TABLE lanes (lane text);
CREATE INDEX records_old_idx ON records (id);
"""


def _found() -> set[tuple[str, str]]:
    schema, found = Schema(), set()
    for file in FILES:
        if file.name >= FIRST:
            found |= {(file.name.removesuffix(".sql"), fault) for fault in faults(file.read_text(), schema)}
        schema.learn(file.read_text())
    return found


def test_no_migration_holds_up_whoever_uses_the_service() -> None:
    assert sorted(_found() - EXCEPTIONS.keys()) == []


def test_every_exception_is_one_and_says_why() -> None:
    assert EXCEPTIONS.keys() <= _found()
    assert all(EXCEPTIONS.values())


def test_every_small_table_exists_and_says_why() -> None:
    schema = Schema()
    for file in FILES:
        schema.learn(file.read_text())

    assert SMALL.keys() <= schema.tables
    assert all(SMALL.values())


@pytest.mark.parametrize(
    "source",
    [
        "CREATE INDEX x_idx ON records (id);",
        "CREATE UNIQUE INDEX x_idx ON records (id);",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS x_idx ON records (id);",
        "-- transactional: false\nCREATE INDEX CONCURRENTLY x_idx ON records (id);",
        "-- transactional: false\nALTER TABLE records ADD COLUMN x text;",
        "DROP INDEX records_old_idx;",
        "UPDATE records SET id = id;",
        "DELETE FROM records;",
        "TRUNCATE records;",
        "LOCK TABLE records;",
        "ALTER TABLE records ALTER COLUMN id SET NOT NULL;",
        "ALTER TABLE records ALTER COLUMN id TYPE text;",
        "ALTER TABLE records ADD CONSTRAINT x CHECK (id IS NOT NULL);",
        "ALTER TABLE records ADD CHECK (id IS NOT NULL);",
        "ALTER TABLE records ADD CONSTRAINT x FOREIGN KEY (id) REFERENCES lanes (id);",
        "ALTER TABLE records ADD CONSTRAINT x UNIQUE (id);",
        "ALTER TABLE records VALIDATE CONSTRAINT x;",
        "ALTER TABLE records ADD COLUMN x text CHECK (x <> '');",
        "ALTER TABLE records ADD COLUMN x uuid DEFAULT gen_random_uuid();",
        "ALTER TABLE records ADD COLUMN x text GENERATED ALWAYS AS ('x') STORED;",
        "ALTER TABLE records ADD COLUMN x uuid REFERENCES lanes (id);",
        "ALTER TABLE records ADD COLUMN x integer, ALTER COLUMN id SET NOT NULL;",
        "CREATE TABLE fine (id uuid);\n-- a comment; with a semicolon\nUPDATE\n    records SET id = id;",
    ],
)
def test_what_would_hold_somebody_up_is_found(source: str) -> None:
    schema = Schema()
    schema.learn(BEFORE)

    assert len(list(faults(source, schema))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "CREATE TABLE x (id uuid);\nCREATE INDEX x_idx ON x (id);\nALTER TABLE x ADD CHECK (id IS NOT NULL);",
        "CREATE INDEX x_idx ON lanes (lane);",
        "UPDATE lanes SET lane = 'x';",
        "ALTER TABLE records ADD COLUMN x text, ADD COLUMN y integer NOT NULL DEFAULT 0;",
        "ALTER TABLE records ADD CONSTRAINT x CHECK (id IN ('a', 'b')) NOT VALID;",
        "ALTER TABLE records ADD CONSTRAINT x UNIQUE USING INDEX x_idx;",
        "ALTER TABLE records DROP CONSTRAINT x;",
        "-- transactional: false\nALTER TABLE records VALIDATE CONSTRAINT x;",
        "-- transactional: false\nCREATE INDEX CONCURRENTLY IF NOT EXISTS x_idx ON records (id);",
        "-- transactional: false\nDROP INDEX CONCURRENTLY IF EXISTS records_old_idx;",
        "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ UPDATE records SET id = id; $$;",
        "GRANT UPDATE (id) ON records TO tocsin_app;",
    ],
)
def test_what_holds_nobody_up_is_fine(source: str) -> None:
    schema = Schema()
    schema.learn(BEFORE)

    assert list(faults(source, schema)) == []
