"""Whose turn it is when two processes share the tests: what starts a browser or a whole stack is done by one of them, in a row.

Two at once starve each other on a machine with two cores, and what is timed fails. The path tells which: the mark that xdist has
for it (xdist_group) travels in a test's name, and since pytest 9.2 it is lost on the way."""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

IN_A_ROW = {
    "tests/browser/": "browsers and stacks",
    "tests/clients/js/test_in_chromium.py": "browsers and stacks",
    "tests/clients/js/": "npm packages",  # which are packed once for all
    "tests/console/": "browsers and stacks",
    "tests/e2e/": "browsers and stacks",
    "tests/tools/test_openapi_tools.py": "fetched tools",
    "tests/tools/test_install.py": "environments",  # one takes seconds to make, and most of these tests share one
}


class Turns(LoadScopeScheduling):
    """Hands out single tests to whoever is free, and a row as a whole, the longest row first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((row for path, row in IN_A_ROW.items() if nodeid.startswith(path)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Turns | None:
    return Turns(config, log) if config.getvalue("dist") == "loadgroup" else None
