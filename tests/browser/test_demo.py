"""The page that shows the element, under the policy that the server sends with it."""

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page


def test_the_demo_takes_the_token_from_its_address_and_out_of_it(page: Page, server: FakeInbox) -> None:
    server.add("News")

    page.goto(f"{server.url}/inbox/demo#token=good")

    page.equals("words($('.badge'))", "1")
    assert page.run("location.href") == f"{server.url}/inbox/demo"
    page.see("document.querySelector('#events').innerText.includes('tocsin-unread')")


def test_a_token_can_be_pasted(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.goto(f"{server.url}/inbox/demo")

    page.click("document.querySelector('#token')")
    page.type(" good ")
    page.press("Enter")

    page.equals("words($('.badge'))", "1")
    assert page.run("document.querySelector('#token').value") == ""


def test_the_switch_changes_the_page_and_the_panel_together(page: Page, server: FakeInbox) -> None:
    page.media(prefers_color_scheme="light")
    page.goto(f"{server.url}/inbox/demo#token=good")

    page.click("document.querySelector('#theme')")
    page.click(".bell")
    page.see("$('.panel')")

    page.equals("getComputedStyle($('.panel')).backgroundColor", "rgb(23, 25, 31)")
    assert page.run("document.querySelector('#theme').innerText") == "Light"


def test_a_row_that_is_opened_is_listed_as_text(page: Page, server: FakeInbox) -> None:
    server.add("<b>News</b>\u202e")
    page.open_inbox(f"{server.url}/inbox/demo#token=good")

    page.click(".open")

    listed = "document.querySelector('#events').innerText"
    page.see(f"""['tocsin-select', '<b>News</b>\\\\u202e"'].every((each) => {listed}.includes(each))""")


def test_attributes_can_be_tried(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.goto(f"{server.url}/inbox/demo#token=good")

    page.run("""const [locale, , , , title] = document.querySelector('#wishes').elements;
        locale.value = 'de'; title.checked = true;
        for (const each of [locale, title]) each.dispatchEvent(new Event('change', {bubbles: true}))""")

    page.equals("$('.bell').ariaLabel", "Mitteilungen, 1 ungelesen")
    assert page.run("document.title").startswith("(1) ")
