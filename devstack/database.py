"""The local RDS: a Postgres that knows a master user who is no superuser, and holds one empty database."""

import psycopg
from psycopg import sql

from devstack.postgres import Postgres, PostgresError
from devstack.state import RefusalError, State


def start(postgres: Postgres, state: State) -> None:
    """Start the server, or say what to do about the one that does not start."""
    try:
        postgres.start()
    except (PostgresError, OSError) as error:
        raise RefusalError(
            f"The database in {state.postgres} does not start.\n{error}\n\n"
            f"Its whole log:            {postgres.log}\n"
            f"Start without the data:   make dev RESET=1"
        ) from error


def create(postgres: Postgres, name: str, owner: str, password: str) -> None:
    """Make the master user and the database, unless they are there; neither can do more than on RDS."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as conn:
        if not conn.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [owner]).fetchone():
            conn.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE CREATEDB").format(sql.Identifier(owner)))
        conn.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(owner), sql.Literal(password)))
        if not conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            create = sql.SQL("CREATE DATABASE {} OWNER {}")
            conn.execute(create.format(sql.Identifier(name), sql.Identifier(owner)))
