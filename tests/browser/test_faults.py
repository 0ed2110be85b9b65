"""No fault that axe-core knows, in the list, a menu, the preferences and the toast, in light and in the dark."""

import pytest

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page
from tests.console.console import AXE

MARIA = {"id": "u-17", "name": "Maria Silva", "avatar_url": None}
# What is asked of a whole page is not asked of the bell in it.
FOUND = """axe.run(document, {resultTypes: ['violations'], rules: {
    region: {enabled: false}, 'landmark-one-main': {enabled: false}, 'page-has-heading-one': {enabled: false}
}}).then(({violations}) => violations.map(({id, nodes}) => [id, nodes[0].html]))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_bell_has_no_fault_that_axe_knows(page: Page, server: FakeInbox, scheme: str) -> None:
    actions = [{"label": "Yes", "url": "https://example.com/1"}, {"label": "No", "url": "https://example.com/2"}]
    server.add("Serious", severity="critical", actions=actions, message="Now.", actor=MARIA, reason="mention")
    server.add("Less so", severity="warning", icon="🎂", unread=False, for_everyone=True, scope="repo:a")
    server.types = [{"name": "login", "locked": True, "channels": ["email"]}, {"name": "news", "channels": ["email", "sms"]}]
    server.unreachable = {"sms": "no_address"}
    page.call("Page.setBypassCSP", enabled=True)  # axe is not the page's
    page.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")  # nothing half faded in
    page.goto(server.page('token="good" toast group="scope"'))
    page.run(f"(() => {{ {AXE} }})(), 0")
    page.equals("words($('.badge'))", "1")
    server.add("Just in", actor=MARIA)
    page.see("$('.arrival')?.matches(':popover-open')")
    faults = {"toast": page.run(FOUND)}

    page.click(".bell")
    page.see("$$('.row').length === 3")
    faults["list"] = page.run(FOUND)
    page.click(".row .more")
    faults["menu"] = page.run(FOUND)
    page.press("Escape")
    page.click("[aria-label=Preferences]")
    page.see("$$('.type').length === 2")
    faults["preferences"] = page.run(FOUND)

    assert faults == {"toast": [], "list": [], "menu": [], "preferences": []}
