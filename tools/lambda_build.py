"""`sam build` for this machine, and a Python that has what Lambda's own has: `python -m tools.lambda_build`.

The template asks for arm64, which few machines of developers are. `.local/lambda` is this checkout by links, with a template that
asks for the machine's own architecture. What is made there is made again only when what it is made from has changed."""

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

from tools import find_python

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".local" / "lambda"
BUILD = FOLDER / ".aws-sam" / "build"
RUNTIME = "3.13"
LINKED = ("functions", "layers", "migrations", "network.yaml", "requirements")
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64"}  # by Linux's name for it: Lambda's


def main() -> None:
    architecture = ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or architecture is None:
        sys.exit("Lambda's runtime emulator runs on Linux, on x86_64 or arm64.")
    bin_folder = find_python.find(RUNTIME)
    _link(architecture)
    _install(bin_folder)
    fingerprint = _fingerprint()
    noted = FOLDER / "built"
    if noted.exists() and noted.read_text() == fingerprint and BUILD.is_dir():
        return
    noted.unlink(missing_ok=True)
    _build(bin_folder)
    noted.write_text(fingerprint)


def _link(architecture: str) -> None:
    """The checkout as sam is to see it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in LINKED:
        link = FOLDER / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    (FOLDER / "template.yaml").write_text((ROOT / "template.yaml").read_text().replace("arm64", architecture))


def _install(bin_folder: str) -> None:
    """Nothing but the runtime's own packages, so that one which the layer lacks is missed."""
    python = str(Path(bin_folder) / f"python{RUNTIME}")
    command = [python, "-m", "tools.install", "lambda", "--this-python"]
    if subprocess.run(command, cwd=FOLDER, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode:
        sys.exit("Lambda's own packages could not be installed.")


def _build(bin_folder: str) -> None:
    """What `make build` does, in the other folder."""
    print(f"Building for this machine into {BUILD.relative_to(ROOT)} …", flush=True)
    sam = Path(sys.executable).with_name("sam")
    env = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    built = subprocess.run(
        [sam, "build", "--cached", "--parallel"], cwd=FOLDER, env=env, capture_output=True, text=True, check=False
    )
    if built.returncode:
        sys.exit(f"{built.stdout}{built.stderr}\n`sam build` failed.")
    for source in BUILD.rglob("*.c"):
        source.unlink()
    compiling = [str(Path(bin_folder) / f"python{RUNTIME}"), "-m", "compileall", "-q", "-j", "2"]
    subprocess.run([*compiling, "--invalidation-mode", "unchecked-hash", str(BUILD)], check=True)


def _fingerprint() -> str:
    """Changes with anything that is built: what the functions and the layers are made from, and the template."""
    found = hashlib.sha256((FOLDER / "template.yaml").read_bytes() + (ROOT / "network.yaml").read_bytes())
    for folder in ("functions", "layers"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()
