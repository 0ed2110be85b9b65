"""Who fetches and unpacks packages: uv, which fetches all at once, and pip wherever uv cannot be had or does not manage."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
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
_UV = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_HTTP_RETRIES": "2"}
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|os error (28|122)\b")
_NO_WAY = re.compile(r"ConnectionPool|ProxyError|SSLError|timed out|Connection (refused|reset|aborted|broken)")


_AGAIN = "Nothing is lost: once it is mended, run the same command again."


def bring(folder: Path, requirements: Path, count: int, lock: int) -> None:
    """Whatever is listed and missing comes into the environment, or the program ends and says why."""
    settings = PipSettings.of_this_machine()
    errand = Errand(folder, settings, lock, reachable.fault(settings) if count else None)
    started = time.monotonic()
    if errand.fault:
        print(f"{errand.fault}\npip tries it all the same.", flush=True)
    done = errand.by_uv(requirements, count) or errand.by_pip(requirements, count)
    if count:
        print(f"Installed {done}, in {time.monotonic() - started:.0f} s.", flush=True)


@dataclass(frozen=True, slots=True)
class Errand:
    folder: Path
    settings: PipSettings
    lock: int  # held by installers too: if only we are killed, nobody installs beside them
    fault: str | None  # of the package index, as far as we can tell: pip may know another way

    def by_uv(self, requirements: Path, count: int) -> str | None:
        """What was installed, in words; None if pip is to do it."""
        if not UV.exists() or self.fault:
            return None
        if setting := self.settings.unknown_to_uv:
            print(f"pip does it, not uv, because pip has a setting of its own: {setting}.", flush=True)
            return None
        if not self._has_uv() and (count < WORTH_UV or not self._fetch_uv()):
            return None
        # uv does not say when it begins to unpack, so the environment counts as half made until it is done.
        mark, before = self.folder / environment.HALF_MADE, self._content()
        mark.touch()
        command = [
            f"{self.folder}/bin/uv",
            "pip",
            "install",
            "--python",
            f"{self.folder}/bin/python",
            "--require-hashes",
            "--no-deps",
        ]
        command += [*(["--no-index"] if self.settings.uses_no_index else []), "-r", str(requirements)]
        output = UvOutput()
        status = progress.run(command, _UV | self.settings.for_uv(), output, self.lock)
        if self._content() == before:
            mark.unlink(missing_ok=True)
        if status == 0:
            return counted(output.done)
        self._end_if_full(output.rest)
        print(f"uv does not manage ({_first(output.rest)}), so pip does it.", flush=True)
        return None

    def by_pip(self, requirements: Path, count: int) -> str:
        output = PipOutput(count)

        def note() -> None:
            if output.is_unpacking:
                (self.folder / environment.HALF_MADE).touch()

        if self._pip(requirements, output, note):
            self._end_if_full(output.rest)
            if self.fault:
                sys.exit(f"Nothing came from it.\n\n{reachable.advice(self.settings)}")
            words = reachable.advice(self.settings) if any(map(_NO_WAY.search, output.rest)) else _AGAIN
            sys.exit("\n".join([*output.rest, "", "That was pip.", words]))
        return f"{counted(output.done)}, {shown(output.fetched)}"

    def _pip(self, requirements: Path, output: PipOutput, note: Callable[[], None] | None = None) -> int:
        """Nothing is compiled: most modules are never imported here, and the others compile themselves when they first are."""
        command = [f"{self.folder}/bin/python", "-m", "pip", "install", "--no-compile", "--no-deps", "-r", str(requirements)]
        command += ["--only-binary", "uv"]  # from its source it would take a compiler and minutes
        tries = {} if "retries" in self.settings.options else {"PIP_RETRIES": "0" if self.fault else "2"}
        return progress.run(command, _PIP | tries, output, self.lock, note)

    def _has_uv(self) -> bool:
        (version,) = re.findall(r"^uv==(\S+)", UV.read_text(), re.MULTILINE)
        return f"uv-{version}.dist-info" in self._content()

    def _fetch_uv(self) -> bool:
        output = PipOutput(1)
        if self._pip(UV, output) == 0:
            return True
        self._end_if_full(output.rest)
        print(f"uv cannot be had ({_first(output.rest)}), so pip does it.", flush=True)
        return False

    def _content(self) -> set[str]:
        return {path.name for path in self.folder.glob("lib/python3*/site-packages/*")}

    def _end_if_full(self, said: list[str]) -> None:
        if any(map(_NO_SPACE.search, said)):
            places = dict.fromkeys([self.folder.absolute().parent, Path(tempfile.gettempdir()), Path.home()])
            room = "\n".join(f"  {shutil.disk_usage(place).free / 1e6:8.0f} MB free in {place}" for place in places)
            sys.exit(f"The disk is full. Packages are fetched, kept and unpacked in these places:\n{room}\n{_AGAIN}")


def _first(lines: list[str]) -> str:
    return lines[0].removeprefix("error: ").removeprefix("ERROR: ") if lines else "it says nothing"
