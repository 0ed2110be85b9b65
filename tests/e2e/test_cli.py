"""Every session of docs/cli.md works as pasted, with the command line in a process of its own and a whole stack behind it."""

import os
import re
import sys
from pathlib import Path

import pytest

from devstack.launch import ROOT, RunningStack, started_stack
from tests.e2e.client import Client
from tests.e2e.test_docs import run

PAGE = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "cli.md").read_text(), re.S)
DEMO = "tocsin demo\n"
SESSIONS = [session for session in PAGE if session != DEMO]


def typed(session: str, stack: RunningStack, folder: Path) -> str:
    """Typed in a folder where the local stack runs, by somebody with nothing else configured."""
    program = folder / "bin" / "tocsin"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "cli"}" exec "{sys.executable}" -m tocsin_cli "$@"\n')
    program.chmod(0o755)
    head = f"""
        unset TOCSIN_URL TOCSIN_KEY TOCSIN_PROFILE TOCSIN_CONFIG XDG_CONFIG_HOME
        export HOME="{folder}" PATH="{program.parent}:{os.environ["PATH"]}"
    """
    return run(f"{head}\n{session}", stack, folder)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.split("\n")[0][:50])
def test_a_session_of_the_page_works_as_pasted(running_stack: RunningStack, tmp_path: Path, session: str) -> None:
    assert typed(session, running_stack, tmp_path)


def test_the_demonstration_works_as_pasted(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On a stack of its own: it makes providers fail."""
    assert DEMO in PAGE

    with started_stack(tmp_path_factory.mktemp("demo")) as stack:
        assert typed(DEMO, stack, tmp_path)


def test_what_is_sent_from_the_command_line_arrives(running_stack: RunningStack, tmp_path: Path) -> None:
    line = 'tocsin send --email dora@example.com --type hello --title "Hello, Dora" --wait'

    said = typed(line, running_stack, tmp_path)

    assert "published  email to" in said
    assert [mail["subject"] for mail in Client.of(running_stack).mails_to("dora@example.com")] == ["Hello, Dora"]
