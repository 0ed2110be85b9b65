"""`make smoke` touches every room: its list names what there is, and something of each folder of tests."""

import re
from pathlib import Path

from tests.tools.checkout import ROOT

SMOKE = (ROOT / "tests" / "smoke.txt").read_text().splitlines()
BY_ITSELF = {"lambda_runtime"}  # which wants a build first: make e2e-lambda


def folders() -> set[str]:
    return {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}


def test_each_line_names_a_file_or_a_test_that_is_there() -> None:
    missing = [
        line
        for line in SMOKE
        for path, _, test in [line.partition("::")]
        if not Path(ROOT, path).is_file()
        or (test and not re.search(rf"^def {test}\(", Path(ROOT, path).read_text(), re.MULTILINE))
    ]

    assert missing == []
    assert len(SMOKE) == len(set(SMOKE)) > 0


def test_every_folder_of_tests_has_a_line() -> None:
    assert folders() - {line.split("/")[1] for line in SMOKE} == BY_ITSELF


def test_make_runs_the_list() -> None:
    assert re.search(
        r"^smoke: install-test ## .*\n\t.*pytest .*@tests/smoke\.txt$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
