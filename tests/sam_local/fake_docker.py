"""A `docker` on the PATH that says what a test wants and remembers what it was asked."""

import json
import sys
from pathlib import Path

import pytest

PROGRAM = """#!{python}
import json, sys
from pathlib import Path
folder = Path({folder!r})
arguments = sys.argv[1:]
with (folder / "asked").open("a") as file:
    file.write(json.dumps(arguments) + "\\n")
answers = json.loads((folder / "answers").read_text())
for beginning, (code, out, err) in answers:
    *words, last = beginning
    if arguments[: len(words)] == words and len(arguments) > len(words) and arguments[len(words)].startswith(last):
        print(out)
        print(err, file=sys.stderr)
        sys.exit(code)
sys.exit(1)
"""


class FakeDocker:
    """Whatever it was told no answer for fails. The first answer is given that begins as the command does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._answers: list[tuple[list[str], tuple[int, str, str]]] = []
        program = folder / "docker"
        program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        self._write()
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.delenv("DOCKER_HOST", raising=False)

    def says(self, beginning: str, out: str = "", *, code: int = 0, err: str = "") -> None:
        self._answers.append((beginning.split(), (code, out, err)))
        self._write()

    def asked(self, beginning: str) -> list[list[str]]:
        """The commands that began so."""
        words, log = beginning.split(), self._folder / "asked"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [line for line in lines if line[: len(words)] == words]

    def _write(self) -> None:
        (self._folder / "answers").write_text(json.dumps(self._answers))
