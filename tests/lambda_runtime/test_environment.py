"""What a function has around it: the variables that the template gives it, the packages that were built, and nothing else."""

from pathlib import Path

import psutil
import psycopg

from devstack.launch import RunningStack
from tests.lambda_runtime.functions import (
    another,
    did_not_start,
    environments,
    layer_of,
    linked,
    missing_settings,
    running,
    undeclared,
)


def test_every_function_has_what_the_template_and_lambda_give_it_and_no_more(running_stack: RunningStack) -> None:
    running(running_stack, "SweepFunction")

    found = list(environments(running_stack))

    assert {"MigrateFunction", "SweepFunction"} <= {name for name, _ in found}
    assert [(name, undeclared(name, environ)) for name, environ in found if undeclared(name, environ)] == []
    assert {environ["DATABASE_SSLMODE"] for _, environ in found} == {"verify-full"}


def test_a_variable_that_the_template_does_not_give_is_found(running_stack: RunningStack, tmp_path: Path) -> None:
    with another(running_stack, "SweepFunction", tmp_path / "log", LEAKED="1") as sweep:
        assert sweep.invoke({}).error is None
        (process,) = psutil.Process(sweep.pid).children()

        assert undeclared("SweepFunction", process.environ()) == {"LEAKED"}


def test_a_variable_that_a_function_reads_and_is_not_given_is_found(running_stack: RunningStack, tmp_path: Path) -> None:
    with another(running_stack, "SweepFunction", tmp_path / "log", without="DATABASE_NAME") as sweep:
        outcome = sweep.invoke({})

    assert outcome.error
    assert outcome.error["errorType"] == "MissingSetting"
    assert missing_settings((tmp_path / "log").read_text()) == {"DATABASE_NAME"}


def test_a_package_that_the_layer_lacks_keeps_the_function_from_starting_and_is_named(
    running_stack: RunningStack, tmp_path: Path
) -> None:
    layer = linked(layer_of(running_stack, "SweepFunction"), tmp_path / "layer", but=Path("python", "psycopg"))

    with another(running_stack, "SweepFunction", tmp_path / "log", layer=layer) as sweep:
        outcome = sweep.invoke({})
        is_alive = sweep.is_alive

    assert outcome.error
    assert outcome.error["errorType"] == "Runtime.ImportModuleError"
    assert "No module named 'psycopg'" in outcome.error["errorMessage"]
    assert did_not_start((tmp_path / "log").read_text())
    assert not is_alive


def test_the_owner_of_the_database_is_no_superuser(running_stack: RunningStack) -> None:
    with psycopg.connect(running_stack.dev["database_url"]) as conn:
        owners = conn.execute(
            """
            SELECT DISTINCT rolname, rolsuper, rolreplication, rolbypassrls, rolcreaterole, rolcreatedb
            FROM pg_tables JOIN pg_roles ON rolname = tableowner WHERE schemaname = 'public'
            """
        ).fetchall()

    assert owners == [("tocsin_owner", False, False, False, True, True)]
