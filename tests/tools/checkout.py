"""A checkout that installs wheels made here: the real Makefile and tools, no network, packages that hold nothing of use."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Checkout:
    folder: Path

    @classmethod
    def at(cls, folder: Path) -> "Checkout":
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "Makefile", folder)
        shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("requirements", "wheels"):
            (folder / name).mkdir()
        return cls(folder)

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def stamp(self, group: str) -> Path:
        return self.venv / f"{group}.installed"

    def installed(self, module: str) -> list[Path]:
        """The files of a module of ours."""
        return [path for path in self.venv.glob(f"lib/python3*/site-packages/{module}/*") if path.is_file()]

    def lock(self, group: str, *wheels: Path) -> None:
        """Let the group list exactly these wheels."""
        pins = []
        for wheel in wheels:
            name, version = wheel.name.split("-")[:2]
            pins.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
        (self.folder / "requirements" / f"{group}.txt").write_text("".join(pins))

    def wheel(self, name: str, version: str = "1.0", *, files: int = 1) -> Path:
        path = self.folder / "wheels" / f"{name}-{version}-py3-none-any.whl"
        info = f"{name}-{version}.dist-info"
        content = {f"{name}/part_{number}.py": f"version = {version!r}\n" for number in range(files)}
        content[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        content[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        content[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*content, f"{info}/RECORD"])
        with zipfile.ZipFile(path, "w") as archive:
            for each, text in content.items():
                archive.writestr(each, text)
        return path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "wheels", "PIP_CONFIG_FILE": os.devnull}
        search = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))}
        return subprocess.Popen(
            [shutil.which("make") or "make", "--no-print-directory", *arguments],
            cwd=self.folder,
            env=environment | offline | search,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def make(self, *arguments: str, expect: int = 0) -> str:
        process = self.start(*arguments)
        output = process.communicate(timeout=120)[0]
        assert process.returncode == expect, output
        return output
