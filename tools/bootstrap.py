"""How pip comes into an environment without it: from Python itself, or from the package index where Debian has taken it out."""

from __future__ import annotations

import hashlib
import re
import sys
import sysconfig
import zipfile
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from urllib.parse import urljoin

from tools import reachable
from tools.pip_settings import PipSettings

LOCKED = Path("requirements/installers/pip.txt")


def give_pip(folder: Path) -> None:
    """Unpack pip's wheel where it belongs: `ensurepip` does the same in seconds, of which most go into compiling."""
    (packages,) = folder.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(_of_python() or _of_index()) as archive:
        archive.extractall(packages)
    command = folder / "bin" / "pip"
    command.write_text(
        f"#!/bin/sh\n'''exec' \"{folder.absolute()}/bin/python\" \"$0\" \"$@\"\n' '''\n"
        "import sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)


def _of_python() -> Path | None:
    """The wheel that Python came with; distributions keep it in a folder of their own."""
    places = [Path(sysconfig.get_path("stdlib")) / "ensurepip" / "_bundled", Path("/usr/share/python-wheels")]
    if other := sysconfig.get_config_var("WHEEL_PKG_DIR"):
        places.insert(0, Path(other))
    return next((wheel for place in places for wheel in sorted(place.glob("pip-*.whl"), reverse=True)), None)


def _of_index() -> BytesIO:
    settings = PipSettings.of_this_machine()
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    print(f"This Python came without pip (Debian has it in {package}): fetching it from the package index.", flush=True)
    try:
        return BytesIO(_fetched(settings))
    except (OSError, HTTPException, LookupError, ValueError) as error:
        reason = reachable.fault(settings) or f"pip could not be fetched: {error}"
        sys.exit(f"{reason}\n\nOn Debian and Ubuntu this helps: sudo apt install {package}\n{reachable.advice(settings)}")


def _fetched(settings: PipSettings) -> bytes:
    """The wheel that requirements/installers/pip.txt locks; anything else is refused."""
    locked = LOCKED.read_text()
    (version,) = re.findall(r"^pip==(\S+)", locked, re.MULTILINE)
    name = f"pip-{version}-py3-none-any.whl"
    page = f"{settings.index.rstrip('/')}/pip/"
    found = re.search(rf"href=[\"']([^\"'#]*{re.escape(name)})[\"'#?]", reachable.open_url(page, settings).decode())
    if not found:
        raise LookupError(f"the index has no {name}")
    content = reachable.open_url(urljoin(page, found[1]), settings)
    if hashlib.sha256(content).hexdigest() not in locked:
        raise ValueError(f"{name} is not the file that {LOCKED} lists")
    return content
