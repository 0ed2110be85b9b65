"""Every command explains itself, with examples that work; exit codes stand in one table."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.conftest import Terminal
from tocsin_cli import __version__
from tocsin_cli.command import Command, Group
from tocsin_cli.exits import MEANINGS
from tocsin_cli.main import ROOT as TOCSIN
from tocsin_cli.main import SECTIONS

ROOT = Path(__file__).parent.parent.parent


def walk(command: click.Command, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, (*names, name))


COMMANDS = dict(walk(TOCSIN))
EXAMPLES = [line for command in COMMANDS.values() for _, line in getattr(command, "examples", ())]


def named(names: tuple[str, ...]) -> str:
    return " ".join(names) or "tocsin"


@pytest.mark.parametrize("names", COMMANDS, ids=named)
def test_the_help_of_a_command_says_what_it_does_and_has_examples(bare: Terminal, names: tuple[str, ...]) -> None:
    ran = bare(*names, "--help")

    assert ran.code == 0
    assert "Examples:\n" in ran.out
    assert "--json" in ran.out
    assert isinstance(COMMANDS[names], Command | Group)
    assert "." in str(COMMANDS[names].help)


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_a_command_line_that_is_understood(line: str) -> None:
    shell = line.replace("\\\n", " ")
    (command,) = re.findall(r"(?:^|\$\(|\| )tocsin (.*?)(?:\)$| \| | > | >/|$)", shell, re.M)[:1]
    words = shlex.split(command)
    context: click.Context = click.Context(TOCSIN, info_name="tocsin")
    found: click.Command = TOCSIN
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        inner = found.get_command(context, words.pop(0))
        assert inner is not None, line
        found = inner

    found.make_context("tocsin", words, parent=context, resilient_parsing=False)


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    for commands in SECTIONS.values():
        for name, (_, summary) in commands.items():
            said = str(COMMANDS[name,].help).strip().splitlines()[0]
            assert said.startswith(summary.removesuffix(".")), name


def test_the_documentation_has_every_command_and_the_table_of_exit_codes() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()

    for code, meaning in MEANINGS.items():
        assert f"| {int(code)} | {meaning} |" in page
    for names, command in COMMANDS.items():
        if names and not isinstance(command, click.Group):
            assert f"tocsin {' '.join(names)}" in page, names


def test_the_version_is_the_packages(bare: Terminal) -> None:
    assert bare("--version").out == f"tocsin {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [("sned",), ("send",), ("users", "import"), ("tail", "--since", "soon"), ("send", "--nonsense")]
)
def test_what_is_not_understood_is_2_and_says_where_examples_are(bare: Terminal, arguments: tuple[str, ...]) -> None:
    ran = bare(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert "--help` has examples" in ran.err


def test_a_command_that_nearly_exists_is_named(bare: Terminal) -> None:
    assert "Did you mean templates" in bare("template").err
