"""Node, npm, and the packages as npm would publish them: made in a copy, so that the tree stays as it is."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tools.asset_versions import IMPORT

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "clients" / "js"
WEB = ROOT / "functions" / "inbox_api" / "web"
PINNED = Path(__file__).with_name("npm")
NAMES = ("client", "inbox")
PATIENCE = 120
OLDEST = 18


def find_node() -> str | None:
    """A Node that is new enough."""
    program = shutil.which("node")
    if program is None:
        return None
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return program if version.startswith("v") and int(version[1:].split(".")[0]) >= OLDEST else None


def node() -> str:
    """Where there is none the test is skipped, or fails if TOCSIN_REQUIRE_NODE is set."""
    program = find_node()
    if program is None:
        missing = f"Node {OLDEST} or newer is not installed: `apt-get install nodejs`."
        (pytest.fail if os.environ.get("TOCSIN_REQUIRE_NODE") else pytest.skip)(missing)
    return program


def npm() -> str:
    node()
    program = shutil.which("npm")
    if program is None:
        pytest.skip("npm is not installed; Node alone is enough for the other tests of clients/js.")
    return program


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What it printed; it must end well."""
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def pack(folder: Path) -> dict[str, list[str]]:
    """The packages under `folder/node_modules`, from the archives that npm makes of them; answers the files of each."""
    copy = folder / "tree"
    for path in (SOURCES, WEB):
        shutil.copytree(path, copy / path.relative_to(ROOT), ignore=_what_git_ignores)
    shutil.copy(ROOT / "LICENSE", copy)
    sources = copy / SOURCES.relative_to(ROOT)
    told = json.loads(run(npm(), "pack", "--json", *(f"--workspace={name}" for name in NAMES), cwd=sources))
    archives = {one["name"]: one for one in (told.values() if isinstance(told, dict) else told)}
    for name, one in archives.items():
        with tarfile.open(sources / one["filename"]) as archive:
            archive.extractall(folder / "unpacked" / name, filter="data")
        target = folder / "node_modules" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder / "unpacked" / name / "package").rename(target)
    return {name: sorted(each["path"] for each in one["files"]) for name, one in archives.items()}


def bell() -> dict[str, str]:
    """The bell's files as they are shipped: as the service has them, but for the versions in their imports."""
    return {path.name: IMPORT.sub(r'"./\g<name>"', path.read_text("utf-8")) for path in WEB.glob("tocsin-inbox*.js")}


def add_fetched(folder: Path) -> None:
    """React, TypeScript and esbuild beside the packages, in the versions of npm/package-lock.json."""
    modules = _fetched(npm())
    if isinstance(modules, str):
        pytest.skip(f"npm could not fetch what is needed: {modules}")
    for path in modules.iterdir():
        if not path.name.startswith("@") and not (folder / "node_modules" / path.name).exists():
            (folder / "node_modules" / path.name).symlink_to(path)
    for path in modules.glob("@*/*"):
        scoped = folder / "node_modules" / path.parent.name / path.name
        scoped.parent.mkdir(exist_ok=True)
        scoped.symlink_to(path)


@cache
def _fetched(npm: str) -> Path | str:
    """The folder that is kept under .local, or why there is none."""
    lock = (PINNED / "package-lock.json").read_bytes()
    kept = ROOT / ".local" / "cache" / f"npm-{hashlib.sha256(lock).hexdigest()[:16]}"
    if kept.exists():
        return kept / "node_modules"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as made:
        fresh = Path(made) / "fresh"
        shutil.copytree(PINNED, fresh)
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000"]
        try:
            done = subprocess.run([npm, "ci", *options], cwd=fresh, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return f"it took more than {PATIENCE} s"
        if done.returncode:
            return "; ".join(line for line in done.stderr.splitlines() if line.startswith("npm error"))[:200]
        try:
            fresh.rename(kept)
        except OSError:  # another process was quicker
            assert kept.exists()
    return kept / "node_modules"


def _what_git_ignores(folder: str, names: list[str]) -> set[str]:
    gathered = {"LICENSE", *bell()}
    return {name for name in names if name == "node_modules" or (Path(folder).parent == SOURCES and name in gathered)}
