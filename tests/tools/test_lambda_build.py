"""The build for this machine: from the same sources, for another architecture, and only when they have changed."""

import re
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT
from tools import lambda_build


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lambda_build, "FOLDER", tmp_path / "lambda")
    return tmp_path / "lambda"


@pytest.fixture
def checkout(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small one of the same form."""
    root = tmp_path / "checkout"
    for path in ("functions/one/app.py", "layers/shared/tocsin/__init__.py", "network.yaml", "requirements/lambda.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("first\n")
    (root / "template.yaml").write_text("Architectures: [arm64]\n")
    monkeypatch.setattr(lambda_build, "ROOT", root)
    lambda_build._link("x86_64")
    return root


def test_the_template_differs_in_its_architecture_alone_and_what_it_names_is_there(folder: Path) -> None:
    lambda_build._link("x86_64")
    lambda_build._link("x86_64")

    ours, theirs = (path.read_text().splitlines() for path in (ROOT / "template.yaml", folder / "template.yaml"))
    changed = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    assert changed
    assert all(one.replace("arm64", "x86_64") == other for one, other in changed)
    named = re.findall(r"^ +(?:CodeUri|ContentUri|TemplateURL): (\S+)$", "\n".join(theirs), re.MULTILINE)
    assert len(named) > 10
    assert [name for name in named if not (folder / name).exists()] == []


@pytest.mark.parametrize("path", ["functions/one/app.py", "layers/shared/tocsin/__init__.py", "network.yaml", "template.yaml"])
def test_a_change_of_what_is_built_is_noticed(checkout: Path, path: str) -> None:
    before = lambda_build._fingerprint()

    (checkout / path).write_text("second\n")
    lambda_build._link("x86_64")

    assert lambda_build._fingerprint() != before


def test_what_python_compiled_by_the_way_is_no_change(checkout: Path) -> None:
    before = lambda_build._fingerprint()

    (checkout / "functions/one/__pycache__").mkdir()
    (checkout / "functions/one/__pycache__/app.pyc").write_text("compiled\n")

    assert lambda_build._fingerprint() == before


def test_a_machine_that_the_emulator_is_not_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")

    with pytest.raises(SystemExit, match="x86_64 or arm64"):
        lambda_build.main()
