"""What uv says while it installs, as a few words for whoever is waiting."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tools.pip_output import counted

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_FETCHED = re.compile(r"\s*Downloading (\S+) \(([\d.]+)(B|KiB|MiB|GiB)\)")
_CHATTER = re.compile(r"\s*(Using Python|Resolved|Prepared|Uninstalled|Installed|Audited|Downloaded|Built|Building|[+~-]) ?")


@dataclass
class UvOutput:
    """Read line by line, as pip's is. It names the large packages only, as it begins with each; all come at once."""

    done: int = 0
    status: str = "asking the package index"
    rest: list[str] = field(default_factory=list)

    def read(self, line: str) -> bool:
        """Take in one line; true if there is something new to show."""
        words = line.split()
        if match := _FETCHED.match(line):
            name, size, unit = match.groups()
            self.status = f"fetching {name}  {float(size) * _UNITS[unit] / 1e6:.1f} MB"
            return True
        if words[:1] == ["Prepared"]:
            self.status = f"unpacking {counted(int(words[1]))}"
            return True
        if words[:1] == ["Installed"]:
            self.done = int(words[1])
        if words and not _CHATTER.match(line):
            self.rest = [*self.rest[-14:], line.rstrip()]
        return False
