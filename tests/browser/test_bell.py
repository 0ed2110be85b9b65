"""The bell: how many, for eyes and for screen readers, and what the page around it is told."""

import pytest

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

BACKGROUND = "getComputedStyle($('.panel')).backgroundColor"


def test_the_badge_shows_how_many_are_unread_and_the_button_says_so(page: Page, server: FakeInbox) -> None:
    for number in range(3):
        server.add(f"News {number}")
    server.add("Read", unread=False)

    page.goto(server.page())

    page.equals("words($('.badge'))", "3")
    page.equals("$('.bell').getAttribute('aria-label')", "Notifications, 3 unread")
    assert page.run("[$('.bell').ariaHasPopup, $('.bell').ariaExpanded]") == ["dialog", "false"]


def test_without_anything_unread_there_is_no_badge(page: Page, server: FakeInbox) -> None:
    server.add("Read", unread=False)

    page.goto(server.page('token="good" label="What is new"'))
    server.requests("GET .*/live", 2)

    assert page.run("$('.badge').hidden") is True
    assert page.run("$('.bell').getAttribute('aria-label')") == "What is new"


def test_above_99_the_badge_says_so_and_the_label_is_exact(page: Page, server: FakeInbox) -> None:
    for each in range(99):
        server.add(f"News {each}")
    page.goto(server.page())
    page.equals("words($('.badge'))", "99")

    server.add("One more")

    page.equals("words($('.badge'))", "99+")
    assert page.run("$('.bell').getAttribute('aria-label')") == "Notifications, 100 unread"


def test_a_count_that_the_server_capped_is_not_told_as_exact(page: Page, server: FakeInbox) -> None:
    for each in range(1001):
        server.add(f"News {each}")

    page.goto(server.page())

    page.equals("$('.bell').getAttribute('aria-label')", "Notifications, 1000 or more unread")
    page.run("inbox.setAttribute('label', 'What is new')")
    assert page.run("$('.bell').getAttribute('aria-label')") == "What is new, 1000 or more unread"


def test_the_page_is_told_of_the_count_and_of_opening(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.before_scripts("""window.told = []; for (const name of ["unread", "open"])
        addEventListener("tocsin-" + name, (event) => told.push([event.type, event.detail, event.composed]))""")

    page.goto(server.page())
    page.equals("words($('.badge'))", "1")
    page.click(".bell")

    counts = {"unread": 1, "unseen": 1, "capped": False}
    page.equals(
        "told",
        [
            ["tocsin-unread", counts, True],
            ["tocsin-open", {}, True],
            ["tocsin-unread", counts | {"unseen": 0}, True],
        ],
    )
    assert page.run("[inbox.unread, inbox.isOpen, $('.bell').ariaExpanded]") == [1, True, "true"]


def test_it_follows_the_scheme_of_the_page_unless_a_theme_is_named(page: Page, server: FakeInbox) -> None:
    page.media(prefers_color_scheme="light")
    page.open_inbox(server.page())
    light = page.run(BACKGROUND)

    page.media(prefers_color_scheme="dark")
    page.see(f"{BACKGROUND} !== {light!r}")
    dark = page.run(BACKGROUND)
    page.run("inbox.setAttribute('theme', 'light')")
    named_light = page.run(BACKGROUND)
    page.run("inbox.removeAttribute('theme'); document.documentElement.style.colorScheme = 'light'")
    in_a_light_page = page.run(BACKGROUND)

    assert light == named_light == in_a_light_page == "rgb(255, 255, 255)"
    assert dark == "rgb(23, 25, 31)"


def test_custom_properties_and_parts_dress_it(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())

    page.run("inbox.style.setProperty('--tocsin-accent', 'rgb(0, 128, 0)'); inbox.style.setProperty('--tocsin-width', '350px')")

    page.equals("getComputedStyle($('.dot')).backgroundColor", "rgb(0, 128, 0)")
    page.equals("$('.panel').offsetWidth", 350)
    assert {"bell", "badge", "panel", "header", "tab", "row", "dot"} <= set(
        page.run("$$('[part]').flatMap((each) => [...each.part])")
    )


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_panel_is_wholly_inside_the_window_wherever_it_is_placed(page: Page, server: FakeInbox, direction: str) -> None:
    page.size(600, 500)
    page.goto(server.page(direction=direction))

    for placement in ("bottom-end", "bottom-start", "top-end", "top-start", "nonsense", ""):
        page.run(f"inbox.close(); inbox.setAttribute('placement', {placement!r}); inbox.open()")
        page.see("""(({left, top, right, bottom}) => left >= 0 && top >= 0 && right <= 600 && bottom <= 500)(
            $('.panel').getBoundingClientRect())""")


def test_on_a_narrow_screen_it_is_a_sheet_with_targets_for_fingers(page: Page, server: FakeInbox) -> None:
    server.add("News", thread={"kind": "order", "id": "1"})
    page.size(390, 780, touch=True)

    page.open_inbox(server.page())

    page.equals("[$('.panel').getBoundingClientRect().left, $('.panel').offsetWidth]", [0, 390])
    small = """$$('.panel button:not(.open)').filter((each) => each.checkVisibility())
        .filter((each) => Math.min(each.offsetWidth, each.offsetHeight) < 44).length"""
    assert page.run(small) == 0
    page.click(".more")
    assert page.run(small) == 0
    assert page.run("document.documentElement.scrollWidth") == 390


def test_two_bells_of_one_person_ask_once(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.goto(server.page())
    page.equals("words($('.badge'))", "1")
    waiting = len(server.requests("GET .*/live"))

    page.run("window.other = inbox.cloneNode(); document.body.append(other)")
    page.equals("words(other.shadowRoot.querySelector('.badge'))", "1")
    server.add("More")

    page.equals("[words($('.badge')), words(other.shadowRoot.querySelector('.badge'))]", ["2", "2"])
    assert len(server.requests("GET .*/live")) <= waiting + 2


def test_taken_out_of_the_page_it_asks_nothing_and_comes_back_well(page: Page, server: FakeInbox) -> None:
    page.open_inbox(server.page())

    page.run("inbox.remove()")
    assert page.run("inbox.isOpen") is False
    server.add("News")
    page.run("document.body.append(inbox)")

    page.equals("words($('.badge'))", "1")
    page.click(".bell")
    page.see("row('News')")
