"""Templates: written with what they make beside them, published after a look at what changes, and taken back."""

from uuid import uuid4

import pytest

from tests.console.console import Console
from tests.e2e.client import Client, wait_for

MAIL = {
    "channel": "email",
    "subject": "{{ order }} has shipped",
    "body": "<p>Hello</p>\n<p>It arrives {{ eta }}.</p>",
    "variables": ["order"],
}
LINE = "words($('.mail-line'))"


@pytest.fixture
def name(client: Client) -> str:
    """A template of its own for each test."""
    name = f"parcel-{uuid4().hex[:8]}"
    assert client.call("POST", "/v1/templates", {"name": name} | MAIL).status == 201
    return name


def versions(client: Client, name: str) -> list[tuple[int, str]]:
    return [(row["version"], row["subject"]) for row in client.call("GET", f"/v1/templates/{name}").body["data"]]


def test_what_the_words_make_is_shown_while_one_types(console: Console, name: str) -> None:
    console.open(f"#/templates/{name}")
    console.page.equals(LINE, "A-17 has shipped Hello It arrives Friday, 21 November.")

    console.fill_in("Subject", "{{ order }} is {{ mood }}")
    console.page.equals(LINE, "A-17 is Sample mood Hello It arrives Friday, 21 November.")
    console.fill_in("JSON", '{"order": "B-2", "mood": "late", "eta": "now"}')

    console.page.equals(LINE, "B-2 is late Hello It arrives now.")
    assert console.page.run("$('iframe').sandbox.value === 'allow-scripts'")


def test_a_fault_stands_at_its_field_and_what_was_good_last_stays(console: Console, name: str) -> None:
    console.open(f"#/templates/{name}")
    console.page.see(LINE)

    console.fill_in("HTML body", "<p style='color: {{ order }}'>x</p>")

    console.page.see("words(field('HTML body').closest('.field').querySelector('.error'))")
    assert console.page.run(LINE).startswith("A-17 has shipped")
    assert console.page.run("button('Publish…').disabled")

    console.fill_in("HTML body", "<p>{{ order }}</p>")
    console.fill_in("JSON", "{}")

    console.reads("The template requires order.")
    console.press("Add what is missing")
    console.page.equals(LINE, "A-17 has shipped A-17")


def test_publishing_shows_what_changes_and_undo_publishes_the_old_words_again(
    console: Console, client: Client, name: str
) -> None:
    console.open(f"#/templates/{name}")
    console.page.see(LINE)
    console.fill_in("Subject", "{{ order }} is on its way")
    console.page.see("!button('Publish…').disabled")

    console.press("Publish…")
    console.page.see("words($('dialog .gone')).endsWith('Gone: {{ order }} has shipped')")
    console.page.click("document && button('Publish', $('dialog'))")

    wait_for(lambda: versions(client, name), lambda found: found[0] == (2, "{{ order }} is on its way"))
    console.press("Undo")
    wait_for(lambda: versions(client, name), lambda found: found[0] == (3, "{{ order }} has shipped"))
    console.page.equals("field('Subject').value", "{{ order }} has shipped")


def test_edits_outlive_a_look_at_another_page(console: Console, name: str) -> None:
    console.open(f"#/templates/{name}")
    console.fill_in("Subject", "Not yet")

    console.page.run("location.hash = '#/types'")
    console.page.see("words($('h1')) === 'Types'")
    console.page.run(f"location.hash = '#/templates/{name}'")

    console.page.equals("field('Subject')?.value", "Not yet")
    console.reads("edited")
    console.press("Discard the edits")
    console.page.equals("field('Subject').value", "{{ order }} has shipped")


def test_a_recorded_payload_fills_the_words_with_its_secrets_masked(console: Console, client: Client, name: str) -> None:
    payload = {"order": "C-9", "eta": "today", "password": "hunter2"}
    somebody = {"kind": "address", "email": "recorded@example.com"}
    sent = client.send(type="note", template=name, audience=somebody, channels=["email"], payload=payload)
    console.open(f"#/templates/{name}")

    console.page.run("Object.assign(field('Payload'), {value: 'recorded'}).dispatchEvent(new Event('change', {bubbles: true}))")
    console.page.see(f"[...field('Lately sent').options].some((one) => one.value === '{sent}')")
    console.fill_in("Or a notification", sent)

    console.page.equals(LINE, "C-9 has shipped Hello It arrives today.")
    assert console.page.run("words($('.json')).includes('\"password\": \"•••\"')")


def test_any_locale_can_be_tried_for_who_answers_it(console: Console, client: Client, name: str) -> None:
    client.call("POST", "/v1/templates", {"name": name} | MAIL | {"locale": "pt"})
    client.call("POST", "/v1/templates", {"name": name, "channel": "sms", "body": "{{ order }}"})
    console.open(f"#/templates/{name}?tab=locales")

    console.fill_in("Somebody's locale", "pt-BR")

    console.page.equals(
        "$$('.answers li').map(words)",
        [
            "Email: pt, version 1. It is the language of pt-BR.",
            "SMS: default, version 1. There are no words for pt-BR, and none for pt.",
        ],
    )
    assert console.page.run("words(row('SMS'))") == "SMS version 1 → falls back to default 1"


def test_a_test_goes_to_the_sandbox_unless_one_wants_it_to_arrive(console: Console, client: Client, name: str) -> None:
    console.open(f"#/templates/{name}")

    console.press("Send a test")
    console.fill_in("To", "tester@example.com")
    console.press("Send it to the sandbox")

    console.page.see("words($('dialog')).includes('published') && words($('dialog')).includes('by sandbox')", seconds=30)
    sent = console.page.run("button('Open the notification').hash.split('/').at(-1)")
    assert client.notification(sent)["mode"] == "test"
    assert client.mails_to("tester@example.com") == []


def test_a_template_taken_out_of_use_comes_back_with_undo(console: Console, client: Client, name: str) -> None:
    console.open(f"#/templates/{name}")

    console.press("Take out of use")
    console.reads("1 active version goes")
    console.page.click("document && button('Take it out of use', $('dialog'))")
    console.reads("This template is out of use")

    console.press("Undo")
    console.page.see("!words(document.body).includes('This template is out of use')")
    assert versions(client, name)[0] == (2, "{{ order }} has shipped")
