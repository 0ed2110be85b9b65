"""`make bench` is run seldom: that what it takes from the house is still there is asked with every change."""

import ast
import importlib
from importlib.util import find_spec

import pytest

from tests.tools.checkout import ROOT

HOUSE = ("tocsin", "devstack", "tests", "tools")  # the peers it measures against are installed for it alone
FILES = sorted((ROOT / "bench").glob("*.py"))


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_a_bench_takes_only_what_is_there(name: str) -> None:
    tree = ast.parse((ROOT / "bench" / name).read_text())
    wanted = [
        (node.module, one.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in HOUSE
        for one in node.names
    ]

    missing = [
        (module, name)
        for module, name in wanted
        if not hasattr(importlib.import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]

    assert missing == []


def test_benches_take_something() -> None:
    assert sum("from tocsin" in path.read_text() for path in FILES) > 10
