"""Tabs of a page's own: by kind, by state, and what is done with a wish that cannot be understood."""

from typing import Any

import pytest

from tests.browser.core import Core
from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

TABS = "$$('.tab').map(words)"
TITLES = "$$('.title').map(words)"


def tab(at: int, label: str, status: str = "all", kinds: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"id": f"own-{at}", "label": label, "status": status, "kinds": list(kinds)}


@pytest.mark.parametrize(
    ("wish", "tabs"),
    [
        ("All|Orders=order.*, bill", [tab(0, "All"), tab(1, "Orders", kinds=("order.*", "bill"))]),
        ("Saved=@saved", [tab(0, "Saved", "saved")]),
        ('[{"label": "A|B", "kinds": ["a.b"], "status": "unread"}]', [tab(0, "A|B", "unread", ("a.b",))]),
        ("", None),
        ("Orders=", None),
        ("=order", None),
        ("Orders=or*der", None),
        ("Orders=@nowhere", None),
        ("Orders=a b", None),
        ("x" * 41, None),
        ("|".join("abcdefghijk"), None),
        ("All=" + ",".join("abcdefghijk"), None),
        ('[{"label": 7}]', None),
        ("[", None),
        ("[]", None),
    ],
)  # fmt: skip
def test_a_wish_for_tabs_is_read_or_refused_as_a_whole(core: Core, wish: str, tabs: list[dict[str, Any]] | None) -> None:
    assert core.run(f"core.parseTabs({wish!r})") == tabs


def test_a_tab_by_kind_has_the_rows_of_its_kinds_and_nothing_is_done_to_all_there(page: Page, server: FakeInbox) -> None:
    for kind in ("order.shipped", "invoice.paid", "mention", "reorder"):
        server.add(kind, kind=kind)
    page.open_inbox(server.page('token="good" tabs="All|Orders=order.*,invoice.*|Later=@snoozed"'))
    assert page.run(TABS) == ["All", "Orders", "Later"]
    page.equals("[$$('.title').length, $$('.for-all').filter((each) => each.checkVisibility()).length]", [4, 2])

    page.press("ArrowRight")

    page.equals(TITLES, ["invoice.paid", "order.shipped"])
    assert server.requests("GET /v1/inbox$")[-1].query == {"status": "all", "limit": "25", "kind": "order.*,invoice.*"}
    assert page.run("$$('.for-all').filter((each) => each.checkVisibility()).length") == 0
    page.click("$$('.tab')[2]")
    page.equals("words($('.state strong'))", "Nothing snoozed")


def test_tabs_that_cannot_be_understood_are_complained_of_and_the_usual_ones_shown(page: Page, server: FakeInbox) -> None:
    page.before_scripts("window.warned = []; console.warn = (words) => warned.push(words)")

    page.open_inbox(server.page('token="good" tabs="Orders="'))

    assert page.run(TABS) == ["Inbox", "Unread", "Saved", "Snoozed", "Done"]
    assert "cannot be understood" in page.run("warned[0]")
    page.run("inbox.setAttribute('tabs', 'Mentions=mention')")
    assert page.run(TABS) == ["Mentions"]
    page.equals("words($('.state strong'))", "All caught up")
