"""Webhooks, triggers and values: added, changed, switched and taken back; a rival's write is not overwritten."""

import json
import uuid
from typing import Any

from tests.console.console import Console
from tests.e2e.client import Client

URL = "https://hooks.example.com/console"


def _hook(client: Client, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = client.call("POST", "/v1/webhooks", {"url": URL, "events": ["notification.cancelled"]} | more).body
    return made


def test_a_webhook_is_added_and_its_secret_is_shown_until_it_is_kept(console: Console, client: Client) -> None:
    console.open("#/webhooks/new")
    console.fill_in("Address", f"{URL}/added")
    console.press("Add the webhook")

    console.reads("Keep this secret now")
    secret = console.page.run("words($('.shown-once code'))")
    assert secret.startswith("whsec_")
    assert secret not in console.page.run("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
    console.settled()  # the page grows above it until it is loaded
    console.press("I have kept it")
    console.page.see("!$('.shown-once')")
    hook_id = console.page.run("location.hash").rsplit("/", 1)[1]
    assert client.call("DELETE", f"/v1/webhooks/{hook_id}").status == 204


def test_what_the_api_refuses_stands_at_its_field_and_nothing_typed_is_lost(console: Console) -> None:
    console.open("#/webhooks/new")
    console.fill_in("Address", "ftp://example.com/hook")
    console.fill_in("What it is for", "the shop 👋")
    console.press("Add the webhook")
    console.page.see("$('.field.wrong .error')")

    console.page.run("location.hash = '#/webhooks'")
    console.page.see("words($('h1')) === 'Webhooks'")
    console.page.run("location.hash = '#/webhooks/new'")

    console.reads("What you typed before is here again")
    assert console.page.run("field('What it is for').value") == "the shop 👋"
    console.press("Begin anew")
    console.page.see("field('What it is for').value === ''")


def test_a_webhook_is_switched_off_and_the_toast_takes_it_back(console: Console, client: Client) -> None:
    hook = _hook(client)
    console.open(f"#/webhooks/{hook['id']}")

    console.press("Switch off")
    console.reads("It is switched off")
    console.reads("Somebody switched it off.")
    console.press("Undo")

    console.page.see("button('Switch off')", seconds=8)
    assert client.call("GET", f"/v1/webhooks/{hook['id']}").body["is_active"] is True
    client.call("DELETE", f"/v1/webhooks/{hook['id']}")


def test_a_trigger_is_added_with_its_retries_explained_and_deleted_after_a_word(console: Console, client: Client) -> None:
    console.open("#/triggers/new")
    console.fill_in("Collections", "shelf:*")
    console.fill_in("Name", "Shelves")
    console.press("Begin with an example")
    console.fill_in("Tries in all", "3")
    console.fill_in("First pause", "2")
    chosen = "one.value = 'exponential'; one.dispatchEvent(new Event('change', {bubbles: true}))"
    console.page.run(f"(() => {{ const one = field('Further pauses'); {chosen}; }})()")
    console.reads("at once, then after 2 s and 4 s")
    console.press("Add the trigger")

    console.page.see("words($('h1')) === 'Shelves'")
    console.reads("in a collection that begins with “shelf:”")
    trigger_id = console.page.run("location.hash").rsplit("/", 1)[1]
    made = client.call("GET", f"/v1/triggers/{trigger_id}").body
    assert made["retry"] == {"max_attempts": 3, "backoff": "exponential", "base_ms": 2000}
    console.press("Delete it")
    console.press("Delete the trigger")
    console.page.see("location.hash === '#/triggers'")
    assert client.call("GET", f"/v1/triggers/{trigger_id}").status == 404


def test_what_is_changed_of_a_trigger_is_all_that_is_sent(console: Console) -> None:
    console.open()
    script = "tocsinFiles.root"
    trigger = {
        "kind": "dead_letter",
        "name": "a",
        "enabled": True,
        "source_filter": "plan",
        "trigger_id_filter": None,
        "script_id_filter": None,
        "retry": {"max_attempts": 2, "backoff": "linear", "base_ms": 500},
        "handler": {"id": "h", "kind": "webhook", "url": URL, "timeout_seconds": 5},
    }

    changes = console.page.run(
        f"import(new URL('trigger-words.js', {script})).then(({{changesOf, draftOf}}) => {{ const one = {json.dumps(trigger)};"
        " return changesOf(one, {...draftOf(one), name: 'b', source_filter: '', timeout_seconds: '7'}); })"
    )

    assert changes == {"name": "b", "source_filter": None, "handler": {"url": URL, "timeout_seconds": 7}}


def test_a_rivals_write_is_shown_and_not_overwritten(console: Console, client: Client) -> None:
    key = uuid.uuid4().hex
    path = f"/v1/kv/rivals/{key}"
    client.call("PUT", path, {"left": 1})
    console.open(f"#/values/rivals/{key}")
    console.fill_in("JSON", '{"left": 2}')
    client.call("PUT", path, {"left": 3})

    console.press("Save")

    console.reads("Somebody else has written this value since you opened it")
    assert client.call("GET", path).body["value"] == {"left": 3}
    console.press("Write mine over theirs")
    console.reads("It is saved as version 3.")
    assert client.call("GET", path).body["value"] == {"left": 2}


def test_a_value_that_was_deleted_is_put_again_by_undo(console: Console, client: Client) -> None:
    key = uuid.uuid4().hex
    path = f"/v1/kv/undone/{key}"
    client.call("PUT", path, {"left": 1})
    console.open(f"#/values/undone/{key}")

    console.press("Delete it")
    console.press("Delete the value")
    console.reads("The value is deleted.")
    assert client.call("GET", path).status == 404
    console.press("Undo")

    console.reads("Undone.")
    assert client.call("GET", path).body["value"] == {"left": 1}
