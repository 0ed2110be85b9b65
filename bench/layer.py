"""The size of the shared layer, unzipped: as `sam build` made it, else what its requirements take when installed here."""

import re
from importlib.metadata import files
from pathlib import Path

from bench.ground import ROOT, Ground
from bench.report import Result, counted

BUILT = ROOT / ".aws-sam" / "build" / "SharedLayer"
SOURCE = ROOT / "layers" / "shared"
TARGET = "<= 45"


def measure(ground: Ground) -> list[Result]:
    size, how = (_folder(BUILT), "as built") if BUILT.is_dir() else (_installed(), "installed here, with .pyc")
    return [counted(f"layer, unzipped ({how})", size / 1e6, "MB", TARGET)]


def _installed() -> int:
    required = (SOURCE / "requirements.txt").read_text()
    names = [match[1] for line in required.splitlines() if (match := re.match(r"([\w.-]+)==", line)) and "win32" not in line]
    packages = sum(
        path.stat().st_size for name in names for file in files(name) or [] if (path := Path(str(file.locate()))).is_file()
    )
    return packages + _folder(SOURCE / "tocsin")


def _folder(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
