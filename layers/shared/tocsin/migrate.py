"""Migrate: roles, schema, passwords. Plain SQL files, each with its rollback beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql


def migrate(database_url: str, folder: Path) -> list[str]:
    """Bring the database to the newest schema; returns what was applied. Safe to run twice, and at once from two places."""
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute((folder / "setup" / "roles.sql").read_bytes())
    with _backend(database_url, folder) as (backend, migrations):
        pending = backend.to_apply(migrations)
        backend.apply_migrations(pending)
        return [migration.id for migration in pending]


def roll_back(database_url: str, folder: Path, *, count: int | None = None) -> list[str]:
    """Undo the newest migrations (all of them by default); returns what was undone."""
    with _backend(database_url, folder) as (backend, migrations):
        applied = backend.to_rollback(migrations)
        chosen = applied if count is None else applied[:count]
        backend.rollback_migrations(chosen)
        return [migration.id for migration in chosen]


def set_password(conn: Connection[Any], role: str, password: str) -> None:
    conn.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(password)))


@contextmanager
def _backend(database_url: str, folder: Path) -> Iterator[tuple[Any, Any]]:
    """The migration tool under its lock, so that two deployments at once take turns."""
    from yoyo import get_backend, read_migrations  # noqa: PLC0415 - only the migrate function has it

    backend = get_backend(database_url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with backend.lock():
            yield backend, read_migrations(str(folder))
    finally:
        backend.connection.close()
