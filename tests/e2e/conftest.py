"""The running stack, for every test of this folder."""

from collections.abc import Iterator

import pytest

from devstack.launch import RunningStack, started_stack


@pytest.fixture(scope="session")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """One stack for all tests of a process that ask for it; they must tell their own data apart."""
    with started_stack(tmp_path_factory.mktemp("stack")) as stack:
        yield stack
