"""Finds libraries that the functions cannot load: `python -m tests.template.libraries .aws-sam/build`."""

import sys
from pathlib import Path

_ELF = b"\x7fELF"
_AARCH64 = 183  # the machine number in an ELF header, two bytes at offset 18


def unloadable(build: Path) -> list[str]:
    """The ELF files below this folder that are not for arm64."""
    found = []
    for path in sorted(each for each in build.rglob("*") if each.is_file()):
        with path.open("rb") as file:
            header = file.read(20)
        if header.startswith(_ELF) and int.from_bytes(header[18:20], "little") != _AARCH64:
            found.append(str(path.relative_to(build)))
    return found


if __name__ == "__main__":
    foreign = unloadable(Path(sys.argv[1]))
    sys.exit("\n".join(["not for arm64:", *foreign]) if foreign else 0)
