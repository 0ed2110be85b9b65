"""Write into the bell's imports which version of each file they mean: `python -m tools.asset_versions` after a change of it."""

import hashlib
import re
from pathlib import Path

WEB = Path(__file__).parents[1] / "functions" / "inbox_api" / "web"
IMPORT = re.compile(r'"\./(?P<name>[\w-]+\.js)(?:\?v=(?P<version>\w*))?"')


def version_of(path: Path) -> str:
    """As the server has it (tocsin.http.assets)."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def write_versions(folder: Path) -> set[Path]:
    """The files whose imports were out of date. Who is written has a new version too, so this looks until all are right."""
    files = sorted(folder.glob("*.js"))
    changed: set[Path] = set()
    for _ in range(len(files) + 1):
        outdated = {path: stamped for path in files if (stamped := _stamped(path)) != path.read_text("utf-8")}
        if not outdated:
            return changed
        for path, stamped in outdated.items():
            path.write_text(stamped, "utf-8")
        changed |= set(outdated)
    raise SystemExit("These files import each other in a circle; then none of them can name the other's version.")


def _stamped(path: Path) -> str:
    def stamp(found: re.Match[str]) -> str:
        return f'"./{found["name"]}?v={version_of(path.with_name(found["name"]))}"'

    return IMPORT.sub(stamp, path.read_text("utf-8"))


if __name__ == "__main__":
    written = sorted(path.name for path in write_versions(WEB))
    print(f"Imports are right again: {', '.join(written)}" if written else "Every import was right.")
