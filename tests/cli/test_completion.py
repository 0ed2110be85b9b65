"""Shells complete commands, options, choices, and names of profiles and templates."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from tocsin_cli.main import ROOT as TOCSIN

ROOT = Path(__file__).parent.parent.parent


def environment(home: Path, **more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "cli"), "TOCSIN_CONFIG": str(home / "config.toml")} | more


def completed(line: str) -> list[str]:
    *words, incomplete = line.split(" ")[1:]
    found = BashComplete(TOCSIN, {}, "tocsin", "_TOCSIN_COMPLETE").get_completions(words, incomplete)
    return [str(one.value) for one in found]


def test_commands_options_choices_and_names_are_completed(home: Path) -> None:
    (home / "config.toml").write_text(
        '[profiles.prod]\nurl = "https://a.example"\n[profiles.preview]\nurl = "https://b.example"\n'
    )
    (home / "templates" / "parcel-sent").mkdir(parents=True)

    assert completed("tocsin te") == ["templates", "tenants"]
    assert completed("tocsin dead-letters re") == ["replay", "resolve"]
    assert "--dry-run" in completed("tocsin send --d")
    assert completed("tocsin send --channel s") == ["sms"]
    assert completed("tocsin status --profile pr") == ["prod", "preview"]
    assert completed("tocsin profiles use pre") == ["preview"]
    assert completed("tocsin templates preview par") == ["parcel-sent"]


def test_a_file_of_profiles_that_cannot_be_read_completes_nothing(home: Path) -> None:
    (home / "config.toml").write_text("this is not toml")

    assert completed("tocsin status --profile pr") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(home: Path, shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tocsin_cli", "completion", shell],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"_TOCSIN_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to ask")
def test_bash_completes_with_the_script(home: Path) -> None:
    """As a shell does it: the script is read, and its function asked for what a line could become."""
    program = home / "bin" / "tocsin"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tocsin_cli "$@"\n')
    program.chmod(0o755)
    env = environment(home, PATH=f"{program.parent}:{os.environ['PATH']}")
    script = """
        eval "$(tocsin completion bash)"
        function=$(complete -p tocsin | sed -E 's/.*-F ([^ ]+).*/\\1/')
        COMP_WORDS=(tocsin da); COMP_CWORD=1; $function tocsin da tocsin; echo "first: ${COMPREPLY[*]}"
        COMP_WORDS=(tocsin dea); COMP_CWORD=1; $function tocsin dea tocsin; echo "second: ${COMPREPLY[*]}"
    """

    done = subprocess.run(["/bin/bash", "-c", script], env=env, cwd=home, capture_output=True, text=True, check=False)

    assert done.stdout == "first: \nsecond: dead-letters\n", done.stderr
