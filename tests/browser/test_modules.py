"""One script tag brings the whole bell: its other files come from where it came from, in the version it was written for."""

import re

from tests.browser.fake_inbox import NONCE_POLICY, WEB, FakeInbox, serving
from tests.browser.page import Page
from tools.asset_versions import version_of


def files(*names: str) -> list[str]:
    return [f"tocsin-inbox-{name}.js" for name in names]


IMPORTED = files("core", "dom", "loader", "look", "session", "states", "title", "words")
PANEL = files("acts", "figure", "keys", "list", "menus", "panel", "panel-look", "parts", "rows", "tabs", "times")
ON_DEMAND = files("arrival", "de", "es", "fr", "preferences")


def scripts(server: FakeInbox) -> list[tuple[str, dict[str, str]]]:
    return sorted(((each.path, each.query) for each in server.answered if re.search(r"/inbox/.*\.js$", each.path)), key=str)


def test_each_file_is_loaded_once_and_by_its_version(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())

    page.run("import('/inbox/tocsin-inbox.js')")

    def parts(names: list[str]) -> list[tuple[str, dict[str, str]]]:
        return [(f"/inbox/{name}", {"v": version_of(WEB / name)}) for name in names]

    assert scripts(server) == [*parts(IMPORTED), ("/inbox/tocsin-inbox.js", {})]
    page.click(".bell")
    page.see("$('.state')")
    assert scripts(server) == sorted([*parts(IMPORTED), *parts(PANEL), ("/inbox/tocsin-inbox.js", {})], key=str)
    assert {path.name for path in WEB.glob("tocsin-inbox*.js")} == {"tocsin-inbox.js", *IMPORTED, *PANEL, *ON_DEMAND}


def test_a_page_that_trusts_scripts_by_a_nonce_needs_no_more_than_before(page: Page, server: FakeInbox) -> None:
    server.add("News")

    page.open_inbox(server.page(policy=NONCE_POLICY))

    page.see("row('News')")


def test_in_a_page_of_another_origin_everything_comes_from_where_the_script_came_from(page: Page, server: FakeInbox) -> None:
    server.add("From there")
    elsewhere = FakeInbox()
    with serving(elsewhere):
        page.call("Page.navigate", url=f"{elsewhere.url}/blank")
        page.see("document.title === 'Blank'")
        page.run(f"import('{server.url}/inbox/tocsin-inbox.js').then(() => 0)")
        page.run("window.inbox = document.createElement('tocsin-inbox'); inbox.token = 'good'; document.body.append(inbox)")
        page.equals("words($('.badge'))", "1")

    assert len(scripts(server)) == len(IMPORTED) + 1
    assert (scripts(elsewhere), elsewhere.asked) == ([], [])


def test_words_that_a_page_puts_in_place_are_those_that_are_shown(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    page.run("import('/inbox/tocsin-inbox.js').then(({text}) => { Object.assign(text, {label: 'Mitteilungen'}) })")

    page.run("window.inbox = document.createElement('tocsin-inbox'); document.body.append(inbox)")

    page.equals("$('.bell').getAttribute('aria-label')", "Mitteilungen")
