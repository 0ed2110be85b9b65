"""What is not asked by HTTP: what providers say afterwards, a browser that waits, and what the clock starts."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from devstack.launch import RunningStack
from tests.e2e.client import Client, wait_for
from tests.lambda_runtime.functions import another


@pytest.fixture
def client(running_stack: RunningStack) -> Client:
    return Client.of(running_stack)


def test_an_sms_and_a_push_are_handed_to_sns(client: Client) -> None:
    name = f"u{uuid4().hex[:8]}"
    phone = f"+1415555{uuid4().int % 10_000:04}"
    client.call("PUT", f"/v1/users/{name}", {"phone": phone})
    client.call("PUT", f"/v1/users/{name}/devices/token-{name}", {"platform": "fcm"})

    sent = client.send(
        type="note", audience={"kind": "users", "user_ids": [name]}, channels=["sms", "push"], payload={"title": f"To {name}"}
    )
    client.finished(sent)

    letters = client.call("GET", "/_local/mailbox").body["data"]
    ours = {letter["channel"] for letter in letters if name in str(letter)}
    assert ours == {"sms", "push"}


def test_a_bounce_is_heard_and_the_address_is_not_written_to_again(client: Client) -> None:
    address = f"bounce-{uuid4().hex}@example.com"
    intent: dict[str, Any] = {"type": "note", "audience": {"kind": "address", "email": address}, "payload": {"title": "Hello"}}

    first = client.send(**intent)
    heard = wait_for(lambda: client.notification(first)["routes"], lambda routes: routes and routes[0]["feedback"] != "none")
    (second,) = client.finished(client.send(**intent))["routes"]

    assert heard[0]["feedback"] == "hard_bounced"
    assert (second["status"], second["reason"].partition(":")[0]) == ("skipped", "suppressed")
    assert len(client.mails_to(address)) == 1


def test_a_browser_that_waits_is_answered_when_something_arrives(client: Client) -> None:
    name = f"u{uuid4().hex[:8]}"
    client.call("PUT", f"/v1/users/{name}", {})
    token = client.call("POST", f"/v1/users/{name}/tokens", {}).body["token"]
    known = client.call("GET", "/v1/inbox/live?wait=0", Authorization=f"Bearer {token}").headers["etag"]

    with ThreadPoolExecutor(1) as browser:
        waiting = browser.submit(
            client.call, "GET", "/v1/inbox/live?wait=20", Authorization=f"Bearer {token}", If_None_Match=known
        )
        client.send(type="note", audience={"kind": "users", "user_ids": [name]}, channels=["in_app"], payload={"title": "Look"})
        answer = waiting.result()

    assert answer.status == 200
    assert answer.headers["etag"] != known


def test_the_sweep_finds_what_nobody_was_nudged_for(client: Client, tmp_path: Path) -> None:
    address = f"{uuid4().hex}@example.com"
    sent = client.send(
        type="note",
        audience={"kind": "address", "email": address},
        payload={"title": "Later"},
        send_at="2027-06-01T09:00:00Z",
    )
    with psycopg.connect(client.stack.dev["database_url"], autocommit=True) as conn:
        overdue = "UPDATE outbox SET due_at = tocsin_now() - interval '1 minute', nudged_at = NULL WHERE notification_id = %s"
        wait_for(lambda: conn.execute(overdue, [sent]).rowcount, bool)

    with another(client.stack, "SweepFunction", tmp_path / "log") as sweep:
        outcome = sweep.invoke({})

    assert outcome.error is None
    assert set(outcome.result) == {"nudged", "depth"}
    wait_for(lambda: client.mails_to(address), lambda mails: len(mails) == 1)


def test_retention_forgets_what_is_old_and_keeps_what_is_not(client: Client, tmp_path: Path) -> None:
    old, young = (f"{age}-{uuid4().hex}" for age in ("old", "young"))
    with psycopg.connect(client.stack.dev["database_url"], autocommit=True) as conn:
        conn.execute(
            """
            INSERT INTO malformed_intents (stream_entry_id, tenant_id, failure_code, failure_message, raw_fields, recorded_at)
            SELECT entry, (SELECT id FROM tenants LIMIT 1), 'schema', 'x', '{}', tocsin_now() - age
            FROM (VALUES (%s, interval '40 days'), (%s, interval '1 day')) AS entries (entry, age)
            """,
            [old, young],
        )
        with another(client.stack, "RetentionFunction", tmp_path / "log") as retention:
            outcome = retention.invoke({})
        left = conn.execute("SELECT stream_entry_id FROM malformed_intents WHERE stream_entry_id IN (%s, %s)", [old, young])

        assert outcome.error is None
        assert left.fetchall() == [(young,)]
