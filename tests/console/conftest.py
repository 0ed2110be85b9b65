"""One local stack with the demo in it and one browser for all tests of the console; for each test a tab of its own, signed in."""

from collections.abc import Iterator

import pytest

from devstack.launch import RunningStack, started_stack
from tests.browser.chromium import Chromium, started_chromium
from tests.browser.page import Page, opened_page
from tests.console.console import Console, fill
from tests.e2e.client import Client


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with started_chromium(tmp_path_factory.mktemp("chromium")) as chromium:
        yield chromium


@pytest.fixture(scope="package")
def empty_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    with started_stack(tmp_path_factory.mktemp("stack")) as stack:
        yield stack


@pytest.fixture(scope="package")
def stack(empty_stack: RunningStack, chromium: Chromium) -> RunningStack:
    """With what the demo makes: people, templates, a text message provider that failed, dead letters."""
    with opened_page(chromium) as page:
        fill(Console(page, empty_stack.dev["base_url"]), Client.of(empty_stack))
    return empty_stack


@pytest.fixture
def client(stack: RunningStack) -> Client:
    """With every scope."""
    return Client(stack, stack.dev["console_key"])


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    """A tab; whatever the test does, no exception may go uncaught in it, and no policy may be broken."""
    with opened_page(chromium) as page:
        yield page
        assert page.complaints() == []


@pytest.fixture
def console(page: Page, stack: RunningStack) -> Console:
    """The console of that stack, signed in as it is on one's own machine."""
    return Console(page, stack.dev["base_url"])
