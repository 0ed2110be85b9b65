"""The virtual environment of this folder: whether it can be used, and how it is made afresh when it cannot."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools import bootstrap

OLDEST_PYTHON = (3, 11)
HALF_MADE = "half-made"  # lies in the environment while it is being changed, so that whoever comes next knows

_QUESTION = "import sys, importlib.util as found; print(*sys.version_info[:2], found.find_spec('pip') is not None)"


def fault(folder: Path, wanted: tuple[int, int] | None = None) -> str | None:
    """Why this environment cannot be used, in words to follow "because"; None if it can. `wanted` is the Python asked for."""
    if (folder / HALF_MADE).exists():
        return "an earlier installation was interrupted"
    python = folder / "bin" / "python"
    if not python.exists():  # also where it is a link to a Python that was removed
        return "its Python is gone"
    try:
        said = subprocess.run([python, "-I", "-c", _QUESTION], capture_output=True, text=True, check=True).stdout.split()[-3:]
    except (OSError, subprocess.CalledProcessError):
        return "its Python does not start"
    version = (int(said[0]), int(said[1]))
    if version < OLDEST_PYTHON or version != (wanted or version):
        return f"its Python is {_dotted(version)}, and {_dotted(wanted or OLDEST_PYTHON)} is wanted"
    if said[2] != "True" or not (folder / "bin" / "pip").exists():
        return "it has no pip"
    return None if _is_in_its_place(folder) else "this folder was moved, and its commands are not found where it was"


def make(folder: Path) -> None:
    """Make an environment without packages, with the Python that runs this."""
    folder.mkdir()
    (folder / HALF_MADE).touch()
    # Our own interpreter may be that of the environment which was just removed; the one below it is still there.
    python = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], capture_output=True, text=True, check=False)
    if made.returncode:
        said = f"{made.stdout}{made.stderr}".strip()
        sys.exit(f"{said}\n\nThe virtual environment could not be made. Once that is mended, run the same command again.")
    bootstrap.give_pip(folder)
    (folder / HALF_MADE).unlink()


def retire(folder: Path) -> None:
    """Remove it; out of the way by one rename first, since half a removal must not leave what looks sound."""
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    with suppress(FileNotFoundError):
        folder.rename(old)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def alone(root: Path) -> Iterator[int]:
    """Keep every other `make` of this folder from installing; gives the lock, which ends with the last process that has it."""
    lock = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another make is installing in this folder; waiting for it …", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks: as it would be without us
    try:
        yield lock
    finally:
        os.close(lock)


def _is_in_its_place(folder: Path) -> bool:
    """Every command in bin/ begins with the absolute path of its Python, and pip is one that is always there."""
    with (folder / "bin" / "pip").open(errors="replace") as command:
        beginning = command.readline() + command.readline()
    return any(f"{place}/bin/python" in beginning for place in (folder.absolute(), folder.resolve()))


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
