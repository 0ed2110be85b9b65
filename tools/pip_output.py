"""What pip says while it installs, as a few words for whoever is waiting."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_UNITS = {"bytes": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_FETCHED = re.compile(r"\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) (bytes|kB|MB|GB)\)")
_CHATTER = re.compile(
    r"\s*(Collecting|Processing|Downloading|Using cached|Looking in|Ignoring|Requirement already|WARNING: Location) "
)


@dataclass
class PipOutput:
    """Read line by line; `status` is where the installation is, `rest` what a reader needs if it fails."""

    total: int
    done: int = 0
    fetched: int = 0
    is_unpacking: bool = False
    status: str = ""
    rest: list[str] = field(default_factory=list)

    def read(self, line: str) -> bool:
        """Take in one line; true if there is something new to show."""
        if line.startswith("Processing "):
            return self._has(line.split()[1])
        if match := _FETCHED.match(line):
            name, size, unit = match.groups()
            return self._has(name, round(float(size) * _UNITS[unit]))
        if line.startswith("Installing collected packages: "):
            self.is_unpacking = True
            self.status = f"unpacking {counted(line.count(',') + 1)}"
            return True
        if "Retrying (" in line:
            self.status = "the package index does not answer; trying again"
            return True
        if line.strip() and not _CHATTER.match(line):
            self.rest = [*self.rest[-14:], line.rstrip()]
        return False

    def _has(self, name: str, size: int | None = None) -> bool:
        if name.endswith(".metadata"):
            return False
        size = _size(Path(name)) if size is None else size
        self.done = min(self.done + 1, self.total)
        self.fetched += size
        package, version = [*Path(name).name.removesuffix(".tar.gz").split("-"), ""][:2]
        self.status = f"{self.done:3} of {self.total}  {package.replace('_', '-')} {version}  {shown(size)}"
        return True


def counted(packages: int) -> str:
    return f"{packages} package{'' if packages == 1 else 's'}"


def shown(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.0f} kB"


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
