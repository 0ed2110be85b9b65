"""The running stack and a browser, for every test of this folder."""

from collections.abc import Iterator

import pytest

from devstack.launch import RunningStack, started_stack
from tests.browser.tabs import chromium, page

__all__ = ["chromium", "page"]  # fixtures

REFUSED = "is not authorized to perform"  # as the local AWS writes it down


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that share a stack come last, so that none of the others is started beside it."""
    items.sort(key=lambda item: "running_stack" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="package")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """One stack for all tests of this folder that ask for it; they must tell their own data apart.

    Whatever they had it do, the roles of the template allowed it.
    """
    with started_stack(tmp_path_factory.mktemp("stack")) as stack:
        yield stack
        refusals = [line for log in ("aws", "post_office") for line in stack.log(log).splitlines() if REFUSED in line]
        assert refusals == []
