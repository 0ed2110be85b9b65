"""pip comes into an environment also where Python came without it, as on Debian without python3-venv."""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.package_index import Index, serving
from tools import bootstrap

NAME = "pip-9.9-py3-none-any.whl"


def wheel() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("pip/__init__.py", "version = 9\n")
    return content.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".venv" / "lib" / "python3.13" / "site-packages").mkdir(parents=True)
    (tmp_path / ".venv" / "bin").mkdir()
    return tmp_path / ".venv"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    """A Python without pip, and an index that has the one that is locked."""
    monkeypatch.setattr(bootstrap, "_of_python", lambda: None)
    locked = tmp_path / "pip.txt"
    locked.write_text(f"pip==9.9 \\\n    --hash=sha256:{hashlib.sha256(wheel()).hexdigest()}\n")
    monkeypatch.setattr(bootstrap, "LOCKED", locked)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with serving() as index:
        index.pages["/simple/pip/"] = f'<a href="../../files/{NAME}#sha256=0">{NAME}</a>'.encode()
        index.pages[f"/files/{NAME}"] = wheel()
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        yield index


def installed(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.glob("lib/python3*/site-packages/pip/__init__.py")]


def test_python_s_own_pip_is_unpacked_and_nobody_is_asked(folder: Path) -> None:
    bootstrap.give_pip(folder)

    assert len(installed(folder)) == 1
    assert f'"{folder}/bin/python"' in (folder / "bin" / "pip").read_text()


def test_without_one_it_comes_from_the_index_and_that_is_said(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.give_pip(folder)

    assert installed(folder) == ["version = 9\n"]
    assert [path for path, _ in index.asked] == ["/simple/pip/", f"/files/{NAME}"]
    assert "This Python came without pip" in capsys.readouterr().out


def test_a_file_that_is_not_the_locked_one_is_refused(folder: Path, index: Index) -> None:
    index.pages[f"/files/{NAME}"] += b"more"
    index.pages["/simple/pip/"] += b" "

    with pytest.raises(SystemExit, match="is not the file that"):
        bootstrap.give_pip(folder)

    assert installed(folder) == []


def test_without_an_index_either_the_command_that_helps_is_told(folder: Path, index: Index) -> None:
    index.status = 503

    with pytest.raises(SystemExit) as told:
        bootstrap.give_pip(folder)

    assert "The package index answers 503" in str(told.value)
    assert "sudo apt install python3." in str(told.value)
    assert "PIP_INDEX_URL" in str(told.value)
