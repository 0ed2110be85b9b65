"""One browser for all tests of this folder; for each test a tab and an inbox of its own."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium
from tests.browser.core import Core
from tests.browser.fake_inbox import FakeInbox, serving
from tests.browser.page import Page, opened_page
from tests.browser.tabs import chromium, page

__all__ = ["chromium", "page"]  # fixtures


@pytest.fixture
def server() -> Iterator[FakeInbox]:
    inbox = FakeInbox()
    with serving(inbox):
        yield inbox


@pytest.fixture(scope="package")
def blank_page(chromium: Chromium) -> Iterator[Page]:
    """A tab without the element, for the workers of all tests of the core."""
    server = FakeInbox()
    with serving(server), opened_page(chromium) as page:
        page.call("Page.navigate", url=f"{server.url}/blank")
        page.see("document.title === 'Blank' && document.readyState === 'complete'")
        yield page


@pytest.fixture
def core(blank_page: Page) -> Iterator[Core]:
    """A core of its own, in which no exception may go uncaught."""
    core = Core(blank_page)
    yield core
    assert core.run("uncaught") == []
