"""The command line is a package of its own: it speaks HTTP, and everything that it prints goes one way."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "cli" / "tocsin_cli"
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "tocsin_cli" if node.level else str(node.module)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_it_imports_nothing_of_the_service_and_only_the_packages_it_declares(module: Path) -> None:
    declared = tomllib.loads((ROOT / "cli" / "pyproject.toml").read_text())["project"]["dependencies"]
    allowed = {"tocsin_cli", *sys.stdlib_module_names} | {line.split(">")[0] for line in declared}

    tops = {name.split(".")[0] for name in imported(ast.parse(module.read_text()))}

    assert tops <= allowed


def test_there_is_something_to_read() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("module", [one for one in MODULES if one.stem != "output"], ids=lambda path: path.stem)
def test_only_one_module_prints(module: Path) -> None:
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call)}

    assert not calls & {"print", "click.echo", "click.secho", "click.confirm", "click.prompt", "sys.stdout.write", "Console"}


def test_the_tests_have_the_packages_that_the_command_line_declares() -> None:
    declared = tomllib.loads((ROOT / "cli" / "pyproject.toml").read_text())["project"]["dependencies"]
    tested = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]

    assert set(declared) <= set(tested)


def test_the_package_lists_every_folder_that_has_modules() -> None:
    listed = tomllib.loads((ROOT / "cli" / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]

    assert set(listed) == {".".join(path.parent.relative_to(ROOT / "cli").parts) for path in MODULES}
