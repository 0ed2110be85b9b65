"""Finds what the functions cannot load, and layers that grew too heavy: `python -m tests.template.libraries .aws-sam/build`."""

import sys
from pathlib import Path

HEAVIEST_LAYER = 45_000_000  # bytes, unzipped; all of them are read at a cold start

_ELF = b"\x7fELF"
_AARCH64 = 183  # the machine number in an ELF header, two bytes at offset 18


def unloadable(build: Path) -> list[str]:
    """The ELF files below this folder that are not for arm64."""
    found = []
    for path in _files(build):
        with path.open("rb") as file:
            header = file.read(20)
        if header.startswith(_ELF) and int.from_bytes(header[18:20], "little") != _AARCH64:
            found.append(str(path.relative_to(build)))
    return found


def too_heavy(build: Path) -> list[str]:
    """The layers below this folder that weigh more than they may, with their weight."""
    weights = {folder.name: sum(path.stat().st_size for path in _files(folder)) for folder in sorted(build.glob("*Layer"))}
    return [f"{name}: {weight / 1e6:.1f} MB" for name, weight in weights.items() if weight > HEAVIEST_LAYER]


def _files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file())


if __name__ == "__main__":
    build = Path(sys.argv[1])
    complaints = [f"not for arm64: {each}" for each in unloadable(build)]
    complaints += [f"above {HEAVIEST_LAYER / 1e6:.0f} MB: {each}" for each in too_heavy(build)]
    sys.exit("\n".join(complaints) or 0)
