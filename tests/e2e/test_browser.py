"""The whole way: a fact is told by HTTP, and a person with the page open sees it, acts on it, and the server knows."""

from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from devstack.launch import RunningStack
from tests.browser.fake_inbox import Answer, serving
from tests.browser.page import Page
from tests.clients.js.shop import mapped_shop
from tests.e2e.client import Client, wait_for


@pytest.fixture
def client(running_stack: RunningStack) -> Client:
    return Client.of(running_stack)


@pytest.fixture
def person(client: Client) -> str:
    name = f"p{uuid4().hex[:8]}"
    assert client.call("PUT", f"/v1/users/{name}", {"email": f"{name}@example.com"}).status in (200, 201)
    return name


def open_demo(page: Page, client: Client, person: str) -> None:
    """The demonstration page with this person's token, and the panel open."""
    made = client.call("POST", f"/v1/users/{person}/tokens", {})
    assert made.status == 201, made
    page.open_inbox(f"{client.stack.dev['base_url']}/inbox/demo#token={made.body['token']}")


def inbox(client: Client, person: str, status: str = "all") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.call("GET", f"/v1/inbox?user_id={person}&status={status}").body["data"]
    return rows


def tell(client: Client, person: str, title: str, **more: Any) -> None:
    audience = {"kind": "users", "user_ids": [person]}
    client.send(type="note", audience=audience, channels=["in_app"], payload={"title": title, "message": "In full."}, **more)


def test_what_is_told_is_seen_without_a_reload_and_read_in_the_page_is_read(client: Client, page: Page, person: str) -> None:
    tell(client, person, "Before")
    wait_for(lambda: inbox(client, person), lambda rows: len(rows) == 1)
    open_demo(page, client, person)
    page.see("row('Before')")
    page.run("window.sameWorld = true")

    for number in range(3):
        tell(client, person, f"Just in {number}")
        page.see(f"row('Just in {number}') && words($('.badge')) === '{number + 2}'")

    assert page.run("sameWorld")
    for title in ("Before", "Just in 0", "Just in 1", "Just in 2"):
        page.click(f"row('{title}').querySelector('[data-act=read]')")
    counted = wait_for(
        lambda: client.call("GET", f"/v1/inbox/unread-count?user_id={person}").body, lambda body: body["unread"] == 0
    )
    assert counted == {"unread": 0, "unseen": 0, "capped": False}
    page.see("$('.badge').hidden")


def test_a_domain_event_is_seen_with_its_reason_under_its_scope(client: Client, page: Page, person: str) -> None:
    kind = f"com.example.{uuid4().hex[:8]}"
    rules = {"rules": {"mention": ["in_app"]}}
    assert client.call("PUT", f"/v1/event-routing/{kind}", rules).status in (200, 201)
    open_demo(page, client, person)
    data = {"scope": "repo:tocsin", "thread": {"kind": "issue", "id": "42"}, "actor": "somebody", "mentions": [person]}
    event = {"specversion": "1.0", "id": uuid4().hex, "source": "/tests", "type": kind, "data": data | {"title": "Have a look?"}}

    told = client.call("POST", "/v1/events", event, Content_Type="application/cloudevents+json")

    assert told.status == 202, told
    page.see("row('Have a look?')")
    assert page.run("words($('.meta'))") == "mentioned you issue 42 repo:tocsin"
    page.run("inbox.setAttribute('group', 'scope')")
    page.see("words($('h3')) === 'repo:tocsin'")


def test_everything_a_person_can_do_is_what_the_server_understands(client: Client, page: Page, person: str) -> None:
    titles = ["Saved", "Done", "Snoozed", "Muted", "Hidden"]
    for title in titles:
        tell(client, person, title, thread={"kind": "order", "id": f"{person}/{title}"})
    wait_for(lambda: inbox(client, person), lambda rows: len(rows) == len(titles))
    open_demo(page, client, person)

    for title, keys in {"Saved": "s", "Done": "d", "Muted": "m"}.items():
        page.run(f"row({title!r}).querySelector('.open').focus()")
        page.press(*keys)
    page.run("row('Snoozed').querySelector('.open').focus()")
    page.press("z", "Enter")
    page.run("row('Hidden').querySelector('.open').focus()")
    page.press("z", "End", "Enter")

    page.see("$$('.row').length === 2")
    for status in ("saved", "done", "snoozed"):
        (row,) = wait_for(partial(inbox, client, person, status), lambda rows: len(rows) == 1)
        assert row["title"] == status.capitalize()
    muted = client.call("GET", f"/v1/inbox/threads/order/{person}%2FMuted?user_id={person}").body
    assert muted["subscribed"] is False
    wait_for(lambda: inbox(client, person), lambda rows: {row["title"] for row in rows} == {"Saved", "Muted"})
    page.click("[aria-label='Mark all as read']")
    wait_for(lambda: client.call("GET", f"/v1/inbox/unread-count?user_id={person}").body["unread"], lambda unread: unread == 0)


def test_preferences_are_kept_and_what_the_server_refuses_is_said_at_the_field(client: Client, page: Page, person: str) -> None:
    open_demo(page, client, person)
    page.click("[aria-label=Preferences]")
    page.click("summary")
    page.run("$('[name=frequency_cap]').value = '3'; $('[name=timezone]').value = 'Mars/Olympus'")

    page.click("$('form').querySelector('.button')")
    page.see("$$('.error').some((each) => each.textContent) && focused().name === 'timezone'")
    page.run("$('[name=timezone]').value = 'Europe/Lisbon'; $('[name=quiet_hours_start]').value = '22:00'")
    page.run("$('[name=quiet_hours_end]').value = '07:00'")
    page.click("$('form').querySelector('.button')")
    page.equals("words($('.toast'))", "Saved.")

    rule = client.call("GET", f"/v1/inbox/preferences/email?user_id={person}").body
    assert (rule["frequency_cap"], rule["quiet_hours_start"], rule["timezone"]) == (3, "22:00", "Europe/Lisbon")


def test_a_token_that_is_not_good_signs_out_quietly(client: Client, page: Page) -> None:
    page.open_inbox(f"{client.stack.dev['base_url']}/inbox/demo#token=not.a.token")

    page.equals("words($('.state strong'))", "Signed out")
    page.see("document.querySelector('#events').innerText.includes('tocsin-token-expired')")


def test_the_bell_of_the_npm_package_shows_it_in_a_page_of_another_origin(client: Client, page: Page, person: str) -> None:
    shop = mapped_shop(api=client.stack.dev["base_url"])
    shop.token_answer = Answer(200, client.call("POST", f"/v1/users/{person}/tokens", {}).body)
    with serving(shop):
        page.goto(f"{shop.url}/")
        tell(client, person, "From afar")

        page.equals("words($('.badge'))", "1", 40)
        page.click(".bell")
        page.see("row('From afar')")

    assert (shop.tokens_asked, shop.asked) == (1, [])
