"""The client is a package of its own: it speaks HTTP, needs httpx and nothing else, and both clients have the same calls."""

import ast
import inspect
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import tocsin_client
from tocsin_client import AsyncTocsin, Tocsin, async_client, client

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "clients" / "python"
MODULES = sorted((FOLDER / "tocsin_client").rglob("*.py"))
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text())


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "tocsin_client" if node.level else str(node.module)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_it_imports_nothing_of_the_service_and_only_the_packages_it_declares(module: Path) -> None:
    declared = PROJECT["project"]["dependencies"]
    allowed = {"tocsin_client", *sys.stdlib_module_names} | {line.split(">")[0] for line in declared}

    tops = {name.split(".")[0] for name in imported(ast.parse(module.read_text()))}

    assert tops <= allowed


def test_the_tests_have_the_packages_that_it_declares() -> None:
    tested = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]

    assert set(PROJECT["project"]["dependencies"]) <= set(tested)


def test_the_package_lists_every_folder_that_has_modules_and_says_that_it_is_typed() -> None:
    told = PROJECT["tool"]["setuptools"]

    assert set(told["packages"]) == {".".join(path.parent.relative_to(FOLDER).parts) for path in MODULES}
    assert told["package-data"]["tocsin_client"] == ["py.typed"]
    assert (FOLDER / "tocsin_client" / "py.typed").exists()


def test_its_pythons_and_types_are_checked_as_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert PROJECT["project"]["requires-python"] == project["project"]["requires-python"]
    assert "tocsin_client" in project["tool"]["mypy"]["packages"]
    assert project["tool"]["mypy"]["strict"] is True


def test_what_is_exported_is_there_and_in_order() -> None:
    assert [name for name in tocsin_client.__all__ if not hasattr(tocsin_client, name)] == []
    assert tocsin_client.__all__ == sorted(tocsin_client.__all__)


@pytest.mark.parametrize(
    ("waits", "awaits"),
    [
        (Tocsin, AsyncTocsin),
        (client.Users, async_client.AsyncUsers),
        (client.Tokens, async_client.AsyncTokens),
        (client.Notifications, async_client.AsyncNotifications),
    ],
)
def test_both_clients_have_the_same_calls_with_the_same_arguments(waits: type, awaits: type) -> None:
    def calls(one: type) -> dict[str, inspect.Signature]:
        found = {name: value for name, value in vars(one).items() if callable(value) and not name.startswith("_")}
        return {name: inspect.signature(value) for name, value in found.items() if name not in ("close", "aclose")}

    assert calls(waits) == calls(awaits)
    assert calls(waits)
    assert all(getattr(waits, name).__doc__ for name in calls(waits))


def test_help_shows_the_arguments_of_a_method() -> None:
    made = Tocsin("https://t.example", "k", transport=httpx.MockTransport(lambda _: httpx.Response(204)))

    assert list(inspect.signature(made.cancel).parameters) == ["notification_id"]
