"""System events and malformed intents: noted, resolved; repaired and accepted, or put aside."""

import json
import uuid
from typing import Any

import pytest

from tests.console.console import Console
from tests.e2e.client import Client, wait_for


def _on_the_queue(client: Client, **fields: Any) -> dict[str, Any]:
    """A message of a producer of its own that could not be accepted."""
    producer = f"billing-{uuid.uuid4().hex[:8]}"
    tenant_id = client.call("GET", "/v1/me").body["tenant"]["id"]
    intent = {"type": "note", "audience": {"kind": "address", "email": f"{producer}@example.com"}, "channels": ["email"]}
    body = {"tenant_id": tenant_id, "producer": producer, "payload": {"title": "x", "message": "y"}} | intent | fields
    sqs = client.aws("sqs")
    url = next(one for one in sqs.list_queues()["QueueUrls"] if one.endswith("-intake"))
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body))
    rows = wait_for(lambda: client.call("GET", f"/v1/malformed-intents?producer={producer}").body["data"], bool)
    row: dict[str, Any] = rows[0]
    return row


def test_an_event_is_noted_by_hand_and_resolved_with_a_reason(console: Console, client: Client) -> None:
    console.open("#/system-events/new")
    console.fill_in("Type", "console.noted")
    console.fill_in("What happened", "The provider is being mended tonight")
    console.press("Note it")

    console.page.see("words($('h1')) === 'Console noted'")
    console.press("Resolve it")
    console.fill_in("Reason", "It is mended")
    console.page.press("Enter")

    console.reads("It is resolved")
    (event,) = client.call("GET", "/v1/system-events?event_type=console.noted").body["data"]
    assert (event["is_resolved"], event["resolution_reason"]) == (True, "It is mended")


@pytest.mark.parametrize("details", ['{"a": }', "{"])
def test_details_that_are_no_json_are_said_where_they_go_wrong(console: Console, details: str) -> None:
    console.open("#/system-events/new")

    console.fill_in("Details", details)

    console.reads("This is no JSON yet: something is wrong at line 1")
    assert console.page.run("button('Note it').disabled") is True


def test_a_malformed_intent_is_repaired_and_accepted_as_its_producers(console: Console, client: Client) -> None:
    row = _on_the_queue(client, channels=["pigeon"])
    console.open(f"#/malformed/{row['id']}")
    console.press("Accept it as it came")
    console.page.see("words($('.notice.bad')).includes('/channels/0')")

    text = console.page.run("field('The intent').value")
    assert "producer" not in text
    console.fill_in("The intent", text.replace("pigeon", "email"))
    console.press("Accept the repaired intent")

    console.reads("It was accepted")
    accepted = client.call("GET", f"/v1/malformed-intents/{row['id']}").body
    assert client.notification(accepted["notification_id"])["producer"] == row["producer"]


def test_a_malformed_intent_is_put_aside_with_a_reason(console: Console, client: Client) -> None:
    row = _on_the_queue(client, audience={"kind": "users", "user_ids": [uuid.uuid4().hex]})
    console.open(f"#/malformed/{row['id']}")
    console.reads("Make the user known, then accept it as it came.")

    console.press("Put it aside")
    console.fill_in("Reason", "Nobody of that name")
    console.page.press("Enter")

    console.reads("It was put aside")
    assert client.call("GET", f"/v1/malformed-intents/{row['id']}").body["resolution"] == "ignored"


def test_outcomes_that_nobody_waited_for_have_a_tab_of_their_own(console: Console) -> None:
    console.open("#/malformed")

    console.press("Abandoned executions")

    console.page.see("location.hash === '#/malformed?tab=abandoned'")
    console.reads("Everybody who waited got their answer.")
