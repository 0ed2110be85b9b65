"""CONTRIBUTING.md as a reader follows it: its blocks become files and changes in a copy of the tree, where its commands are run.

A block that begins with a path is a new file. One in `diff` changes files that are there, named by `+++`: what stands in it
with a space or a minus is found there exactly once (a line that ends in … by its beginning), and `@@` begins the next place."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".local", ".aws-sam", ".*_cache", ".hypothesis")
# Ten seconds that say the same of the copy as of the tree itself; of the page's own migration the test asks it.
LONG = "--deselect tests/integration/test_migrations.py::test_each_migration_can_be_undone_alone_and_done_again"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:#|--) ([\w./-]+\.\w+)")


class Outdated(Exception):
    """The page asks for something that the tree does not have any more: whoever changed the tree mends the page."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of the repository in which somebody follows the page."""

    folder: Path

    @classmethod
    def copy_to(cls, folder: Path) -> "Tree":
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        (folder / ".venv").symlink_to(sys.prefix)
        (folder / ".local").mkdir()
        if (ROOT / ".local" / "cache").exists():  # a Postgres that was set up before
            (folder / ".local" / "cache").symlink_to((ROOT / ".local" / "cache").resolve())
        return cls(folder)

    def newest_migration(self) -> str:
        names = [path.name.removesuffix(".sql") for path in (self.folder / "migrations").glob("*.sql")]
        return max(name for name in names if not name.endswith(".rollback"))

    def follow(self, title: str) -> list[str]:
        """Write what the chapter says; returns the files it speaks of."""
        touched: list[str] = []
        previous = self.newest_migration()
        words = {"PREVIOUS": previous, "NNNN": f"{int(previous[:4]) + 1:04d}"}
        for kind, block in blocks(title):
            text = re.sub("|".join(words), lambda found: words[found[0]], block)
            if kind == "diff":
                touched += self._change(text)
            elif kind != "sh":
                touched.append(self._write(text))
        return touched

    def run(self, command: str, *, also: str = "") -> str:
        """Run one command as it is typed, with one more test file if told; its output has each test's end. Fails if it fails."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=os.environ | {"PYTEST_ADDOPTS": f"-rA -p no:cacheprovider {LONG} {also}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _write(self, text: str) -> str:
        first, _, rest = text.partition("\n")
        found = _PATH.fullmatch(first)
        if not found:
            raise Outdated(f"a block does not say which file it is: {first}")
        path = self.folder / found[1]
        if path.exists():
            raise Outdated(f"{found[1]} is there already")
        path.write_text(rest)
        return found[1]

    def _change(self, text: str) -> list[str]:
        names = []
        for part in re.split(r"^\+\+\+ ", text, flags=re.MULTILINE)[1:]:
            name, _, rest = part.partition("\n")
            path = self.folder / name
            for place in rest.split("@@\n"):
                path.write_text(changed(name, path.read_text(), place.splitlines()))
            names.append(name)
        return names


def blocks(title: str) -> list[tuple[str, str]]:
    """The blocks of a chapter, each with its kind."""
    chapters = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    (chapter,) = [each for each in chapters if each.startswith(f"{title}\n")]
    return _BLOCK.findall(chapter)


def commands(title: str) -> list[str]:
    return [line for kind, block in blocks(title) if kind == "sh" for line in block.splitlines()]


def changed(name: str, text: str, change: list[str]) -> str:
    """The text after the change, which must fit exactly one place of it."""
    lines = text.split("\n")
    before = [line[1:] for line in change if line[:1] in (" ", "-")]
    places = [at for at in range(len(lines)) if _fits(lines[at : at + len(before)], before)]
    if len(places) != 1 or not before:
        raise Outdated(f"{name}: this stands there {len(places)} times:\n" + "\n".join(before))
    at, after = places[0], []
    for line in change:
        if line.startswith("+"):
            after.append(line[1:])
            continue
        if line.startswith(" "):
            after.append(lines[at])
        at += 1
    return "\n".join([*lines[: places[0]], *after, *lines[at:]])


def _fits(lines: list[str], wanted: list[str]) -> bool:
    return len(lines) == len(wanted) and all(
        line.startswith(want[:-1]) if want.endswith("…") else line == want for line, want in zip(lines, wanted, strict=True)
    )
