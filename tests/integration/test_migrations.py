"""The ground: up, down and up again is the same schema, and what it promises is in its catalogue."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from devstack.postgres import Postgres
from tests.integration.catalogue import catalogue
from tests.world import World
from tocsin.store import migrations as known
from tocsin.upkeep.migrate import migrate, roll_back

FOLDER = Path(__file__).parent.parent.parent / "migrations"
ROLES = ("tocsin_app", "tocsin_worker", "tocsin_retention")


@pytest.fixture
def blank(server: Postgres) -> Iterator[str]:
    """The address of a database with nothing in it."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE blank")
    yield server.dsn("blank")
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("DROP DATABASE blank WITH (FORCE)")


def _catalogue(url: str) -> list[str]:
    with psycopg.connect(url, autocommit=True) as conn:
        return catalogue(conn)


def _spelt_alike(lines: list[str]) -> list[str]:
    """A table's owner has the same rights whether they are written down, as after a GRANT and its REVOKE, or not."""
    return sorted(line.replace("{postgres=arwdDxtm/postgres}", "") for line in lines)


def test_up_down_and_up_again_gives_the_same_schema(blank: str) -> None:
    nothing = _catalogue(blank)
    applied = migrate(blank, FOLDER)
    first = _catalogue(blank)

    undone = roll_back(blank, FOLDER)
    empty = _catalogue(blank)
    migrate(blank, FOLDER)

    assert undone == list(reversed(applied))
    assert len(first) > 200
    assert [line for line in empty if "'public'" not in line] == [line for line in nothing if "'public'" not in line]
    assert _catalogue(blank) == first


def test_each_migration_can_be_undone_alone_and_done_again(blank: str, tmp_path: Path) -> None:
    """Each step back leads to the very schema from which the step was made, so the way up is the same from any of them."""
    names = sorted(path.name.removesuffix(".rollback.sql") for path in FOLDER.glob("*.rollback.sql"))
    shutil.copytree(FOLDER / "setup", tmp_path / "setup")
    migrate(blank, tmp_path)
    steps = [_catalogue(blank)]
    for name in names:
        for file in FOLDER.glob(f"{name}.*"):
            shutil.copy(file, tmp_path)
        assert migrate(blank, tmp_path) == [name]
        steps.append(_catalogue(blank))
    whole = steps.pop()

    for name, before in reversed(list(zip(names, steps, strict=True))):
        assert roll_back(blank, tmp_path, count=1) == [name]
        assert _spelt_alike(_catalogue(blank)) == _spelt_alike(before), name
        for file in tmp_path.glob(f"{name}.*"):
            file.unlink()
    assert migrate(blank, FOLDER) == names
    assert _catalogue(blank) == whole


def test_a_second_run_applies_nothing(blank: str) -> None:
    migrate(blank, FOLDER)

    assert migrate(blank, FOLDER) == []


def test_the_code_needs_the_newest_migration_there_is() -> None:
    ids = sorted(path.name.removesuffix(".sql") for path in FOLDER.glob("*.sql") if "rollback" not in path.name)

    assert ids[-1] == known.EXPECTED


def test_every_migration_has_its_rollback_beside_it() -> None:
    forward = {path.name.removesuffix(".sql") for path in FOLDER.glob("*.sql") if "rollback" not in path.name}

    assert forward == {path.name.removesuffix(".rollback.sql") for path in FOLDER.glob("*.rollback.sql")}


@pytest.fixture
def conn(world: World) -> Connection[Any]:
    return world.admin


def _names(conn: Connection[Any], query: str) -> set[str]:
    return {row[0] for row in conn.execute(query).fetchall()}  # type: ignore[call-overload]


def test_the_three_roles_own_nothing_and_cannot_pass_by_the_policies(conn: Connection[Any]) -> None:
    owned = conn.execute("SELECT count(*) FROM pg_class WHERE relowner::regrole::text = ANY(%s)", [list(ROLES)]).fetchone()
    powers = conn.execute(
        """SELECT rolname, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication
           FROM pg_roles WHERE rolname = ANY(%s) ORDER BY rolname""",
        [list(ROLES)],
    ).fetchall()

    assert owned == (0,)
    assert powers == [(role, False) for role in sorted(ROLES)]


@pytest.mark.parametrize("role", ROLES)
def test_no_role_has_its_statements_compiled(world: World, role: str) -> None:
    with psycopg.connect(world.dsn(role), autocommit=True) as conn:
        assert conn.execute("SHOW jit").fetchone() == ("off",)


def test_every_table_with_a_tenant_forces_row_level_security_on_everyone(conn: Connection[Any]) -> None:
    with_tenant = _names(
        conn, "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'"
    )
    forced = _names(conn, "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")

    assert with_tenant >= {"records", "routes", "attempts", "outbox", "dead_letters", "users", "devices", "api_keys"}
    assert with_tenant <= forced
    assert {"tenants", "lanes"} <= forced


def test_every_table_with_a_tenant_has_a_policy_for_the_application_that_reads_and_writes_its_tenant_only(
    conn: Connection[Any],
) -> None:
    rows = conn.execute(
        """SELECT tablename, qual, COALESCE(with_check, qual) FROM pg_policies
           WHERE schemaname = 'public' AND policyname = 'own_tenant' AND roles = '{tocsin_app}'"""
    ).fetchall()
    # api_keys names the setting itself: with a key's hash it is read before its tenant is known
    tenant = re.compile(r"tocsin_tenant\(\)|current_setting\('tocsin\.tenant'")
    guarded = {table for table, using, check in rows if tenant.search(using) and tenant.search(check)}

    assert guarded == _names(
        conn, "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'"
    ) | {"tenants"}


def test_nothing_is_granted_to_everyone(conn: Connection[Any]) -> None:
    public = conn.execute(
        """SELECT table_name, privilege_type FROM information_schema.role_table_grants
           WHERE grantee = 'PUBLIC' AND table_schema = 'public'"""
    ).fetchall()

    assert public == []


def test_a_function_that_runs_with_its_owners_rights_would_fix_its_search_path(conn: Connection[Any]) -> None:
    careless = conn.execute(
        """SELECT proname FROM pg_proc
           WHERE pronamespace = 'public'::regnamespace AND prosecdef
             AND NOT COALESCE(proconfig::text, '') LIKE '%search_path%'"""
    ).fetchall()

    assert careless == []


@pytest.mark.parametrize(
    ("role", "table", "privilege"),
    [
        ("tocsin_app", "records", "DELETE"),
        ("tocsin_app", "attempts", "UPDATE"),
        ("tocsin_app", "dead_letters", "INSERT"),
        ("tocsin_app", "admin_system_events", "UPDATE"),
        ("tocsin_app", "lanes", "INSERT"),
        ("tocsin_app", "lanes", "UPDATE"),
        ("tocsin_worker", "records", "DELETE"),
        ("tocsin_worker", "users", "UPDATE"),
        ("tocsin_worker", "api_keys", "UPDATE"),
        ("tocsin_retention", "users", "SELECT"),
        ("tocsin_retention", "api_keys", "SELECT"),
        ("tocsin_retention", "records", "INSERT"),
        ("tocsin_app", "templates", "DELETE"),
        ("tocsin_app", "templates", "UPDATE"),
        ("tocsin_app", "provider_events", "INSERT"),
        ("tocsin_app", "audit_logs", "UPDATE"),
        ("tocsin_app", "audit_logs", "DELETE"),
        ("tocsin_worker", "templates", "INSERT"),
        ("tocsin_worker", "provider_configs", "UPDATE"),
        ("tocsin_worker", "provider_configs", "INSERT"),
        ("tocsin_worker", "audit_logs", "SELECT"),
        ("tocsin_worker", "audit_logs", "UPDATE"),
        ("tocsin_worker", "audit_logs", "DELETE"),
        ("tocsin_retention", "audit_logs", "INSERT"),
        ("tocsin_app", "audit_heads", "DELETE"),
        ("tocsin_retention", "audit_heads", "INSERT"),
        ("tocsin_worker", "suppressions", "DELETE"),
        ("tocsin_retention", "provider_configs", "SELECT"),
    ],
)
def test_no_role_may_do_more_than_its_work(conn: Connection[Any], role: str, table: str, privilege: str) -> None:
    assert conn.execute("SELECT has_table_privilege(%s, %s, %s)", [role, table, privilege]).fetchone() == (False,)
