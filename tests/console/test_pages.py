"""Every page: no fault that axe-core knows, in light, dark and on a phone; no sideways scrolling, no broken policy."""

import json

import pytest

from tests.console.console import DESK, PHONE, Console
from tests.e2e.client import Client

PAGES = [
    "#/", "#/live", "#/notifications", "#/dead-letters", "#/system-events", "#/users", "#/users/import", "#/users/jun",
    "#/users/jun?tab=inbox", "#/users/elif?tab=preferences", "#/users/ada?tab=sent", "#/suppressions", "#/templates",
    "#/templates/order-shipped", "#/types", "#/routing", "#/webhooks", "#/triggers", "#/values", "#/values/stock", "#/jobs",
    "#/malformed", "#/retention", "#/diagnostics", "#/keys", "#/providers", "#/tenants", "#/audit", "#/search?q=hana", "#/demo",
    "#/nowhere",
]  # fmt: skip


@pytest.mark.parametrize("place", PAGES)
def test_a_page_has_no_fault_that_axe_knows_and_fits_a_phone(console: Console, place: str) -> None:
    console.open(place)
    assert console.violations() == []

    console.page.media(prefers_color_scheme="dark")  # nothing but colours is another
    assert console.violations("color-contrast") == []

    console.page.size(*PHONE, touch=True)
    assert console.sideways() <= 0
    assert console.violations() == []


def test_a_notification_and_a_dead_letter_have_none_either(console: Console, client: Client) -> None:
    (letter, *_) = client.call("GET", "/v1/dead-letters?limit=1").body["data"]

    for place in (f"#/notifications/{letter['notification_id']}", f"#/dead-letters/{letter['id']}"):
        console.open(place, size=DESK, theme="dark")
        assert console.violations() == []
        console.page.size(*PHONE, touch=True)
        assert console.sideways() <= 0


def test_every_page_of_the_menu_is_among_them(console: Console) -> None:
    console.open()

    offered = console.page.run("$$('#menu a').map((one) => one.getAttribute('href'))")

    assert set(offered) <= set(PAGES)


def test_hostile_words_are_words(console: Console, client: Client) -> None:
    """Names and titles come from strangers: markup stays text, a word without end breaks, and nothing turns the page around."""
    name = "<img src=x onerror=alert(1)>\u202egnirts" + "\u0627" * 40 + "🦜" * 60 + "w" * 90
    assert client.call("PUT", "/v1/users/stranger", {"username": name[:100]}).status in (200, 201)
    audience = {"kind": "users", "user_ids": ["stranger"]}
    client.send(type="note", audience=audience, channels=["in_app"], payload={"title": name[:200], "message": name * 3})

    console.open("#/users/stranger?tab=inbox", size=PHONE)

    console.page.see(f"words($('main')).includes({json.dumps('<img src=x')})")
    assert console.page.run("document.images.length") == 0
    assert console.sideways() <= 0


def test_words_without_end_make_no_page_wider_than_its_window(console: Console, client: Client) -> None:
    words = "w" * 90
    body = {"name": words, "channel": "email", "locale": "default", "subject": words * 5, "body": words * 9, "variables": []}
    client.call("POST", "/v1/templates", body)
    client.call("POST", "/v1/api-keys", {"name": words, "producer": words[:60], "scopes": ["read"], "mode": "live"})

    for place, sign in ((f"#/templates/{words}", "$('.mail-line')"), ("#/keys", "$('tbody tr')")):
        console.open(place)
        console.page.see(sign)
        assert console.sideways() <= 0
