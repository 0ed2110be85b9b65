"""Who fetches and unpacks packages: uv, which fetches all at once, and pip wherever uv cannot be had or does not manage."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tools import environment, progress, reachable
from tools.pip_output import PipOutput, counted, shown
from tools.pip_settings import PipSettings
from tools.uv_output import UvOutput

UV = Path("requirements/installers/uv.txt")
WORTH_UV = 10  # fewer packages than this pip brings in less time than uv itself takes to fetch
_PIP = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_NO_COLOR": "1",
    "PIP_USER": "0",
}
_UV = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1", "UV_PYTHON_DOWNLOADS": "never"}
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|os error (28|122)\b")
_NO_WAY = re.compile(r"ConnectionPool|ProxyError|SSLError|timed out|Connection (refused|reset|aborted|broken)")


def bring(folder: Path, requirements: Path, count: int, lock: int) -> None:
    """Whatever is listed and missing comes into the environment, or the program ends and says why."""
    settings = PipSettings.of_this_machine()
    started = time.monotonic()
    done = _by_uv(folder, requirements, count, settings, lock) or _by_pip(folder, requirements, count, settings, lock)
    if count:
        print(f"Installed {done}, in {time.monotonic() - started:.0f} s.", flush=True)


def _by_uv(folder: Path, requirements: Path, count: int, settings: PipSettings, lock: int) -> str | None:
    """What was installed, in words; None if pip is to do it."""
    if not _has_uv(folder) and (count < WORTH_UV or not _fetch_uv(folder, settings, lock)):
        return None
    if settings.unknown_to_uv:
        print(f"pip does it, not uv, because of pip's own setting {settings.unknown_to_uv}.", flush=True)
        return None
    # uv does not say when it begins to unpack, so the environment counts as half made until it is done.
    mark, before = folder / environment.HALF_MADE, _content(folder)
    mark.touch()
    command = [str(folder / "bin" / "uv"), "pip", "install", "--python", str(folder / "bin" / "python")]
    command += ["--require-hashes", "--no-deps", *(["--no-index"] if settings.uses_no_index else []), "-r", str(requirements)]
    output = UvOutput()
    status = progress.run(command, _UV | _patience("UV_HTTP_RETRIES", {}) | settings.for_uv(), output, lock)
    if _content(folder) == before:
        mark.unlink(missing_ok=True)
    if status == 0:
        return counted(output.done)
    _end_if_full(output.rest, folder)
    if (reason := reachable.fault(settings)) and "cannot be reached" in reason:
        sys.exit(f"{reason}\n{reachable.advice(settings)}")
    print(f"uv does not manage ({_last(output.rest)}), so pip does it.", flush=True)
    return None


def _by_pip(folder: Path, requirements: Path, count: int, settings: PipSettings, lock: int) -> str:
    output = PipOutput(count)

    def note() -> None:
        if output.is_unpacking:
            (folder / environment.HALF_MADE).touch()

    if _pip(folder, requirements, output, settings, lock, note):
        _end_if_full(output.rest, folder)
        if reason := reachable.fault(settings):
            sys.exit(f"{reason}\n{reachable.advice(settings)}")
        words = reachable.advice(settings) if any(map(_NO_WAY.search, output.rest)) else _AGAIN
        sys.exit("\n".join([*output.rest, "", "That was pip.", words]))
    return f"{counted(output.done)}, {shown(output.fetched)}"


_AGAIN = "Nothing is lost: once it is mended, run the same command again."


def _pip(
    folder: Path, requirements: Path, output: PipOutput, settings: PipSettings, lock: int, note: Callable[[], None] = lambda: None
) -> int:
    """Nothing is compiled: most modules are never imported here, and the others compile themselves when they first are."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--no-compile", "--no-deps", "-r", str(requirements)]
    command += ["--only-binary", "uv"]  # from its source it would take a compiler and minutes
    return progress.run(command, _PIP | _patience("PIP_RETRIES", settings.options), output, lock, note)


def _has_uv(folder: Path) -> bool:
    return UV.exists() and any(folder.glob(f"lib/python3*/site-packages/uv-{_version()}.dist-info"))


def _version() -> str:
    return re.findall(r"^uv==(\S+)", UV.read_text(), re.MULTILINE)[0]


def _fetch_uv(folder: Path, settings: PipSettings, lock: int) -> bool:
    if not UV.exists() or settings.unknown_to_uv:
        return False
    output = PipOutput(1)
    if _pip(folder, UV, output, settings, lock) == 0:
        return True
    _end_if_full(output.rest, folder)
    if (reason := reachable.fault(settings)) and "cannot be reached" in reason:
        sys.exit(f"{reason}\n{reachable.advice(settings)}")
    print("uv cannot be had here, so pip does it.", flush=True)
    return False


def _patience(name: str, options: Mapping[str, str]) -> dict[str, str]:
    """Fewer tries than their own, unless somebody has said how many: an index that is not there is to be told soon."""
    return {} if name in os.environ or "retries" in options else {name: "2"}


def _content(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("lib/python3*/site-packages/*")}


def _last(lines: list[str]) -> str:
    return (lines or ["it says nothing"])[0].removeprefix("error: ").removeprefix("ERROR: ")


def _end_if_full(said: list[str], folder: Path) -> None:
    if any(map(_NO_SPACE.search, said)):
        places = dict.fromkeys([folder.absolute().parent, Path(tempfile.gettempdir()), Path.home()])
        room = "\n".join(f"  {shutil.disk_usage(place).free / 1e6:8.0f} MB free in {place}" for place in places)
        sys.exit(f"The disk is full: packages are fetched, kept and unpacked in these places.\n{room}\n{_AGAIN}")
