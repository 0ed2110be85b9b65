"""Print the folder of a Python of the given version: `sam build` wants the functions' own version on the PATH."""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path


def candidates(version: str) -> list[str]:
    """Where a Python of this version may be: on the PATH, or kept beside others by pyenv or uv."""
    home = Path.home()
    kept = [
        *glob.glob(str(home / ".pyenv" / "versions" / f"{version}.*" / "bin" / f"python{version}")),
        *glob.glob(str(home / ".local" / "share" / "uv" / "python" / f"cpython-{version}.*" / "bin" / f"python{version}")),
    ]
    on_path = shutil.which(f"python{version}")
    return kept + ([on_path] if on_path else [])


def works(python: str, version: str) -> bool:
    said = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return said.returncode == 0 and said.stdout.startswith(f"Python {version}.")


def find(version: str) -> str:
    """The folder that has it; who has none is told what to do."""
    for python in candidates(version):
        if works(python, version):
            return os.path.dirname(python)
    sys.exit(f"`sam build` needs Python {version}, the functions' runtime. Install it, or put python{version} on the PATH.")


if __name__ == "__main__":
    print(find(sys.argv[1]))
