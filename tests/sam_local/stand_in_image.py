"""An image in the place of AWS's own, for an engine that reaches no registry: `python -m tests.sam_local.stand_in_image`.

It has this machine's Python of the functions' version at /var/lang, AWS's runtime client from PyPI with boto3 at /var/runtime,
and the few programs with which `sam local` puts layers into it. What it is not: Amazon Linux.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from devstack.sam_local import docker_engine
from tools import find_python

VERSION = "3.13"
PROGRAMS = ("sh", "mv", "cp", "rm", "chmod", "mkdir")
# What wheels ask for by name, although Python itself does not; those of threads and the like are empty since glibc 2.34.
LIBRARIES = (
    *("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libm.so.6", "libresolv.so.2"),
    *("libgcc_s.so.1", "libstdc++.so.6"),
)
PACKAGES = ("awslambdaric", "boto3")
BOOTSTRAP = f"""#!/bin/sh
export PYTHONPATH=/var/task:/opt/python/lib/python{VERSION}/site-packages:/opt/python:/var/runtime
exec /var/lang/bin/python{VERSION} -m awslambdaric "$_HANDLER"
"""
CONFIGURATION = (
    "ENV PATH=/var/lang/bin:/usr/bin:/bin",
    "ENV LAMBDA_TASK_ROOT=/var/task",
    "ENV LAMBDA_RUNTIME_DIR=/var/runtime",
    "WORKDIR /var/task",
)
LEFT_OUT = shutil.ignore_patterns("test", "idlelib", "tkinter", "ensurepip", "site-packages", "__pycache__", "*.a")


def make(engine: docker_engine.Engine, image: str) -> None:
    """Give the engine an image of this name."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        _fill(root)
        archive = Path(folder) / "image.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(root, arcname=".")
        changes = [part for line in CONFIGURATION for part in ("--change", line)]
        engine.run("import", *changes, str(archive), image)


def _fill(root: Path) -> None:
    python = _python()
    prefix = _said(python, "-c", "import sys; print(sys.base_prefix)")
    for part in ("bin", "lib"):
        shutil.copytree(Path(prefix) / part, root / "var/lang" / part, symlinks=True, ignore=LEFT_OUT)
    modules = (root / f"var/lang/lib/python{VERSION}/lib-dynload").glob("*.so")
    programs = [Path(shutil.which(name) or f"/bin/{name}") for name in PROGRAMS]
    for program in programs:
        _put(program, root, Path("/bin") / program.name)
    libraries = _libraries([Path(python).resolve(), *modules, *programs])
    by_name = _loadable()
    for library in libraries | {by_name[name] for name in LIBRARIES}:
        _put(library, root, library)
    runtime = root / "var/runtime"
    _said(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(runtime), *PACKAGES)
    bootstrap = runtime / "bootstrap"
    bootstrap.write_text(BOOTSTRAP)
    bootstrap.chmod(0o755)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")


def _python() -> str:
    found = next((each for each in find_python.candidates(VERSION) if find_python.works(each, VERSION)), None)
    if found is None:
        raise FileNotFoundError(f"there is no Python {VERSION} on this machine")
    return found


def _libraries(programs: list[Path]) -> set[Path]:
    """What the loader would load for them, itself included."""
    lines = _said("ldd", *map(str, programs)).splitlines()
    words = [word for line in lines for word in line.split() if word.startswith("/") and not word.endswith(":")]
    return {Path(word) for word in words}


def _loadable() -> dict[str, Path]:
    """Where the loader of this machine finds each library."""
    lines = _said("ldconfig", "-p").splitlines()[1:]
    found = [line.split(" => ") for line in lines if " => " in line]
    return {name.split()[0]: Path(path) for name, path in reversed(found)}


def _put(source: Path, root: Path, place: Path) -> None:
    target = root / place.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    engine = docker_engine.Engine.find()
    name = engine.image_name(f"python{VERSION}")
    make(engine, name)
    print(f"{name} is a stand-in now; `docker image rm {name}` makes room for the real one", file=sys.stderr)
