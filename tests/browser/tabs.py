"""One browser for all tests of a folder, and a tab for each: fixtures for the folders that want them."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium, started_chromium
from tests.browser.page import Page, opened_page


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with started_chromium(tmp_path_factory.mktemp("chromium")) as chromium:
        yield chromium


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    """A tab; whatever the test does, no exception may go uncaught in it, and no policy may be broken."""
    with opened_page(chromium) as page:
        yield page
        assert page.complaints() == []
