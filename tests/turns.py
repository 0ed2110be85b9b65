"""Whose turn it is when two processes share the tests: what starts a browser or a whole stack is done by one of them, in a row.

Two at once starve each other on a machine with two cores, and what is timed fails. The path tells which: the mark that xdist has
for it (xdist_group) travels in a test's name, and since pytest 9.2 it is lost on the way."""

from collections.abc import Sequence
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

IN_A_ROW = {
    "tests/browser/": "browsers and stacks",
    "tests/clients/js/test_in_chromium.py": "browsers and stacks",
    "tests/clients/js/": "npm packages",  # which are packed once for all
    "tests/console/": "browsers and stacks",
    "tests/e2e/": "browsers and stacks",
    "tests/template/": "template",  # which SAM translates in seconds, once for all
    "tests/tools/test_openapi_tools.py": "fetched tools",
    "tests/tools/test_install.py": "environments",  # one takes seconds to make, and most of these tests share one
}


class Names(list[str]):
    """The tests, in a list that knows where each one stands: xdist asks for every test."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(names)}

    def index(self, name: str, *_: Any) -> int:
        return self._places[name]


class Turns(LoadScopeScheduling):
    """Hands out single tests to whoever is free, and a row as a whole, the longest row first."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, Names(collection))

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """What is done is forgotten: after each test, xdist counts what is left of all that a process was ever given."""
        name = self.registered_collections[node][item_index]
        row, given = self._split_scope(name), self.assigned_work[node]
        given[row][name] = True
        if all(given[row].values()):
            del given[row]
        self._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        return next((row for path, row in IN_A_ROW.items() if nodeid.startswith(path)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Turns | None:
    return Turns(config, log) if config.getvalue("dist") == "loadgroup" else None
