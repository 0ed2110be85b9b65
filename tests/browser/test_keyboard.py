"""Without a mouse, and without eyes: keys, focus, and what a screen reader is given."""

from typing import Any

import pytest

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

HERE = "words(focused().querySelector('.title'))"


@pytest.fixture
def opened(page: Page, server: FakeInbox) -> Page:
    """Three rows in two scopes, the panel opened by key and the focus on the first row."""
    server.add("First", scope="repo:a", thread={"kind": "issue", "id": "1"}, age=1)
    server.add("Second", scope="repo:a", thread={"kind": "issue", "id": "2"}, age=2)
    server.add("Third", scope="repo:b", age=3)
    page.goto(server.page('token="good" group="scope"'))
    page.run("document.querySelector('#before').focus()")
    page.press("Tab", "Enter")
    page.see("$$('.row').length === 3")
    page.press("ArrowDown")
    page.equals(HERE, "First")
    return page


def test_the_arrows_home_and_end_walk_the_rows_across_groups(opened: Page) -> None:
    walk = {"ArrowDown": "Second", "End": "Third", "ArrowUp": "Second", "Home": "First"}

    for key, title in walk.items():
        opened.press(key)
        assert opened.run(HERE) == title
    opened.press("ArrowUp")
    assert opened.run(HERE) == "First"


def test_one_row_is_a_tab_stop_and_its_buttons_follow(opened: Page) -> None:
    assert opened.run("$$('.open').map((each) => each.tabIndex)") == [0, -1, -1]

    opened.press("ArrowDown", "Tab")

    assert opened.run("focused().ariaLabel") == "Mark as read: Second"
    opened.press("Tab", "Tab", "Tab")
    assert opened.run("focused().ariaLabel") == "More actions: Second"


def test_tab_goes_round_inside_the_dialog_in_both_directions(opened: Page) -> None:
    opened.run("$$('.head button')[0].focus()")
    first = opened.run("focused().ariaLabel")

    opened.press("Tab", shift=True)
    assert opened.run("focused().ariaLabel") == "More actions: First"
    opened.press("Tab")

    assert opened.run("focused().ariaLabel") == first


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_bell_opens_by_key_and_escape_gives_the_focus_back(page: Page, server: FakeInbox, key: str) -> None:
    server.add("News")
    page.goto(server.page())
    page.run("$('.bell').focus()")

    page.press(key)
    page.see("inbox.isOpen && $('.panel').contains(focused())")
    page.press("Escape")

    page.see("!inbox.isOpen && focused() === $('.bell') && $('.bell').ariaExpanded === 'false'")


def test_escape_does_not_reach_the_page(opened: Page) -> None:
    opened.run("document.addEventListener('keydown', () => (window.heard = true))")

    opened.press("Escape")

    assert opened.run("window.heard") is None


def test_a_click_elsewhere_closes_it(opened: Page) -> None:
    opened.mouse("mousePressed", 900, 700, button="left", clickCount=1)

    opened.see("!inbox.isOpen")


@pytest.mark.parametrize(
    ("key", "body"), [("r", {"read": True}), ("d", {"done": True}), ("s", {"saved": True}), ("R", {"read": True})]
)
def test_letters_act_on_the_row_with_the_focus(opened: Page, server: FakeInbox, key: str, body: dict[str, Any]) -> None:
    opened.press("ArrowDown", key)

    (asked,) = server.requests("PATCH", 1)
    assert (asked.path[-1], asked.body) == ("2", body)


def test_m_mutes_the_thread(opened: Page, server: FakeInbox) -> None:
    opened.press("m")

    server.sent("PUT .*/threads/issue/1", 1)
    assert server.threads == {"issue/1": False}


def test_z_opens_the_menu_at_the_snoozes_and_escape_closes_only_that(opened: Page, server: FakeInbox) -> None:
    opened.press("z")
    assert opened.run("words(focused())") == "Snooze for 1 hour"
    opened.press("ArrowDown")
    assert opened.run("words(focused())") == "Snooze until tomorrow, 9:00"
    opened.press("Escape")
    assert opened.run("[$('.menu').hidden, inbox.isOpen, focused().ariaLabel]") == [True, True, "More actions: First"]

    opened.press("z", "Enter")

    opened.see("$$('.row').length === 2")
    assert list(server.requests("PATCH", 1)[0].body) == ["snoozed_until"]


def test_after_a_row_left_the_focus_is_on_the_one_that_took_its_place(opened: Page) -> None:
    opened.press("ArrowDown", "d")
    opened.equals(HERE, "Third")

    opened.press("d")
    opened.equals(HERE, "First")
    opened.press("d")

    opened.see("$('.state') && focused().id === 'tab-all'")


def test_the_focus_stays_on_its_row_when_news_come_in(opened: Page, server: FakeInbox) -> None:
    opened.press("ArrowDown", "Tab")

    server.add("Newer", scope="repo:a")

    opened.see("row('Newer')")
    assert opened.run("focused().ariaLabel") == "Mark as read: Second"


def test_letters_with_ctrl_belong_to_the_browser(opened: Page, server: FakeInbox) -> None:
    opened.run("focused().dispatchEvent(new KeyboardEvent('keydown', {key: 'd', ctrlKey: true, bubbles: true, composed: true}))")

    assert opened.run("$$('.row').length") == 3
    assert server.requests("PATCH") == []


def test_the_question_mark_shows_the_shortcuts(opened: Page) -> None:
    opened.press("?")
    opened.see("$$('kbd').map(words).includes('z')")
    assert opened.run("words($('h2'))") == "Keyboard shortcuts"

    opened.press("Escape")

    opened.equals(HERE, "First")


def test_the_arrows_turn_the_tabs(opened: Page) -> None:
    opened.run("$('#tab-all').focus()")

    opened.press("ArrowRight")
    opened.see("focused().id === 'tab-unread' && focused().ariaSelected === 'true'")
    opened.press("ArrowLeft", "ArrowLeft")

    opened.see("focused().id === 'tab-done' && $('.state')")


def named(nodes: list[dict[str, Any]], role: str) -> list[str]:
    return [node["name"] for node in nodes if node["role"] == role]


def test_a_screen_reader_is_given_names_roles_and_states(opened: Page) -> None:
    nodes = opened.accessible()

    dialog = next(node for node in nodes if node["role"] == "dialog")
    assert (dialog["name"], dialog["modal"]) == ("Notifications", True)
    assert named(nodes, "tab") == ["Inbox", "Unread", "Saved", "Snoozed", "Done"]
    assert [node["name"] for node in nodes if node.get("selected")] == ["Inbox"]
    assert named(nodes, "tabpanel") == ["Inbox"]
    assert named(nodes, "group") == ["repo:a", "repo:b"]
    assert [node["level"] for node in nodes if node["role"] == "heading" and node["name"] == "repo:a"] == [3]
    assert len(named(nodes, "list")) == 2
    assert len(named(nodes, "listitem")) == 3
    buttons = named(nodes, "button")
    assert "Unread. First" in buttons
    assert {"Mark all as read", "Preferences", "Close", "Done: First", "Save: First"} <= set(buttons)
    assert all(buttons), "every button has a name"


def test_the_menu_is_a_menu(opened: Page) -> None:
    opened.press("z")
    nodes = opened.accessible()

    assert named(nodes, "menu") == ["More actions"]
    assert "Hide" in named(nodes, "menuitem")
    assert opened.run("$('.more').ariaExpanded") == "true"


def test_nothing_moves_when_less_motion_is_wished_for(page: Page, server: FakeInbox) -> None:
    page.media(prefers_reduced_motion="reduce")

    page.open_inbox(server.page())

    assert page.run("getComputedStyle($('.panel')).animationName") == "none"


def test_in_forced_colors_the_unread_dot_is_still_there(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.media(forced_colors="active")

    page.open_inbox(server.page())

    assert page.run("getComputedStyle($('.dot')).backgroundColor !== getComputedStyle($('.panel')).backgroundColor")
