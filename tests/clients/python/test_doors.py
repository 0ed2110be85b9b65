"""The calls against the doors themselves: what the client sends is understood, and it understands what is answered."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.cli.stack import Doors
from tests.clients.python.wire import Asker, Clock
from tests.world import World
from tocsin.foundation import aws, secrets, settings
from tocsin.intake import wait as waiting
from tocsin_client import (
    Address,
    AsyncTocsin,
    Conflict,
    Everyone,
    Forbidden,
    Intent,
    InvalidRequest,
    NotFound,
    Scope,
    Thread,
    Unauthorized,
)

SEND: dict[str, Any] = {"type": "order.shipped", "to": "alice", "title": "Shipped", "channels": ["email"]}


def test_a_send_is_accepted_once_however_often_it_is_said(world: World, tocsin: Asker) -> None:
    world.add_user("alice")

    first = tocsin("send", **SEND, idempotency_key="order, 17")
    again = tocsin("send", **SEND, idempotency_key="order, 17")

    assert (first.status, first.is_replay, first.idempotency_key) == ("accepted", False, "order, 17")
    assert (again.notification_id, again.is_replay) == (first.notification_id, True)
    with pytest.raises(InvalidRequest) as raised:
        tocsin("send", **SEND | {"title": "Other"}, idempotency_key="order, 17")
    assert (raised.value.kind, raised.value.idempotency_key) == ("idempotency-key-reused", "order, 17")


def test_a_send_whose_answer_was_lost_arrives_once(world: World, tocsin: Asker, doors: Doors, clock: Clock) -> None:
    world.add_user("alice")
    kept = tocsin.handler

    def lossy(request: httpx.Request) -> httpx.Response:
        answer = kept(request)
        if len(doors.calls) < 3:
            raise httpx.ReadError("the connection broke")
        return answer

    tocsin.handler = lossy
    receipt = tocsin("send", **SEND)

    assert (len(doors.calls), receipt.is_replay, world.count("records")) == (3, True, 1)


def test_every_audience_is_one_that_the_service_knows(world: World, tocsin: Asker) -> None:
    world.add_user("alice")
    world.add_user("bob")
    audiences = [["alice", "bob"], Address(email="c@example.com"), Thread("order", "1"), Scope("shop"), Everyone()]

    for to in audiences:
        tocsin("send", **SEND | {"to": to})

    kinds = [row["audience_kind"] for row in world.rows("SELECT audience_kind FROM records ORDER BY accepted_at")]
    assert kinds == ["users", "address", "thread", "scope", "tenant"]


def test_what_became_of_it_is_explained(world: World, tocsin: Asker) -> None:
    world.add_user("alice")
    sent = tocsin("send", **SEND | {"channels": ["email", "sms"]}).notification_id
    world.dispatch()
    world.dispatch()

    found = tocsin("explain", sent)

    why = {route.channel: route.why for route in found.routes}
    assert why["email"] == "published: accepted by ses"
    assert why["sms"] == "skipped: no_address (the user has no email, phone or device for this channel)"
    assert f"sms to user:alice: {why['sms']}" in str(found)
    assert [step.what for step in found.timeline][:2] == ["accepted", "planned"]
    (attempt,) = [attempt for route in found.routes for attempt in route.attempts]
    assert (attempt.provider, attempt.outcome) == ("ses", "accepted")
    (listed,) = tocsin("notifications.list", type="order.shipped", user_id="alice", since=found.accepted_at)
    assert (listed.notification_id, listed.status, listed.route_counts) == (sent, "finished", {"published": 1, "skipped": 1})
    with pytest.raises(NotFound):
        tocsin("explain", "0199d3f0-0000-7000-8000-000000000000")


def test_who_waits_learns_the_outcome(world: World, tocsin: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user("alice")

    class Meanwhile:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds
            world.dispatch()

    monkeypatch.setattr(waiting, "time", Meanwhile())
    receipt = tocsin("send", **SEND, wait=5)

    assert (receipt.status, [route.why for route in receipt.routes]) == ("finished", ["published: accepted by ses"])
    with pytest.raises(InvalidRequest, match="/audience/kind"):
        tocsin("send", **SEND | {"to": Everyone()}, wait=5)


def test_a_batch_takes_what_is_good(world: World, tocsin: Asker) -> None:
    world.add_user("alice")

    good, bad = tocsin("send_batch", [SEND, Intent(**SEND | {"to": "nobody"})])

    assert (good.status, good.notification_id is not None) == (202, True)
    assert (bad.status, bad.problem.kind, bad.problem.errors[0].message) == (422, "unknown-users", "nobody is not known")


def test_what_was_not_sent_is_cancelled(world: World, tocsin: Asker) -> None:
    world.add_user("alice")
    sent = tocsin("send", **SEND).notification_id

    assert tocsin("cancel", sent).too_late == 0
    world.dispatch()
    assert [route.status for route in tocsin("explain", sent).routes] == ["cancelled"]

    other = tocsin("send", **SEND).notification_id
    world.dispatch()
    world.dispatch()
    with pytest.raises(Conflict) as raised:
        tocsin("cancel", other)
    assert raised.value.kind == "too-late"


def test_an_event_counts_once(world: World, tocsin: Asker) -> None:
    event = {"type": "comment.created", "source": "/shop", "id": "c-1", "data": {"actor": "bob"}}

    first, again = (tocsin("event", **event) for _ in range(2))

    assert (first.event_id, first.source, first.status, first.is_duplicate) == ("c-1", "/shop", "accepted", False)
    assert (again.notification_id, again.is_duplicate) == (first.notification_id, True)


def test_users_are_written_changed_found_and_erased(world: World, tocsin: Asker) -> None:
    made = tocsin("users.put", "v/ 1", email="vera@example.com", phone="+4915112345678", attributes={"plan": "pro", "seats": 3})
    changed = tocsin("users.patch", "v/ 1", phone=None, attributes={"seats": 4})

    assert (made.id, made.email, made.phone) == ("v/ 1", "vera@example.com", "+4915112345678")
    assert (changed.phone, changed.attributes) == (None, {"plan": "pro", "seats": 4})
    assert tocsin("users.get", "v/ 1") == changed
    assert tocsin("users.list", query="VERA@") == [changed]
    assert tocsin("users.put", "v/ 1").email is None

    would = tocsin("users.erase", "v/ 1", dry_run=True)
    done = tocsin("users.erase", "v/ 1")

    assert (would.is_dry_run, would.id, would.erased["users"]) == (True, None, 1)
    assert (done.is_finished, done.is_dry_run, done.erased["users"]) == (True, False, 1)
    with pytest.raises(NotFound):
        tocsin("users.get", "v/ 1")


def test_an_email_that_is_taken_is_a_conflict(world: World, tocsin: Asker) -> None:
    tocsin("users.put", "one", email="same@example.com")

    with pytest.raises(Conflict, match="email") as raised:
        tocsin("users.put", "two", email="same@example.com")

    assert raised.value.kind == "already-taken"


def test_lists_go_on_to_their_end(world: World, tocsin: Asker, doors: Doors) -> None:
    tocsin("request", "POST", "/v1/users/batch", json={"users": [{"id": f"u{n}"} for n in range(205)]})
    doors.calls.clear()

    assert {user.id for user in tocsin("users.list")} == {f"u{n}" for n in range(205)}
    assert len(doors.calls) == 2


def test_a_token_opens_the_inbox_of_its_user(
    world: World, tocsin: Asker, monkeypatch: pytest.MonkeyPatch, work_queue: Any
) -> None:
    made = aws.client("secretsmanager").create_secret(Name="user-tokens", SecretString="the secret of the installation")
    monkeypatch.setenv("USER_TOKEN_SECRET_ARN", made["ARN"])
    settings.settings.cache_clear()
    secrets.forget()
    tocsin("users.put", "alice")

    token = tocsin("tokens.create", "alice", ttl=timedelta(minutes=5))
    tocsin.options["key"] = token.token

    assert tocsin("request", "GET", "/v1/inbox/unread-count").json["unread"] == 0
    assert token.token not in repr(token)
    secrets.forget()


def test_a_key_that_may_not_or_is_none_is_told(world: World, tocsin: Asker) -> None:
    tocsin.options["key"] = world.add_key("read")
    with pytest.raises(Forbidden, match="`send`"):
        tocsin("send", **SEND)

    tocsin.options["key"] = "tcn_live_wrong"
    with pytest.raises(Unauthorized) as raised:
        tocsin("send", **SEND)
    assert raised.value.request_id


def test_many_can_be_awaited_at_once(world: World, doors: Doors, key: str) -> None:
    world.add_user("alice")

    async def send_three() -> list[Any]:
        line = httpx.MockTransport(doors.handle_request)
        async with AsyncTocsin("https://tocsin.example", key, transport=line) as client:
            receipts = await asyncio.gather(*(client.send(**SEND) for _ in range(3)))
            return [receipts, [one async for one in client.notifications.list(limit=2)]]

    receipts, listed = asyncio.run(send_three())

    assert len({receipt.notification_id for receipt in receipts}) == 3
    assert {one.notification_id for one in listed} <= {receipt.notification_id for receipt in receipts}
    assert len(listed) == 2
