"""Shells complete commands, options, choices, and names of profiles and templates."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def environment(home: Path, **more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "cli"), "TOCSIN_CONFIG": str(home / "config.toml")} | more


def completed(home: Path, line: str) -> list[str]:
    words = line.split(" ")
    env = environment(home, _TOCSIN_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    done = subprocess.run(
        [sys.executable, "-c", "from tocsin_cli.main import run; run()"],
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [one.partition(",")[2] for one in done.stdout.splitlines() if one]


def test_commands_options_choices_and_names_are_completed(home: Path) -> None:
    (home / "config.toml").write_text(
        '[profiles.prod]\nurl = "https://a.example"\n[profiles.preview]\nurl = "https://b.example"\n'
    )
    (home / "templates" / "parcel-sent").mkdir(parents=True)

    assert completed(home, "tocsin te") == ["templates", "tenants"]
    assert completed(home, "tocsin dead-letters re") == ["replay", "resolve"]
    assert "--dry-run" in completed(home, "tocsin send --d")
    assert completed(home, "tocsin send --channel s") == ["sms"]
    assert completed(home, "tocsin status --profile pr") == ["prod", "preview"]
    assert completed(home, "tocsin profiles use pre") == ["preview"]
    assert completed(home, "tocsin templates preview par") == ["parcel-sent"]


def test_a_file_of_profiles_that_cannot_be_read_completes_nothing(home: Path) -> None:
    (home / "config.toml").write_text("this is not toml")

    assert completed(home, "tocsin status --profile pr") == []


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
