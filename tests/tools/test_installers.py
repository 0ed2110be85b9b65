"""uv installs where it can, pip wherever it cannot, and neither leaves anybody without a word."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.tools.checkout import Checkout
from tools import environment, installers, reachable

# Both write down what they were given; what they do then, a test says.
PLAYED = """#!/bin/sh
echo "{name} $* | $UV_DEFAULT_INDEX $PIP_RETRIES" >> "$NOTES"
{does}
"""
UV_WORKS = 'echo "Prepared 12 packages in 1s"; echo "Installed 12 packages in 9ms"'
PIP_WORKS = 'echo "  Downloading alpha-1.0-py3-none-any.whl (10 kB)"'


class Stage:
    """An environment whose uv and pip are played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ".venv"
        self.packages = self.folder / "lib" / "python3.13" / "site-packages"
        self.packages.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        self.notes = folder / "notes"
        self.listed = folder / "run.txt"
        self.listed.touch()

    def play(self, *, uv: str = UV_WORKS, pip: str = PIP_WORKS, has_uv: bool = True) -> None:
        for name, command, does in (("uv", "uv", uv), ("pip", "python", pip)):
            (self.folder / "bin" / command).write_text(PLAYED.format(name=name, does=does))
            (self.folder / "bin" / command).chmod(0o755)
        if has_uv:
            (self.packages / "uv-1.0.dist-info").mkdir()

    def bring(self, count: int = 12) -> None:
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            installers.bring(self.folder, self.listed, count, lock)
        finally:
            os.close(lock)

    @property
    def called(self) -> list[str]:
        return [line.split()[0] for line in self.notes.read_text().splitlines()]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    monkeypatch.setattr(reachable, "fault", lambda settings: None)
    monkeypatch.setattr(installers, "UV", tmp_path / "uv.txt")
    (tmp_path / "uv.txt").write_text("uv==1.0 --hash=sha256:0\n")
    return Stage(tmp_path)


def test_uv_does_it_strictly_from_pip_s_own_index(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://one.example/simple")
    stage.play()

    stage.bring()

    (line,) = stage.notes.read_text().splitlines()
    assert line.startswith("uv pip install") and "--require-hashes --no-deps" in line and "| https://one.example/simple" in line
    assert "unpacking 12 packages\nInstalled 12 packages, in " in capsys.readouterr().out


def test_uv_is_fetched_where_many_packages_are_missing_and_not_for_a_few(stage: Stage) -> None:
    stage.play(has_uv=False)

    stage.bring(count=3)
    stage.bring(count=12)

    assert stage.called == ["pip", "pip", "uv"]
    assert [str(installers.UV) in line for line in stage.notes.read_text().splitlines()] == [False, True, False]


def test_where_uv_cannot_be_had_pip_does_it(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.play(
        has_uv=False,
        pip=f'case "$*" in *uv.txt*) echo "ERROR: No matching distribution found for uv"; exit 1;; esac; {PIP_WORKS}',
    )

    stage.bring()

    said = capsys.readouterr().out
    assert "uv cannot be had (No matching distribution found for uv), so pip does it." in said
    assert "Installed 1 package, 10 kB" in said


def test_where_uv_fails_for_reasons_of_its_own_pip_does_it(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.play(uv='echo "error: Failed to initialize cache"; exit 2')

    stage.bring()

    assert stage.called == ["uv", "pip"]
    assert "uv does not manage (Failed to initialize cache), so pip does it." in capsys.readouterr().out
    assert not (stage.folder / environment.HALF_MADE).exists()


def test_what_uv_left_half_done_counts_as_half_made(stage: Stage) -> None:
    stage.play(uv=f'mkdir "{stage.packages}/alpha"; exit 2', pip="exit 1")

    with pytest.raises(SystemExit):
        stage.bring()

    assert (stage.folder / environment.HALF_MADE).exists()


def test_a_setting_that_only_pip_has_is_honoured(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_KEYRING_PROVIDER", "subprocess")
    stage.play()

    stage.bring()

    assert stage.called == ["pip"]
    assert "because pip has a setting of its own: keyring-provider." in capsys.readouterr().out


def test_an_index_that_is_not_there_is_said_at_once_and_pip_tries_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reachable, "fault", lambda settings: "The package index cannot be reached: there")
    stage.play(pip="exit 1")

    with pytest.raises(SystemExit, match="PIP_INDEX_URL") as told:
        stage.bring()

    assert "Nothing came from it." in str(told.value)
    assert capsys.readouterr().out.startswith("The package index cannot be reached: there\npip tries it all the same.\n")
    assert stage.called == ["pip"]
    assert stage.notes.read_text().split()[-1] == "0"


def test_a_line_that_breaks_in_between_is_answered_with_what_to_set(stage: Stage) -> None:
    stage.play(uv="exit 2", pip='echo "ERROR: HTTPSConnectionPool(host=files.example): Read timed out."; exit 1')

    with pytest.raises(SystemExit, match="HTTPS_PROXY") as told:
        stage.bring()

    assert "Read timed out" in str(told.value)


@pytest.mark.parametrize(
    ("who", "line"), [("uv", "No space left on device (os error 28)"), ("pip", "ERROR: [Errno 28] No space left on device")]
)
def test_a_full_disk_is_named_with_what_is_free(who: str, line: str, stage: Stage) -> None:
    fails = f'echo "{line}"; exit 1'
    stage.play(uv=fails if who == "uv" else UV_WORKS, pip=fails, has_uv=who == "uv")

    with pytest.raises(SystemExit, match="The disk is full") as told:
        stage.bring()

    assert f"MB free in {stage.folder.parent}" in str(told.value)
    assert stage.called == [who]


def test_the_real_uv_takes_what_is_listed_and_no_file_with_another_hash(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("make installs uv; this environment was made without it")
    checkout = Checkout.at(tmp_path / "checkout")
    checkout.lock("run", checkout.wheel("alpha"), checkout.wheel("beta"))
    environment.make(checkout.venv)
    shutil.copy(uv, checkout.venv / "bin" / "uv")
    (next(checkout.venv.glob("lib/python3*/site-packages")) / "uv-1.0.dist-info").mkdir()
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(checkout.folder / "wheels"),
        "UV_CACHE_DIR": str(tmp_path / "c"),
    }.items():
        monkeypatch.setenv(name, value)
    stage.folder, stage.listed = checkout.venv, checkout.folder / "requirements" / "run.txt"

    stage.bring(count=2)
    assert checkout.installed("alpha") and checkout.installed("beta")

    stage.listed.write_text(f"gamma==1.0 --hash=sha256:{'0' * 64}\n")
    checkout.wheel("gamma")
    with pytest.raises(SystemExit, match="DO NOT MATCH THE HASHES"):
        stage.bring(count=1)
    assert not checkout.installed("gamma")
