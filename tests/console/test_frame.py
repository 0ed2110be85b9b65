"""The frame: signing in and out, who may see what, moving about by keyboard."""

import pytest

from devstack.launch import RunningStack
from tests.browser.page import Page
from tests.console.console import LOOK, Console
from tests.e2e.client import Client

NOT_LOCAL = """
const real = fetch, isLocal = (url) => String(url).includes("/_local/");
window.fetch = (url, ...more) => isLocal(url) ? Promise.resolve(new Response("", {status: 404})) : real(url, ...more);
"""


@pytest.fixture
def elsewhere(page: Page, stack: RunningStack) -> Console:
    """The console of a stack that is not on this machine: nobody is signed in without a key."""
    page.before_scripts(NOT_LOCAL)
    page.before_scripts(LOOK)
    console = Console(page, stack.dev["base_url"])
    page.call("Page.navigate", url=f"{console.url}/console")
    page.see("document.querySelector('.sign-in')")
    return console


def sign_in(console: Console, key: str, name: str = "Jane Doe") -> None:
    page = console.page
    page.run("document.querySelectorAll('.sign-in input')[0].focus()")
    page.type(name)
    page.run("document.querySelectorAll('.sign-in input')[1].focus()")
    page.type(key)
    page.press("Enter")


def test_on_ones_own_machine_one_is_signed_in_already(console: Console) -> None:
    console.open()

    console.page.see("words($('h1')) === 'Now'")


def test_elsewhere_a_key_and_a_name_are_asked_for_and_what_is_changed_stands_under_that_name(
    elsewhere: Console, client: Client
) -> None:
    sign_in(elsewhere, client.key)
    elsewhere.page.see("document.querySelector('#page-title')?.innerText === 'Now'")

    own = "new URL('api.js', tocsinFiles.root)"
    elsewhere.page.run(f"import({own}).then((api) => api.put(['users', 'named'], {{email: 'named@example.com'}}))")

    (entry,) = client.call("GET", "/v1/audit-log?person=Jane%20Doe").body["data"]
    assert entry["resource_type"] == "user"


def test_a_key_that_is_not_good_is_refused_in_words(elsewhere: Console, client: Client) -> None:
    sign_in(elsewhere, client.key[:-1] + ("a" if client.key[-1] != "a" else "b"))

    elsewhere.page.see("document.querySelector('.error')?.innerText.startsWith('This key is not accepted')")


def test_the_key_is_nowhere_but_in_memory(console: Console, client: Client) -> None:
    console.open()

    kept = console.page.run("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")

    assert client.key not in kept
    assert "tcn_" not in kept


def test_what_a_key_may_not_do_is_not_offered(elsewhere: Console, client: Client) -> None:
    body = {"name": "reader", "producer": "support", "scopes": ["read"], "mode": "live"}
    made = client.call("POST", "/v1/api-keys", body).body

    sign_in(elsewhere, made["key"])

    elsewhere.page.see("document.querySelector('#menu')")
    offered = elsewhere.page.run("[...document.querySelectorAll('#menu a')].map((one) => one.innerText.trim())")
    assert offered == ["Now", "Live decisions", "Notifications"]
    elsewhere.page.run("location.hash = '#/keys'")
    elsewhere.page.see("document.body.innerText.includes('Your key cannot open this page')")


def test_a_session_ends_after_thirty_idle_minutes_and_says_so(console: Console) -> None:
    console.page.before_scripts("window.later = 0; const now = Date.now; Date.now = () => now() + window.later;")
    console.open()

    console.page.run("later = 29.5 * 60_000; document.dispatchEvent(new Event('visibilitychange'))")
    console.reads("You will be signed out in a minute")
    console.page.run("later = 31 * 60_000; document.dispatchEvent(new Event('visibilitychange'))")

    console.page.see("$('.sign-in') && words(document.body).includes('You were signed out after 30 minutes')")


def test_whoever_touches_something_stays(console: Console) -> None:
    console.page.before_scripts("window.later = 0; const now = Date.now; Date.now = () => now() + window.later;")
    console.open()

    console.page.run("later = 29.5 * 60_000; document.dispatchEvent(new Event('visibilitychange'))")
    console.reads("You will be signed out in a minute")
    console.page.press("x")
    console.page.run("later = 40 * 60_000; document.dispatchEvent(new Event('visibilitychange'))")

    assert console.page.run("$('.sign-in')") is None


def test_the_keyboard_searches_and_opens_pages(console: Console) -> None:
    console.open()

    console.page.press("/")
    assert console.page.run("document.activeElement.id") == "search"
    console.page.run("document.activeElement.blur()")
    console.page.press("g", "d")

    console.page.see("words($('h1')) === 'Dead letters' && document.activeElement.id === 'page-title'")


def test_what_the_keyboard_reaches_is_not_under_the_bar_at_the_top(console: Console) -> None:
    console.open("#/templates/order-shipped", size=(1280, 500))

    console.page.run("scrollTo(0, 900), button('Send a test').focus()")

    console.page.see("button('Send a test').getBoundingClientRect().top >= $('.top').getBoundingClientRect().bottom")


def test_a_page_of_another_site_gets_no_key_from_the_local_stack(stack: RunningStack, client: Client) -> None:
    assert client.call("GET", "/_local/session").status == 403
    assert client.call("GET", "/_local/session", Tocsin_Local="x", Host="evil.example:80").status == 403
    assert client.call("GET", "/_local/session", Tocsin_Local="x").body["key"] == client.key
