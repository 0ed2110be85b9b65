"""Two processes share the tests, and never two browsers or stacks the machine."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT
from tests.turns import IN_A_ROW

NOTES_ITSELF = """
import os, time, pytest

@pytest.mark.parametrize("n", range({count}))
def test_it(n):
    began = time.time()
    time.sleep(0.1)
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{{__file__}} {{os.environ['PYTEST_XDIST_WORKER']}} {{began}} {{time.time()}}\\n")
"""


@dataclass(frozen=True, slots=True)
class Run:
    path: str
    worker: str
    began: float
    ended: float


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """What a small suite, laid out as this one is, notes of itself."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "pytest.ini").touch()
    for name, count in {"tests/browser/test_a.py": 4, "tests/e2e/test_b.py": 4, "tests/unit/test_c.py": 8}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(NOTES_ITSELF.format(count=count))
    shutil.copy(ROOT / "tests" / "turns.py", folder)
    (folder / "conftest.py").write_text('pytest_plugins = ("turns",)\n')
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"],
        cwd=folder,
        env=os.environ | {"NOTES": str(folder / "notes.txt")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in (folder / "notes.txt").read_text().splitlines()]
    return [Run(str(Path(path).relative_to(folder)), worker, float(began), float(ended)) for path, worker, began, ended in lines]


def test_browsers_and_stacks_never_run_beside_each_other(runs: list[Run]) -> None:
    heavy = sorted((run for run in runs if not run.path.startswith("tests/unit")), key=lambda run: run.began)

    assert len(heavy) == 8
    assert {run.worker for run in heavy} == {heavy[0].worker}
    assert all(one.ended <= after.began for one, after in pairwise(heavy))


def test_the_other_process_does_the_rest_meanwhile(runs: list[Run]) -> None:
    (busy,) = {run.worker for run in runs if run.path.startswith("tests/e2e")}

    light = [run.worker != busy for run in runs if run.path.startswith("tests/unit")]

    assert len(light) == 8
    assert sum(light) >= 6  # the busy one may be handed what is left over at its end


def test_every_path_that_has_a_row_is_there() -> None:
    assert [path for path in IN_A_ROW if not (ROOT / path).exists()] == []


def test_no_test_relies_on_the_mark_that_does_nothing() -> None:
    tests = (ROOT / "tests").rglob("test_*.py")

    assert [path.name for path in tests if re.search(r"mark\.xdist_group", path.read_text())] == []
