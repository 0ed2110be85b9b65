"""The local pages in a browser: a newcomer's whole way, every page for everybody, and what is said when something is slow."""

import json
import os
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from devstack.launch import RunningStack
from tests.browser.page import Page
from tests.console.console import LOOK, Console
from tests.e2e.client import Client

PHONE = (360, 740)
WHO = {"id": "newcomer-test", "email": "newcomer-test@example.com", "phone": "+14155550199"}
# From here on notifications are accepted and never planned, and hours go by.
SLOW = """
const real = fetch, now = Date.now;
window.later = 0; Date.now = () => now() + window.later;
window.fetch = async (url, ...more) => url.includes("/v1/notifications/")
  ? Response.json({notification_id: "n-1", status: "accepted", routes: [], timeline: []}) : real(url, ...more);
"""
ANSWERED = "JSON.parse($$('#send .called pre')[1].textContent).notification_id"
GONE = "window.fetch = () => Promise.reject(new TypeError('Failed to fetch'));"


@pytest.fixture
def console(page: Page, running_stack: RunningStack) -> Console:
    """As somebody looks at a page: by what can be read and pressed there."""
    page.before_scripts(LOOK)
    return Console(page, running_stack.dev["base_url"])


def go(console: Console, place: str, *, sign: str = "$('h1')") -> None:
    console.page.call("Page.navigate", url="about:blank")
    console.page.call("Page.navigate", url=console.url + place)
    console.page.see(f"document.readyState === 'complete' && {sign}")


def remember(console: Console, **progress: object) -> None:
    """As if the page had been here before."""
    kept = json.dumps(json.dumps(progress))
    console.page.before_scripts(f"if (location.protocol === 'http:') localStorage.setItem('tocsin-start', {kept})")


def faults_of_pages(console: Console) -> list[str]:
    """What axe finds in light, and in the dark on a phone, and whether it fits there; five rows of a hundred are enough."""
    console.page.run("$$('tbody tr:nth-child(n + 6), .message:nth-child(n + 6)').forEach((one) => one.remove())")
    found: list[str] = []
    for theme, size in (("light", (1280, 900)), ("dark", PHONE)):
        console.page.size(*size, touch=size == PHONE)
        console.page.media(prefers_color_scheme=theme)
        found += [f"{theme}: {each}" for each in console.violations()]
    return found + (["too wide for a phone"] if console.sideways() > 0 else [])


def in_a_terminal(curl: str, stack: RunningStack) -> str:
    """The notification that this call, as it was copied, is answered with: the same one, by its idempotency key."""
    environment = os.environ | {"TOCSIN_KEY": stack.dev["api_key"]}
    done = subprocess.run(["/bin/bash", "-c", curl], env=environment, capture_output=True, timeout=30, check=True)
    return str(json.loads(done.stdout)["notification_id"])


def take_picture(console: Console, folder: Path) -> None:
    """The picture of docs/local-stack.md, kept where TOCSIN_SCREENSHOTS says (`make screenshots`)."""
    picture = Path(os.environ.get("TOCSIN_SCREENSHOTS") or folder) / "start-light.png"
    console.page.size(960, 1120)
    console.page.screenshot(picture)
    assert picture.stat().st_size > 15_000  # an empty page has less to show


def test_a_newcomer_sends_one_sees_it_breaks_a_provider_and_sees_the_retry(
    console: Console, running_stack: RunningStack, tmp_path: Path
) -> None:
    page = console.page
    page.media(prefers_color_scheme="light")
    go(console, "/", sign="$('#send button:enabled')")
    assert page.run("location.pathname") == "/_local/"
    console.fill_in("Your words", "It's alive!")

    console.press("Send it")
    page.see("$('#see.done')", 40)
    page.see("""words($('#see')).includes("It's alive!")""")
    links = page.run("$$('#see .shown a').map((one) => one.pathname)")
    assert links == ["/_local/mailbox", "/_local/mailbox", "/_local/inbox", "/console"]
    assert in_a_terminal(curl := page.run("$('#send .called pre').textContent"), running_stack) == page.run(ANSWERED), curl

    take_picture(console, tmp_path)

    console.press("Ask what became of it")
    page.see("words($('#why')).includes('SES took the email to newcomer-')")

    console.press("Break it and send again")
    page.see("words($('#retry .tries')).includes('ServiceUnavailable') && $('#retry [data-due]')")
    page.see("words($('#retry')).includes('The SMS and the inbox did not wait: both are there.')")
    page.call("Page.reload")
    page.see("$('#why.done') && words($('#retry .tries'))?.includes('Attempt 1 by SES: not taken this time.')")

    console.press("Mend it")
    page.see("$('#retry.done') && /Delivered, at attempt [2-9]/.test(words($('#retry')))", 30)
    assert running_stack.dev["api_key"] not in page.run(
        "JSON.stringify([document.documentElement.outerHTML, {...localStorage}, {...sessionStorage}, document.cookie])"
    )
    assert faults_of_pages(console) == []

    page.size(1280, 900)
    page.click("$$('#retry a').find((one) => one.hash && one.pathname === '/_local/mailbox')")
    page.see("$('.message[open] iframe') && words($('.message[open]')).includes('Hello from Tocsin')")
    assert faults_of_pages(console) == []
    page.complaints()
    assert page.logged == []


@pytest.mark.parametrize("place", ["/_local/", "/_local/mailbox?to=nobody", "/_local/inbox", "/_local/overview"])
def test_a_page_has_no_fault_that_axe_knows_and_fits_a_phone(console: Console, place: str) -> None:
    go(console, place)

    assert faults_of_pages(console) == []
    assert console.page.run("$('link[rel=icon]').href").endswith("/bell.svg")
    console.page.complaints()
    assert console.page.logged == []


def test_the_mailbox_hears_of_new_mail_and_shows_it_without_its_scripts(console: Console, running_stack: RunningStack) -> None:
    address = f"{uuid4().hex[:8]}@example.com"
    go(console, f"/_local/mailbox?to={address}")
    payload = {"title": "<script>top.stolen = 1</script>News", "message": "In full."}

    audience = {"kind": "address", "email": address}
    Client.of(running_stack).send(type="note", audience=audience, channels=["email"], payload=payload)

    console.page.see("$('#messages iframe') && words($('#count')) === '1 message'", 30)
    assert console.page.run("window.stolen ?? null") is None


def test_a_queue_that_is_slow_is_waited_for_with_a_limit_and_one_can_look_again(console: Console) -> None:
    console.page.before_scripts(SLOW)
    remember(console, who=WHO, first={"id": "n-1", "calls": []})
    go(console, "/_local/")

    console.reads("Waiting for the first worker, who plans it …")
    console.page.run("later = 61_000")
    console.reads("Still waiting for the first worker, who plans it. Nothing is lost")
    console.press("Look again")

    console.page.see("!button('Look again') && words($('#see')).includes('Waiting for the first worker')")


def test_a_stack_that_does_not_answer_is_said_beside_the_button(console: Console) -> None:
    console.page.before_scripts(GONE)
    go(console, "/_local/", sign="$('#send button:enabled')")

    console.press("Send it")

    console.page.see("words($('#send [role=alert]')) === 'The local stack does not answer. Is “make dev” still running?'")


def test_what_the_api_refuses_is_said_in_its_words(console: Console) -> None:
    remember(console, who=WHO | {"email": "nobody"})
    go(console, "/_local/", sign="$('#send button:enabled')")

    console.press("Send it")

    console.page.see("/^The answer was 422\\..*email: /.test(words($('#send [role=alert]')))")


def test_after_a_reset_of_the_stack_one_begins_again(console: Console) -> None:
    unknown = {"id": str(uuid4()), "calls": []}
    remember(console, who=WHO, first=unknown, second=unknown, why=True, fault=[])

    go(console, "/_local/")

    console.reads("This stack does not know what you sent any more: it was reset.")
    console.page.see("$('#why .act button').disabled && !$('.done')")
