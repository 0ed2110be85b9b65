"""What stands in a row: who did it, how serious it is, what one can do about it, and whatever else strangers think of."""

import pytest

from tests.browser.fake_inbox import POLICY, FakeInbox
from tests.browser.page import Page

MARIA = {"id": "u-17", "name": "Maria de Silva", "avatar_url": None}
WITH_IMAGES = f"{POLICY}; img-src 'self'"
GREEN = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8' fill='green'/></svg>"
ACTIONS = [{"label": "Accept", "url": "https://shop.example/yes"}, {"label": "Decline", "url": "https://shop.example/no"}]


def test_who_did_it_is_a_name_and_a_coloured_circle_never_an_id(page: Page, server: FakeInbox) -> None:
    server.add("From Maria", actor=MARIA)
    server.add("From Li", actor=MARIA | {"id": "u-18", "name": "李"})
    server.add("Nameless", actor=MARIA | {"id": "u-19", "name": "\u202e…"})
    server.add("From nobody")

    page.open_inbox(server.page())

    figures = "Object.fromEntries($$('.row').map((each) => ['.title', '.figure'].map((part) => words(each.querySelector(part)))))"
    assert page.run(figures) == {"From Maria": "MS", "From Li": "李", "Nameless": "?", "From nobody": ""}
    assert page.run("words(row('From Maria').querySelector('.meta'))") == "Maria de Silva"
    assert "u-17" not in page.run("$('.panel').innerText")
    colours = "new Set($$('.person').map((each) => getComputedStyle(each).backgroundColor)).size"
    assert page.run(colours) == 3
    nodes = "[row('From nobody').querySelector('.figure'), row('From nobody')]"
    circle, row = page.run(f"{nodes}.map((one) => one.getBoundingClientRect().bottom)")
    assert circle < row, "a row of one line has room for it"


def test_an_avatar_is_shown_and_one_that_does_not_come_leaves_the_initials(page: Page, server: FakeInbox) -> None:
    server.files["/maria.svg"] = (GREEN, "image/svg+xml")
    server.add("There", actor=MARIA | {"avatar_url": f"{server.url}/maria.svg"})
    server.add("Broken", actor=MARIA | {"avatar_url": f"{server.url}/none.png"})
    server.add("No address", actor=MARIA | {"avatar_url": "data:image/png,1"})

    page.open_inbox(server.page(policy=WITH_IMAGES))

    page.see("row('There').querySelector('img').naturalWidth === 8")
    page.equals("[...$$('.row img')].length", 1)
    assert page.run("[$('.row img').alt, $('.row img').referrerPolicy]") == ["", "no-referrer"]
    assert page.run("['Broken', 'No address'].map((title) => words(row(title).querySelector('.figure')))") == ["MS", "MS"]
    page.run("inbox.setAttribute('group', 'scope')")  # all rows are made anew
    assert page.run("row('Broken').querySelector('img')") is None


def test_a_page_whose_policy_refuses_images_shows_initials(page: Page, server: FakeInbox) -> None:
    server.add("News", actor=MARIA | {"avatar_url": "https://elsewhere.example/maria.png"})

    page.open_inbox(server.page())

    page.equals("[$$('.row img').length, words($('.figure'))]", [0, "MS"])
    assert all("img-src" in each for each in page.complaints())
    page.exceptions.clear()


def test_an_icon_is_an_emoji_or_an_image_and_comes_before_the_avatar(page: Page, server: FakeInbox) -> None:
    server.files["/icon.svg"] = (GREEN, "image/svg+xml")
    server.add("Cake", icon="🎂", actor=MARIA)
    server.add("Image", icon=f"{server.url}/icon.svg", actor=MARIA)

    page.open_inbox(server.page(policy=WITH_IMAGES))

    assert page.run("[words(row('Cake').querySelector('.figure')), row('Cake').querySelector('img')]") == ["🎂", None]
    page.see("row('Image').querySelector('.figure.own img').naturalWidth === 8")


def test_severity_is_said_shown_and_coloured(page: Page, server: FakeInbox) -> None:
    for severity in ("critical", "warning", "info", "no such word"):
        server.add(severity, severity=severity, unread=False)

    page.open_inbox(server.page())

    names = [node["name"] for node in page.accessible() if node["role"] == "button"]
    assert {"Critical. critical", "Warning. warning", "info", "no such word"} <= set(names)
    chips = (
        "Object.fromEntries($$('.row').map((each) => [words(each.querySelector('.title')), words(each.querySelector('.meta'))]))"
    )
    assert page.run(chips) == {"critical": "Critical", "warning": "Warning", "info": "", "no such word": ""}
    assert page.run("row('critical').querySelector('.chip svg') !== null")
    colours = "['critical', 'warning', 'info'].map((each) => getComputedStyle(row(each)).boxShadow)"
    assert len(set(page.run(colours))) == 3


def test_a_long_title_has_two_lines_and_can_be_read_whole(page: Page, server: FakeInbox) -> None:
    server.add("word " * 60, url="https://example.com/")
    page.open_inbox(server.page())
    height = "$('.title').offsetHeight"
    assert page.run(f"{height} < 50 && $('.title').scrollHeight > 60")

    page.click(".row .more")
    page.click("$$('.menu button').find((each) => words(each) === 'Show all of it')")

    page.see(f"{height} > 60")
    page.run("$('.open').focus()")
    page.press("e")
    page.see(f"{height} < 50")


def test_two_actions_lead_where_they_say_mark_as_read_and_tell_the_page_first(page: Page, server: FakeInbox) -> None:
    row = server.add("Invitation", actions=[*ACTIONS, {"label": "Third", "url": "https://shop.example/3"}])
    page.open_inbox(server.page())
    assert page.run("$$('.actions a').map((each) => [words(each), each.href, [...each.part].at(-1)])") == [
        ["Accept", "https://shop.example/yes", "action-primary"],
        ["Decline", "https://shop.example/no", "action-secondary"],
    ]

    page.run("addEventListener('tocsin-action', (event) => { window.acted = event.detail; event.preventDefault() })")
    page.click("$$('.actions a')[1]")

    page.equals("[acted.row.title, acted.action]", ["Invitation", ACTIONS[1]])
    page.equals("$('.dot')", None)
    assert server.sent(f"PATCH .*{row['id']}", 1) == [{"read": True}]
    assert page.run("location.pathname") == "/page"


def test_an_action_that_nobody_keeps_is_followed(page: Page, server: FakeInbox) -> None:
    server.add("Invitation", actions=[{"label": "Accept", "url": server.page("id='other'")}])
    page.open_inbox(server.page())

    page.run("$('.open').focus()")
    page.press("Tab", "Enter")

    page.see("document.querySelector('#other')")
    assert server.sent("PATCH", 1) == [{"read": True}]


@pytest.mark.parametrize("url", ["javascript:window.hacked=1", "data:text/html,1", "https://", None])
def test_an_action_that_leads_nowhere_safe_is_left_out(page: Page, server: FakeInbox, url: str | None) -> None:
    server.add("Invitation", actions=[{"label": "Accept", "url": url}])

    page.open_inbox(server.page())

    assert page.run("$$('.actions a').length") == 0


def test_text_that_turns_around_turns_nothing_else_around(page: Page, server: FakeInbox) -> None:
    turned = "gpj.\u202eexe\u2067\u2066"
    server.add(turned, message=turned, actor=MARIA | {"name": turned}, thread={"kind": "issue", "id": turned})
    server.add("عاجل: الخادم", age=9)

    page.open_inbox(server.page())

    everything = (
        "$$('*').map((each) => [each.textContent, ...each.getAttributeNames().map((name) => each.getAttribute(name))]).join()"
    )
    assert not page.run(rf"/[\u202a-\u202e\u2066-\u2069]/.test({everything})")
    assert page.run("$$('.title, .message, .fact bdi').every((each) => getComputedStyle(each).unicodeBidi === 'isolate')")
    assert page.run("[row('عاجل: الخادم').querySelector('.title').matches(':dir(rtl)'), $('.row').matches(':dir(ltr)')]") == [
        True,
        True,
    ]
