"""`sam build` of the copy of the template, in the state folder: `make build` has its own, for AWS."""

import os
import subprocess
import sys
from pathlib import Path

from devstack.state import RefusalError
from tools import find_python


def build(template: Path, folder: Path, *, runtime: str, log: Path) -> Path:
    """Build everything, from what is cached of it; returns the template that leads to what was built."""
    version = runtime.removeprefix("python")
    python = next((each for each in find_python.candidates(version) if find_python.works(each, version)), None)
    if python is None:
        raise RefusalError(f"`sam build` needs Python {version}, the functions' runtime. Install it, or put it on the PATH.")
    folders = ("--build-dir", str(folder / "build"), "--cache-dir", str(folder / "cache"))
    command = [sys.executable, "-m", "samcli", "build", "--template", str(template), "--cached", *folders]
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    with log.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=file, env=os.environ | {"PATH": path}, check=False)
        if done.returncode == 0:
            # The emulator counts imports as time of the first invocation, and a container would compile all of them again.
            compiling = [python, "-m", "compileall", "-q", "-j", "2", "--invalidation-mode", "unchecked-hash"]
            done = subprocess.run([*compiling, str(folder / "build")], stdout=file, stderr=file, check=False)
    if done.returncode:
        raise RefusalError(f"`sam build` failed:\n{log.read_text(errors='replace')[-2000:]}\nIts whole output: {log}")
    return folder / "build" / "template.yaml"
