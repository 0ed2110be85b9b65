"""The pictures of the documents: taken at every run, kept where TOCSIN_SCREENSHOTS says (`make screenshots`)."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console.console import PHONE, Console
from tests.e2e.client import Client

ROOT = Path(__file__).parents[2]
WIDE = (1280, 900)


def _now(console: Console, client: Client) -> None:
    console.open("#/", size=WIDE)
    console.page.see("$$('.chart canvas').length >= 2")


def _now_in_the_dark(console: Console, client: Client) -> None:
    console.open("#/", size=WIDE, theme="dark")
    console.page.see("$$('.chart canvas').length >= 2")


def _notification(console: Console, client: Client) -> None:
    (letter, *_) = client.call("GET", "/v1/dead-letters?type=order.shipped&limit=1&state=all").body["data"]
    console.open(f"#/notifications/{letter['notification_id']}", size=WIDE)


def _template(console: Console, client: Client) -> None:
    console.open("#/templates/order-shipped", size=WIDE)
    console.page.see("$('iframe')")


def _phone(console: Console, client: Client) -> None:
    console.open("#/users/jun?tab=inbox", size=PHONE)


def _bell(console: Console, client: Client) -> None:
    """In a page of somebody's own, as Jun sees it."""
    console.page.size(1080, 640)
    console.page.media(prefers_color_scheme="light")
    console.page.open_inbox(f"{console.url}/_local/inbox?user=jun")
    console.page.see("$$('.row').length >= 3 && !$('.badge').hidden")


PICTURES: dict[str, Callable[[Console, Client], None]] = {
    "console-now-light": _now,
    "console-now-dark": _now_in_the_dark,
    "console-notification-light": _notification,
    "console-template-light": _template,
    "console-phone": _phone,
    "bell-light": _bell,
}
# Of a stack without the demo (tests/e2e/test_local_pages.py); and two pictures side by side, put together by hand.
TAKEN_ELSEWHERE = {"start-light", "email"}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_for_the_documents_can_be_taken(console: Console, client: Client, tmp_path: Path, name: str) -> None:
    PICTURES[name](console, client)
    folder = Path(os.environ.get("TOCSIN_SCREENSHOTS") or tmp_path)

    picture = folder / f"{name}.png"
    console.page.screenshot(picture)

    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 15_000  # an empty page has less to show


def test_the_documents_show_these_pictures_and_they_are_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+)\.png", page.read_text("utf-8"))}
    kept = {path.stem for path in (ROOT / "docs" / "images").glob("*.png")}

    assert shown == kept == set(PICTURES) | TAKEN_ELSEWHERE
