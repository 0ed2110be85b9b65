"""What a page may put in the place of ours: its own header, and its own rows by a template or a function."""

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

TEMPLATE = """(() => { const template = document.createElement('template'); template.slot = 'row';
    const article = template.content.appendChild(document.createElement('article'));
    for (const field of ['title', 'actor.name', 'actions', 'nothing', 'time']) {
        article.appendChild(document.createElement('b')).dataset.field = field }
    article.appendChild(document.createElement('img')).dataset.field = 'actor.avatar_url';
    inbox.append(template) })()"""
HOSTILE = "<img src=x onerror=window.hacked=1>"


def test_a_page_has_its_own_header_and_tab_reaches_it(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    page.run("""const header = document.createElement('div'), link = document.createElement('a'); header.slot = 'header';
        link.href = '#all'; link.textContent = 'All of it'; header.append('What is new ', link); inbox.append(header)""")
    page.click(".bell")
    page.see("$('.state')")
    assert page.run("[document.querySelector('[slot=header]').checkVisibility(), $('h2').checkVisibility()]") == [True, False]

    page.run("$('.tab').focus()")
    page.press("Tab")

    page.see("document.activeElement.textContent === 'All of it'")
    page.press("Tab", shift=True)
    page.see("focused()?.id === 'tab-all'")


def test_a_template_makes_the_rows_and_gets_text_only(page: Page, server: FakeInbox) -> None:
    server.add(HOSTILE, actor={"id": "1", "name": "Ma\u202eria", "avatar_url": "javascript:1"}, age=3660)
    page.goto(server.page())
    page.run(TEMPLATE)

    page.click(".bell")

    page.equals(
        "[...document.querySelectorAll('article b')].map((each) => each.textContent)", [HOSTILE, "Maria", "", "", "1h ago"]
    )
    assert page.run("[document.querySelector('article').checkVisibility(), $('.title').checkVisibility(), $('.figure')]") == [
        True,
        False,
        None,
    ]
    assert page.run("[document.querySelector('article img').hasAttribute('src'), window.hacked ?? 0]") == [False, 0]
    page.click("document.querySelector('article')")
    page.equals("$('.dot')", None)
    page.click("[data-act=done]")
    page.equals("document.querySelectorAll('article').length", 0)


def test_a_function_makes_the_rows_it_wants_to_and_leaves_the_others(page: Page, server: FakeInbox) -> None:
    for title in ("Node", "Text", "Usual"):
        server.add(title)
    page.goto(server.page())
    page.run("""inbox.renderRow = (row) => {
        if (row.title !== 'Node') return row.title === 'Text' ? '<b>Text</b>' : null;
        const node = document.createElement('em'); node.textContent = `${row.title}, ${row.unread}`;
        row.title = 'changed'; return node }""")

    page.click(".bell")

    page.equals(
        "[...inbox.children].map((each) => [each.localName, each.textContent])", [["span", "<b>Text</b>"], ["em", "Node, true"]]
    )
    assert page.run("$$('.title').filter((each) => each.checkVisibility()).map(words)") == ["Usual"]
    page.run("inbox.renderRow = null")
    page.equals("[inbox.children.length, $$('.title').filter((each) => each.checkVisibility()).length]", [0, 3])
