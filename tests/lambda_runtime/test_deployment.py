"""The migration as CloudFormation runs it: Create, Update, Delete, and one that fails."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from devstack.environment import Outcome
from devstack.launch import ROOT, RunningStack
from tests.functions.cloud_formation import CloudFormation
from tests.lambda_runtime.functions import another

ASKED = {"StackId": "stack", "RequestId": "request", "LogicalResourceId": "Migration", "PhysicalResourceId": "tocsin-schema"}


def run(stack: RunningStack, folder: Path, url: str, kind: str, *, database: str) -> Outcome:
    with another(stack, "MigrateFunction", folder / "log", DATABASE_NAME=database) as migrate:
        return migrate.invoke(ASKED | {"RequestType": kind, "ResponseURL": url})


@contextmanager
def empty_database(stack: RunningStack, name: str) -> Iterator[str]:
    """A second database of the same owner, as a second installation on the same server would have."""
    with psycopg.connect(stack.dev["database_url"], autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} OWNER tocsin_owner").format(sql.Identifier(name)))
        try:
            yield re.sub(r"/[^/]+$", f"/{name}", stack.dev["database_url"])
        finally:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_create_migrates_update_finds_nothing_to_do_and_delete_takes_nothing_away(
    running_stack: RunningStack, tmp_path: Path, cloud_formation: CloudFormation
) -> None:
    url, answers = cloud_formation.url, cloud_formation.answers
    migrations = [path for path in (ROOT / "migrations").glob("0*.sql") if not path.name.endswith(".rollback.sql")]

    with empty_database(running_stack, "second") as dsn:
        for kind in ("Create", "Update", "Delete"):
            assert run(running_stack, tmp_path, url, kind, database="second").error is None
        with psycopg.connect(dsn) as conn:
            tenants = conn.execute("SELECT count(*) FROM tenants").fetchone()

    assert [(one["Status"], one["Data"].get("Applied")) for one in answers] == [
        ("SUCCESS", len(migrations)),
        ("SUCCESS", 0),
        ("SUCCESS", None),
    ]
    assert {one["PhysicalResourceId"] for one in answers} == {"tocsin-schema"}
    assert tenants == (1,)


def test_a_migration_that_fails_is_told_leaves_nothing_behind_and_can_be_repeated(
    running_stack: RunningStack, tmp_path: Path, cloud_formation: CloudFormation
) -> None:
    url, answers = cloud_formation.url, cloud_formation.answers

    with empty_database(running_stack, "third") as dsn, psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE TABLE lanes (in_the_way text)")
        failed = run(running_stack, tmp_path, url, "Create", database="third")
        made = conn.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'outbox'").fetchone()
        conn.execute("DROP TABLE lanes")
        run(running_stack, tmp_path, url, "Create", database="third")

    assert failed.error is None, "CloudFormation is told at its address, and by no error"
    assert [one["Status"] for one in answers] == ["FAILED", "SUCCESS"]
    said = r'migration \d{4}\w?\.\w+: 42P07 relation "lanes" already exists; see log group \S+, stream [0-9a-f]{32}'
    assert re.fullmatch(said, answers[0]["Reason"]), answers[0]["Reason"]
    assert made == (0,), "what stands in the same migration is undone with it"
    assert 'relation \\"lanes\\" already exists' in (tmp_path / "log").read_text()


def test_a_deployment_that_cannot_reach_the_database_is_told_too(
    running_stack: RunningStack, tmp_path: Path, cloud_formation: CloudFormation
) -> None:
    url, answers = cloud_formation.url, cloud_formation.answers

    run(running_stack, tmp_path, url, "Update", database="none")

    assert [(one["Status"], one["Reason"].partition(";")[0]) for one in answers] == [("FAILED", "OperationalError: no_database")]
