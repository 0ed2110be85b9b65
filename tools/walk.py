"""How far must a reader go to follow one email, or one event? `python -m tools.walk` traces both and counts files and turns back.

A walk is made for real: the doors are called with the events that API Gateway and SQS would send, on a Postgres of its own. Every
function of `functions/` and `layers/shared/tocsin/` is noted when it is *first* entered; in that order it is read.

- A nested function, a lambda or a comprehension is read with the function around it and is no place of its own; what runs while a
  module is imported is not part of the walk.
- *Files*: how many files the noted functions stand in.
- *Turns back*: how often the next function stands in another file than the last one, in a file that was read in before.
- Both also without `foundation/` and `http/`, which every walk stands on and nobody reads again.

The page docs/architecture.md tells the same walks; files of rooms that it does not name are listed. (Types are read too, but
nobody calls them: a file with nothing else is not counted.) `--whole` prints every function in its order, turns with a <."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tools import pages

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (ROOT / "functions", ROOT / "layers" / "shared" / "tocsin")
WALKS = {"email": "an email there and back", "event": "an event to an inbox row"}
GROUND = ("layers/shared/tocsin/foundation/", "layers/shared/tocsin/http/")  # read once, for every walk
PAGE = ROOT / "docs" / "architecture.md"
MOST_SHOWN = 5


class Place(NamedTuple):
    """A function where it stands: its file from the root, and its name in it."""

    file: str
    function: str


class Reading(NamedTuple):
    files: int
    turns_back: int


def turns_of(places: list[Place]) -> list[Place]:
    """Those for which the reader turns back."""
    seen: set[str] = set()
    found: list[Place] = []
    here = ""
    for place in places:
        if place.file != here and place.file in seen:
            found.append(place)
        here = place.file
        seen.add(here)
    return found


def reading_of(places: list[Place]) -> Reading:
    """What it takes to read these functions in this order."""
    return Reading(len({place.file for place in places}), len(turns_of(places)))


class Trace:
    """Notes each function of the sources when it is first entered, in whatever thread."""

    def __init__(self, sources: tuple[Path, ...] = SOURCES, root: Path = ROOT) -> None:
        self._sources = tuple(f"{source}{os.sep}" for source in sources)
        self._root = root
        self._noted: dict[Place, None] = {}
        self._known: dict[CodeType, Place | None] = {}
        self._thread = threading.local()  # .importing: how many modules this thread is in the middle of

    @property
    def places(self) -> list[Place]:
        return list(self._noted)

    @contextmanager
    def on(self) -> Iterator[None]:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            self._thread.importing = self._importing + (1 if event == "call" else -1)
        elif event == "call" and not self._importing:
            if code not in self._known:
                self._known[code] = self._place_of(code)
            if place := self._known[code]:
                self._noted.setdefault(place)

    @property
    def _importing(self) -> int:
        return getattr(self._thread, "importing", 0)

    def _place_of(self, code: CodeType) -> Place | None:
        if not code.co_filename.startswith(self._sources):
            return None
        function = code.co_qualname.split(".<locals>")[0]
        if "<" in function:  # a lambda of a module or a class
            return None
        return Place(Path(code.co_filename).relative_to(self._root).as_posix(), function)


def walk(name: str) -> list[Place]:
    """Make a walk in a process of its own, where nothing is known or cached yet."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "layers" / "shared")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.walks", name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return [Place(*place) for place in json.loads(done.stdout.splitlines()[-1])]


def named_in(page: str) -> set[str]:
    """The Python files that the page links, from the root."""
    return {link.removeprefix("../") for link in pages.links(page) if link.startswith("../") and link.endswith(".py")}


def report(name: str, places: list[Place], page: str, say: Callable[[str], Any] = print, *, whole: bool = False) -> None:
    files, turns_back = reading_of(places)
    say(f"{WALKS[name]}: {files} files, {turns_back} turns back, {len(places)} functions")
    in_rooms = [place for place in places if not place.file.startswith(GROUND)]
    files, turns_back = reading_of(in_rooms)
    say(f"  without foundation and http: {files} files, {turns_back} turns back")
    back = turns_of(places)
    most = Counter(place.file for place in back).most_common(MOST_SHOWN)
    say("  most often back to " + ", ".join(f"{file} ({times})" for file, times in most) if most else "  never back")
    for place in places if whole else ():
        say(f"  {'<' if place in back else ' '} {place.file} {place.function}")
    for file in sorted({place.file for place in in_rooms} - named_in(page)):
        say(f"  entered, and not named by {PAGE.name}: {file}")


def main(arguments: list[str]) -> None:
    whole = "--whole" in arguments
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for name in [one for one in arguments if one in WALKS] or WALKS:
        report(name, walk(name), page, whole=whole)


if __name__ == "__main__":
    main(sys.argv[1:])
