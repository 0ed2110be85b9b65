"""Bring .venv up to what requirements/<group>.txt lists: `python -m tools.install run`. Make does it before all that needs it."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (this is where somebody with an older one is told)
    sys.exit(f"Tocsin needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.13 …")

import argparse
import hashlib
import re
from pathlib import Path

from tools import environment, installers
from tools.pip_output import counted

VENV = Path(".venv")
# What each group is for, and about how many megabytes its packages take on a disk.
GROUPS = {
    "run": ("the local stack", 160),
    "test": ("the tests and checks", 360),
    "build": ("what builds and deploys", 220),
    "bench": ("the bench and its peers", 380),
    "lambda": ("what Lambda's own Python has", 40),  # for an environment of its own: tools/lambda_build.py
}


def install(group: str, *, wanted: tuple[int, int] | None) -> None:
    """Do what is missing and nothing else: where all is up to date, this takes a few milliseconds."""
    requirements = Path("requirements") / f"{group}.txt"
    with environment.alone(Path.cwd()) as lock:
        is_new = not (VENV.is_symlink() or VENV.exists())
        reason = None if is_new else environment.fault(VENV, wanted)
        if not is_new and not reason and _is_installed(group):
            return
        if reason:
            print(f"Making .venv afresh, because {reason}.", flush=True)
            environment.retire(VENV)
        _announce(group, requirements)
        if is_new or reason:
            environment.make(VENV)
        for other in GROUPS:  # of another checkout: what it stands for may be replaced now
            if not _is_installed(other):
                _stamp(other).unlink(missing_ok=True)
        installers.bring(VENV, requirements, missing(requirements), lock)
        _stamp(group).write_text(_state(group))
        (VENV / environment.HALF_MADE).unlink(missing_ok=True)


def missing(requirements: Path) -> int:
    """How many of the listed packages are not there yet."""
    pinned = re.findall(r"^([\w.-]+)==([^ ;\\]+)(?!.*== 'win32')", requirements.read_text(), re.MULTILINE)
    present = {each.name.lower().replace("_", "-") for each in VENV.glob("lib/python3*/site-packages/*.dist-info")}
    return sum(f"{name}-{version}.dist-info".lower().replace("_", "-") not in present for name, version in pinned)


def _announce(group: str, requirements: Path) -> None:
    purpose, megabytes = GROUPS[group]
    if count := missing(requirements):
        print(f"Installing {purpose} into .venv: {counted(count)} to fetch, {megabytes} MB in all once unpacked.")
        print("The first time takes seconds on a fast line, a few minutes on a slow one.", flush=True)


def _stamp(group: str) -> Path:
    return VENV / f"{group}.installed"


def _state(group: str) -> str:
    return hashlib.sha256(Path("requirements", f"{group}.txt").read_bytes()).hexdigest()


def _is_installed(group: str) -> bool:
    return _stamp(group).exists() and _stamp(group).read_text() == _state(group)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tools.install", description="Install a group of packages into .venv.")
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--this-python", action="store_true", help="the Python that runs this was asked for by name")
    options = parser.parse_args()
    try:
        install(options.group, wanted=sys.version_info[:2] if options.this_python else None)
    except OSError as error:
        sys.exit(f"{error}\n\nNothing is lost: once that is mended, run the same command again.")
