"""A .venv that cannot be used is noticed, and its fault has words."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment

PYTHON = sys.version_info[:2]


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A sound environment; its pip is a stand-in, since the real one takes seconds to install."""
    folder = tmp_path / "here" / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python3*/site-packages"))
    (packages / "pip").mkdir()
    (packages / "pip" / "__init__.py").touch()
    (folder / "bin" / "pip").write_text(f"#!{folder}/bin/python\n")
    return folder


def test_a_sound_one_has_no_fault(venv: Path) -> None:
    assert environment.fault(venv) is None
    assert environment.fault(venv, PYTHON) is None


def test_one_that_is_reached_by_a_link_has_none_either(venv: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(venv)

    assert environment.fault(link) is None


def test_an_interrupted_installation_is_a_fault(venv: Path) -> None:
    (venv / environment.HALF_MADE).touch()

    assert environment.fault(venv) == "an earlier installation was interrupted"


def test_a_python_that_was_removed_is_a_fault(venv: Path, tmp_path: Path) -> None:
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to(tmp_path / "uninstalled")

    assert environment.fault(venv) == "its Python is gone"


def test_an_empty_folder_is_a_fault(tmp_path: Path) -> None:
    assert environment.fault(tmp_path) == "its Python is gone"


@pytest.mark.parametrize("content", ["", "#!/bin/sh\nexit 1\n"])
def test_a_python_that_does_not_start_is_a_fault(venv: Path, content: str) -> None:
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").write_text(content)
    (venv / "bin" / "python").chmod(0o755)

    assert environment.fault(venv) == "its Python does not start"


@pytest.mark.parametrize("left", ["bin/pip", "lib/pip"])
def test_a_creation_that_ended_before_pip_is_a_fault(venv: Path, left: str) -> None:
    (venv / "bin" / "pip").unlink()
    if left == "bin/pip":
        (venv / "bin" / "pip").touch()
        package = next(venv.glob("lib/python3*/site-packages/pip"))
        package.rename(package.with_name("elsewhere"))

    assert environment.fault(venv) == "it has no pip"


def test_a_folder_that_was_moved_is_a_fault(venv: Path) -> None:
    there = venv.parent.rename(venv.parent.with_name("there"))

    assert environment.fault(there / ".venv") == "this folder was moved, and its commands are not found where it was"


def test_another_python_than_the_one_asked_for_is_a_fault(venv: Path) -> None:
    assert environment.fault(venv, (3, 99)) == f"its Python is {PYTHON[0]}.{PYTHON[1]}, and 3.99 is wanted"


def test_a_python_that_cannot_make_one_is_quoted_and_what_it_left_is_known_to_be_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Debian without python3-venv."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ensurepip is not available'; exit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(python))

    with pytest.raises(SystemExit, match="ensurepip is not available"):
        environment.make(tmp_path / ".venv")

    assert environment.fault(tmp_path / ".venv") == "an earlier installation was interrupted"


def test_removing_it_takes_a_link_and_not_what_it_leads_to(venv: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(venv)

    environment.retire(link)

    assert not link.is_symlink()
    assert environment.fault(venv) is None


def test_removing_it_leaves_nothing_and_clears_what_an_interrupted_removal_left(venv: Path) -> None:
    (venv.parent / ".venv.old" / "lib").mkdir(parents=True)

    environment.retire(venv)

    assert list(venv.parent.iterdir()) == []
