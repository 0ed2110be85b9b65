"""Tools of other people that tests fetch for themselves, once: into .local, never among our own packages."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT

FOLDER = ROOT / ".local" / "fetched"
LONGEST_FETCH = 300.0  # seconds
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1", "CI": "1"}


def from_npm(package: str, version: str, command: str) -> Path:
    """The command of a package of npm; skips the test where there is no node, or no registry."""
    if shutil.which("npm") is None:
        pytest.skip(f"{package} needs node and npm, which are not here")
    fetch = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--fetch-retries=1",
        "--fetch-retry-mintimeout=1000",
        f"{package}@{version}",
    ]

    def install(folder: Path) -> None:
        (folder / "package.json").write_text("{}")  # else npm looks for one further up
        _run(fetch, folder, f"{package} {version}")

    return _kept(f"{command}-{version}", install) / "node_modules/.bin" / command


def from_pypi(package: str, version: str) -> Path:
    """The command of a package of PyPI, in an environment of its own; skips the test where there is no registry."""

    def install(folder: Path) -> None:
        venv.create(folder / "venv", with_pip=True)
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries=1"]
        _run(
            [folder / "venv/bin/python", "-m", "pip", "install", *quiet, f"{package}=={version}"], folder, f"{package} {version}"
        )

    folder = _kept(f"{package}-{version}-{sys.version_info.major}.{sys.version_info.minor}", install)
    return folder / "venv/bin" / package


def _kept(name: str, install: Callable[[Path], None]) -> Path:
    """The folder of this name, filled once. What was begun and not finished is begun again."""
    folder, done = FOLDER / name, FOLDER / f"{name}.done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        install(folder)
        done.touch()
    return folder


def _run(command: list[str | Path], folder: Path, what: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=LONGEST_FETCH, env=os.environ | QUIET)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} cannot be fetched: no end after {LONGEST_FETCH:.0f} seconds")
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).decode(errors="replace").strip().splitlines()
        why = next((line for line in said if line.lower().startswith(("error", "npm error"))), "it does not say why")
        pytest.skip(f"{what} cannot be fetched: {why[:200]}")
