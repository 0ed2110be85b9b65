"""What the tests of `make sam-local` share."""

from pathlib import Path

import pytest

from tests.sam_local.fake_docker import FakeDocker


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDocker:
    folder = tmp_path / "bin"
    folder.mkdir()
    return FakeDocker(folder, monkeypatch)
