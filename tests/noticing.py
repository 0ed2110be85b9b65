"""A pytest plugin: tests run in databases in which something is useless, and what became of each is written down.

`TOCSIN_USELESS` names a file of lines `{"test": …, "thing": …}`; each test runs once for each of its things. The answers go to
`TOCSIN_NOTICED`, a line each, as they come: a run that is stopped has lost nothing."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# A row that the database refuses says nothing about who would have read it.
_REFUSED = re.compile(r"violates (not-null|check|unique|foreign key|exclusion) |NoMoreConstants|violates row-level security")


def _things() -> dict[str, list[str]]:
    things: dict[str, list[str]] = defaultdict(list)
    for line in Path(os.environ["TOCSIN_USELESS"]).read_text().splitlines():
        row = json.loads(line)
        things[row["test"]].append(row["thing"])
    return things


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = _things()


_KEY = pytest.StashKey[dict[str, list[str]]]()
_noticed: set[tuple[str, str]] = set()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.definition.nodeid
    things = metafunc.config.stash[_KEY].get(name)
    if things and "useless" in metafunc.fixturenames:
        metafunc.parametrize("useless", things, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Of a test with many cases one that notices is enough."""
    if (_function(item), _thing(item)) in _noticed:
        pytest.skip("noticed already")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    thing = _thing(item)
    if thing and (report.failed or report.skipped or report.when == "call"):
        said = f"{report.longreprtext} {report.capstdout} {report.capstderr} {report.caplog}"
        end = _end(report, said)
        why = said.strip().splitlines()[-1][:200] if report.longreprtext else ""
        errors = re.findall(r"^E +(.*)", report.longreprtext or "", re.M)
        if end == "noticed":
            _noticed.add((_function(item), thing))
        line = {"test": _function(item), "thing": thing, "end": end, "why": (errors or [why])[0][:200], "when": report.when}
        with Path(os.environ["TOCSIN_NOTICED"]).open("a") as file:
            file.write(json.dumps(line) + "\n")
    return report


def _end(report: pytest.TestReport, said: str) -> str:
    if report.passed or report.skipped:
        return "survived" if report.passed else "skipped"
    return "inconclusive" if _REFUSED.search(said) else "noticed"


def _thing(item: pytest.Item) -> str:
    return str(item.callspec.params.get("useless", "")) if hasattr(item, "callspec") else ""


def _function(item: pytest.Item) -> str:
    return f"{item.nodeid.split('::')[0]}::{getattr(item, 'originalname', item.name)}"
