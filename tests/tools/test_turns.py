"""A whole run: two processes share the tests, never two browsers or stacks the machine, and it ends with what was slow."""

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

@pytest.fixture
def slow_to_make():
    time.sleep({setup})

@pytest.mark.parametrize("n", range({count}))
def test_it(n, slow_to_make):
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
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Run], list[str]]:
    """A small suite, laid out as this one is, with 0.15 s for slow: what it notes of itself, and the lines it prints."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "pytest.ini").touch()
    for name, count in {"tests/browser/test_a.py": 4, "tests/e2e/test_b.py": 4, "tests/unit/test_c.py": 8}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(NOTES_ITSELF.format(count=count, setup=0.1 if "e2e" in name else 0))
    shutil.copy(ROOT / "tests" / "turns.py", folder)
    slowest = (ROOT / "tests" / "slowest.py").read_text()
    (folder / "slowest.py").write_text(re.sub("^SECONDS = .*$", "SECONDS = 0.15", slowest, flags=re.MULTILINE))
    (folder / "conftest.py").write_text('pytest_plugins = ("slowest", "turns")\n')
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"],
        cwd=folder,
        env=os.environ | {"NOTES": str(folder / "notes.txt")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    notes = [line.split() for line in (folder / "notes.txt").read_text().splitlines()]
    runs = [Run(str(Path(path).relative_to(folder)), worker, float(began), float(ended)) for path, worker, began, ended in notes]
    return runs, done.stdout.splitlines()


@pytest.fixture
def runs(suite: tuple[list[Run], list[str]]) -> list[Run]:
    return suite[0]


def test_browsers_and_stacks_never_run_beside_each_other(runs: list[Run]) -> None:
    heavy = sorted((run for run in runs if not run.path.startswith("tests/unit")), key=lambda run: run.began)

    assert len(heavy) == 8
    assert {run.worker for run in heavy} == {heavy[0].worker}
    assert all(one.ended <= after.began for one, after in pairwise(heavy))


def test_the_other_process_does_the_rest_meanwhile(runs: list[Run]) -> None:
    (busy,) = {run.worker for run in runs if run.path.startswith("tests/e2e")}

    light = [run.worker != busy for run in runs if run.path.startswith("tests/unit")]

    assert len(light) == 8
    assert sum(light) >= 2  # at least those it begins with; the busy one may be handed what is left over at its end


def test_a_run_names_its_slow_tests_the_slowest_first_and_ends_with_their_number(suite: tuple[list[Run], list[str]]) -> None:
    *_, closing = lines = suite[1]

    named = [re.fullmatch(r" *([0-9.]+) s  (tests/\w+/test_\w\.py::test_it\[\d\])( \(setup 0\.\d\))?", line) for line in lines]
    slow = [each for each in named if each]

    assert any(re.search(r"= tests slower than 0 s: \d+, with \d+% of all time =", line) for line in lines)
    assert {each[2] for each in slow} >= {f"tests/e2e/test_b.py::test_it[{number}]" for number in range(4)}
    assert all(each[3] for each in slow if "e2e" in each[2])
    assert [float(each[1]) for each in slow] == sorted((float(each[1]) for each in slow), reverse=True)
    assert re.fullmatch(r"16 passed in [0-9.]+s", closing)


def test_every_path_that_has_a_row_is_there() -> None:
    assert [path for path in IN_A_ROW if not (ROOT / path).exists()] == []


def test_no_test_relies_on_the_mark_that_does_nothing() -> None:
    tests = (ROOT / "tests").rglob("test_*.py")

    assert [path.name for path in tests if re.search(r"mark\.xdist_group", path.read_text())] == []
