"""Copies, files and where answers go: what an intent may say of its emails, by every way in, and what becomes of it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from devstack.post_office.letters import Reply
from tests.content import add_suppression, add_type
from tests.crash.waiting import wait_until
from tests.functions.doors import Api
from tests.ses_events import event
from tests.unit.web_servers import answering
from tests.world import OTHER_TENANT, World
from tocsin.delivery import attach
from tocsin.feedback.apply import apply_events
from tocsin.feedback.ses_events import read_queue_message
from tocsin.feedback.unsubscribe_tokens import Subject, verify
from tocsin.foundation import secrets, settings
from tocsin.intake.accept_messages import Defaults, Entry, accept_entry

INTENT = {
    "type": "order.shipped",
    "audience": {"kind": "users", "user_ids": ["alice"]},
    "channels": ["email"],
    "payload": {"title": "Shipped"},
}
PDF = {"url": "https://files.example.com/a/invoice.pdf?signature=x"}
OPTIONS = {"reply_to": "help@example.com", "cc": ["bob@example.com"], "attachments": [PDF]}
KEPT = OPTIONS | {"attachments": [PDF | {"filename": "invoice.pdf"}]}


@pytest.fixture
def alice(world: World, api: Api) -> Api:
    world.add_user()
    return api


def _send(api: Api, **more: Any) -> Any:
    return api.post("/v1/intents", INTENT | more, headers={"Idempotency-Key": "k"})


def test_it_is_kept_with_the_record_and_nothing_is_where_nothing_was_said(world: World, alice: Api) -> None:
    assert alice.post("/v1/intents", INTENT, headers={"Idempotency-Key": "a"}).status == 202
    assert alice.post("/v1/intents", INTENT | OPTIONS, headers={"Idempotency-Key": "b"}).status == 202

    rows = world.rows("SELECT email_options FROM records ORDER BY idempotency_key")
    assert [row["email_options"] for row in rows] == [None, KEPT]


def test_a_batch_and_the_queue_and_the_bus_take_it_too(world: World, alice: Api) -> None:
    alice.post("/v1/intents/batch", {"intents": [INTENT | OPTIONS | {"idempotency_key": "a"}]})
    on_the_bus = {"id": "e", "detail-type": "tocsin.intent", "source": "shop", "detail": INTENT | OPTIONS}
    defaults = Defaults(world.one("SELECT id FROM tenants"), timedelta(days=7))
    for name, body in (("q", INTENT | OPTIONS), ("b", on_the_bus)):
        assert accept_entry(world.app, Entry(name, json.dumps(body)), defaults) == "accepted"

    assert [row["email_options"] for row in world.rows("SELECT email_options FROM records")] == [KEPT] * 3


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"reply_to": "nobody"}, "/reply_to"),
        ({"cc": ["bob"]}, "/cc/0"),
        ({"cc": ["bob@example.com", "BOB@example.com"]}, "/cc"),
        ({"cc": [f"b{n}@example.com" for n in range(11)]}, "/cc"),
        ({"cc": ["bob@example.com"], "audience": {"kind": "users", "user_ids": ["alice", "bob"]}}, "/cc"),
        ({"cc": ["bob@example.com"], "audience": {"kind": "tenant"}}, "/cc"),
        ({"cc": ["bob@example.com"], "channels": ["sms", "push"]}, "/cc"),
        ({"reply_to": "a@example.com", "channels": ["sms"]}, "/reply_to"),
        ({"attachments": [PDF], "channels": ["in_app"]}, "/attachments"),
        ({"attachments": [PDF], "channels": None, "audience": {"kind": "address", "phone": "+14155550100"}}, "/attachments"),
        ({"attachments": [PDF] * 11}, "/attachments"),
        ({"attachments": [{"url": "http://files.example.com/a.pdf"}]}, "/attachments/0/url"),
        ({"attachments": [{"url": "https://127.0.0.1/a.pdf"}]}, "/attachments/0/url"),
        ({"attachments": [{"url": "https://files.example.com/setup.EXE"}]}, "/attachments/0/url"),
        ({"attachments": [PDF, PDF | {"filename": "run.bat"}]}, "/attachments/1/filename"),
        ({"attachments": [PDF | {"filename": "../a.pdf"}]}, "/attachments/0/filename"),
        ({"attachments": [PDF | {"content_type": "pdf"}]}, "/attachments/0/content_type"),
        ({"attachments": [PDF | {"data": "eA=="}]}, "/attachments/0/data"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(alice: Api, change: dict[str, Any], pointer: str) -> None:
    refused = _send(alice, **change)

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, pointer)


def test_a_copy_goes_to_whom_may_be_written_to_and_the_timeline_tells_of_the_rest(world: World, alice: Api) -> None:
    add_suppression(world, "bob@example.com")
    sent = _send(alice, cc=["bob@example.com", "carol@example.com", "alice@example.com"], reply_to="help@example.com").json
    world.dispatch()

    (message,) = world.email.accepted
    assert (message.email, message.cc, message.asked_reply_to) == (
        "alice@example.com",
        ("carol@example.com",),
        "help@example.com",
    )
    told = alice.get(f"/v1/notifications/{sent['notification_id']}").json["timeline"]
    assert any("1 of 2 copies was left out: suppressed" in entry["reason"] for entry in told)


def test_who_gets_a_copy_gets_no_way_into_the_recipients_preferences(world: World, alice: Api) -> None:
    add_type(world, "order.shipped", transactional=False)
    add_suppression(world, "bob@example.com")
    _send(alice, cc=["bob@example.com"])
    world.dispatch()
    route = world.route()
    shown = alice.get(f"/v1/notifications/{route['notification_id']}/routes/{route['route_id']}/message").json

    (mail,) = world.email.accepted
    token = mail.headers["List-Unsubscribe"].strip("<>").rpartition("/u/")[2]
    subject = verify(token, secrets.accepted(settings.settings().unsubscribe_secret_arn))
    assert isinstance(subject, Subject)
    assert subject.user_id is None
    assert "/p/" not in mail.content.html + mail.content.text + shown["html"] + shown["text"]


def _told(world: World, news: str, *recipients: str) -> None:
    row = world.route()
    tags = {"tocsin_route": f"{row['notification_id']}_{row['route_id']}", "tocsin_attempt": "1-1"}
    body = event(news, tags)
    (part,) = (body[name] for name in ("bounce", "complaint", "delivery") if name in body)
    (name,) = (name for name in part if name.lower().endswith("recipients"))
    part[name] = [{"emailAddress": one} for one in recipients] if name != "recipients" else list(recipients)
    apply_events(world.worker, [read_queue_message(json.dumps(body))])


@pytest.mark.parametrize("news", ["hard bounce", "complaint"])
def test_what_a_copy_came_to_suppresses_that_address_and_says_nothing_of_the_route(world: World, alice: Api, news: str) -> None:
    _send(alice, cc=["Bob@example.com"])
    world.dispatch()

    _told(world, news, "bob@example.com", "stranger@example.com")
    assert world.route()["feedback"] == "none"
    assert [row["address"] for row in world.rows("SELECT address FROM suppressions")] == ["Bob@example.com"]
    (heard,) = world.rows("SELECT detail FROM provider_events")
    assert heard["detail"].startswith("of a copy")

    _told(world, "delivery", "alice@example.com")
    assert world.route()["feedback"] == "delivered"


def test_what_the_copy_of_an_erased_person_came_to_says_nothing_of_the_route_either(world: World, alice: Api) -> None:
    world.add_user("bob")
    _send(alice, cc=["bob@example.com"])
    world.dispatch()
    alice.post("/v1/users/bob/erase", {})

    _told(world, "hard bounce", "bob@example.com")

    assert world.route()["feedback"] == "none"
    assert world.count("suppressions") == 0
    assert world.one("SELECT address_hash FROM provider_events") is None


def test_what_both_came_to_counts_for_both(world: World, alice: Api) -> None:
    _send(alice, cc=["bob@example.com"])
    world.dispatch()

    _told(world, "hard bounce", "alice@example.com", "bob@example.com")

    assert world.route()["feedback"] == "hard_bounced"
    assert {row["address"] for row in world.rows("SELECT address FROM suppressions")} == {"alice@example.com", "bob@example.com"}


def test_erasing_a_person_takes_their_address_out_of_the_copies_of_others(world: World, alice: Api) -> None:
    world.add_user("bob")
    _send(alice, cc=["bob@example.com", "carol@example.com"], reply_to="bob@example.com")
    dry = alice.post("/v1/users/bob/erase", {"dry_run": True}).json
    alice.post("/v1/users/bob/erase", {})
    others = world.one("SELECT email_options FROM records")
    world.dispatch()
    alice.post("/v1/users/alice/erase", {})

    assert dry["would_erase"]["records"] == 1
    assert others == {"cc": ["carol@example.com"]}
    assert world.one("SELECT email_options FROM records") is None


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ALLOW_PRIVATE_DESTINATIONS", "true")
    settings.settings.cache_clear()
    yield
    settings.settings.cache_clear()


@pytest.mark.usefixtures("private")
def test_files_are_fetched_once_for_a_batch_and_go_along(world: World, alice: Api) -> None:
    with answering(Reply(200, b"%PDF", "application/pdf; charset=x")) as server:
        files = [
            {"url": f"{server.url}/in%20voice.pdf"},
            {"url": f"{server.url}/b", "filename": "b.txt", "content_type": "text/plain"},
        ]
        for key in ("a", "b"):
            alice.post("/v1/intents", INTENT | {"attachments": files}, headers={"Idempotency-Key": key})
        world.dispatch(allow_private=True)

    assert sorted((method, path) for method, path, _, _ in server.asked) == [("GET", "/b"), ("GET", "/in%20voice.pdf")]
    assert [[(one.name, one.content_type, one.data) for one in mail.attachments] for mail in world.email.accepted] == [
        [("in voice.pdf", "application/pdf", b"%PDF"), ("b.txt", "text/plain", b"%PDF")]
    ] * 2


@pytest.mark.usefixtures("private")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(404, b"", "text/plain"), "HTTP 404"),
        (Reply(410, b"", "text/plain"), "HTTP 410"),
        (Reply(302, b"", "text/plain", {"Location": "/x"}), "redirects are not followed"),
        (Reply(200, b"x", "application/x-msdownload"), "no provider sends application/x-msdownload"),
        (Reply(200, b"x" * (5 * 1024 * 1024 + 1), "text/plain"), "more than 5242880 bytes"),
    ],
)
def test_a_file_that_can_never_be_sent_is_a_dead_letter_that_names_it(world: World, alice: Api, reply: Reply, why: str) -> None:
    with answering(reply) as server:
        _send(alice, attachments=[{"url": f"{server.url}/a", "filename": "invoice.pdf"}])
        world.dispatch(allow_private=True)

    (letter,) = world.dead_letters()
    assert letter["failure_classification"] == "attachment"
    assert "invoice.pdf" in letter["failure_message"]
    assert why in letter["failure_message"]
    assert "replay" in letter["recovery_hint"]
    assert (world.email.calls, world.attempts()) == (0, [])


@pytest.mark.usefixtures("private")
def test_files_that_are_too_large_together_are_a_dead_letter(world: World, alice: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach, "MAX_BYTES", 10)
    with answering(Reply(200, b"x" * 6, "text/plain")) as server:
        _send(alice, attachments=[{"url": f"{server.url}/a"}, {"url": f"{server.url}/b"}])
        world.dispatch(allow_private=True)

    assert "more than 10 bytes together" in world.dead_letters()[0]["failure_message"]


@pytest.mark.usefixtures("private")
def test_trouble_with_a_file_is_tried_again_and_counts_against_the_message_not_the_provider(world: World, alice: Api) -> None:
    with answering(Reply(503, b"", "text/plain")) as server:
        _send(alice, attachments=[{"url": f"{server.url}/a.pdf"}], retry={"max_attempts": 2})
        world.dispatch(allow_private=True)
        waiting = world.route()
        world.pass_time(timedelta(minutes=1))
        world.dispatch(allow_private=True)

    assert (waiting["status"], waiting["reason"], waiting["last_error_classification"]) == ("failed", "retry", "transient")
    assert "a.pdf could not be fetched: HTTP 503" in waiting["last_error_message"]
    assert world.dead_letters()[0]["failure_classification"] == "exhausted"
    assert world.email.calls == 0
    assert world.count("lanes") == 0


@pytest.mark.usefixtures("private")
def test_tenants_take_turns_when_files_are_fetched(world: World, alice: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach, "AT_ONCE", 1)
    world.add_tenant()
    world.add_user(tenant=OTHER_TENANT)
    other = Api(world.add_key("send", tenant=OTHER_TENANT))
    with answering(Reply(200, b"%PDF", "application/pdf")) as server:
        for key in ("a", "b", "c"):
            alice.post(
                "/v1/intents", INTENT | {"attachments": [{"url": f"{server.url}/{key}"}]}, headers={"Idempotency-Key": key}
            )
        other.post("/v1/intents", INTENT | {"attachments": [{"url": f"{server.url}/z"}]}, headers={"Idempotency-Key": "z"})
        world.dispatch(allow_private=True)

    assert [path for _, path, _, _ in server.asked].index("/z") < 2
    assert len(world.email.accepted) == 4


@pytest.mark.usefixtures("private")
def test_others_are_sent_while_a_file_is_fetched(world: World, alice: Api) -> None:
    others: list[int] = []

    def slow(path: str) -> Reply:
        wait_until(lambda: world.email.accepted, seconds=4)
        others.append(len(world.email.accepted))
        return Reply(200, b"%PDF", "application/pdf")

    with answering(slow) as server:
        for key, files in (("a", [{"url": f"{server.url}/a.pdf"}]), ("b", [])):
            alice.post("/v1/intents", INTENT | {"attachments": files}, headers={"Idempotency-Key": key})
        world.dispatch(allow_private=True)

    assert others == [1]
    assert sorted(len(mail.attachments) for mail in world.email.accepted) == [0, 1]


@pytest.mark.usefixtures("private")
def test_what_finds_no_room_in_a_round_waits_at_no_cost(world: World, alice: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach, "MAX_HELD", 0)
    _send(alice, attachments=[{"url": "http://127.0.0.1:9/a.pdf"}])
    world.dispatch(allow_private=True)

    assert (world.route()["status"], world.route()["deferred_reason"], world.attempts()) == ("pending", "attachments_wait", [])


def test_a_test_key_may_send_files_too(world: World, alice: Api) -> None:
    sent = _send(alice, **OPTIONS, mode="test")

    assert sent.status == 202
