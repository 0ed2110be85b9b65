"""Loops end: depth travels through intents, values and, signed, through whoever is called and writes back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.message import Message
from uuid import UUID

import pytest

from devstack.post_office.letters import Reply
from devstack.post_office.wire import Server
from tests.events import fan_out_all, route
from tests.functions.doors import Api
from tests.links import TOKEN_SECRET
from tests.trigger_runs import TELL_ALICE, Triggers, calling, telling_alice
from tests.webhooks import add_hook
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import depth_tokens
from tocsin.access.key_format import SCOPES
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import settings

REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "Address blacklisted.")
INTENT = {"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {"title": "hello"}, "channels": ["email"]}
EVENT = {"specversion": "1.0", "type": "issue.opened", "source": "/tests", "id": "1", "data": {"mentions": ["alice"]}}
CLOUD = {"Content-Type": "application/cloudevents+json"}
HEADER = depth_tokens.HEADER


@pytest.fixture
def api(world: World, triggers: Triggers) -> Api:
    return Api(world.add_key(*SCOPES))


@contextmanager
def writing_back(write: Callable[[str], None]) -> Iterator[str]:
    """A handler of somebody's own: for each event that it hears of it writes, with the token that came along."""

    def reply(method: str, path: str, body: bytes, headers: Message) -> Reply:
        write(headers[HEADER])
        return Reply(200, b"", "text/plain")

    server = Server(0, reply)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.stop()


def drain(world: World, most: int = 60) -> None:
    for _ in range(most):
        if world.count("outbox") == 0:
            return
        world.pass_time(timedelta(seconds=5))
        world.dispatch()
    raise AssertionError("it does not end")


def token(depth: int, tenant: UUID = TENANT, secret: str = TOKEN_SECRET) -> str:
    return depth_tokens.sign(depth, tenant, secret.encode())


def test_a_loop_through_a_handler_that_writes_back_over_http_ends_at_8_with_one_system_event(
    world: World, triggers: Triggers, api: Api
) -> None:
    depths: list[int | None] = []

    def write(said: str) -> None:
        depths.append(triggers.depth_in(said))
        assert api.call("PUT", "/v1/kv/loop/n", {"n": len(depths)}, headers={HEADER: said}).status == 200

    with writing_back(write) as url:
        trigger = triggers.register("kv", calling(url), collection_glob="loop")
        assert api.call("PUT", "/v1/kv/loop/n", {"n": 0}).status == 201
        drain(world)

    assert depths == [1, 2, 3, 4, 5, 6, 7, 8]
    (event,) = world.system_events()
    assert (event["event_type"], event["subject"]) == ("trigger_depth_exceeded", f"trigger:{trigger.id}")
    assert (event["tenant_id"], event["is_resolved"], event["details"]["depth"]) == (TENANT, False, 9)
    assert world.dead_letters() == []


def test_a_loop_through_status_webhooks_is_refused_at_the_door_with_one_system_event(
    world: World, triggers: Triggers, api: Api
) -> None:
    world.add_user()
    statuses: list[int] = []

    def send(said: str) -> None:
        headers = {HEADER: said, "Idempotency-Key": f"again-{len(statuses)}"}
        statuses.append(api.call("POST", "/v1/intents", INTENT, headers=headers).status)

    with writing_back(send) as url:
        add_hook(world, url, events=["notification.published"])
        assert api.call("POST", "/v1/intents", INTENT, headers={"Idempotency-Key": "first"}).status == 202
        drain(world)

    assert statuses == [202] * 8 + [409]
    (event,) = world.system_events()
    assert (event["event_type"], event["subject"], event["tenant_id"]) == ("trigger_depth_exceeded", "calls", TENANT)
    assert [row["trigger_depth"] for row in world.rows("SELECT trigger_depth FROM records ORDER BY accepted_at")] == list(
        range(9)
    )


@pytest.mark.parametrize("way", ["intent", "batch", "event", "kv", "delete"])
def test_what_comes_out_of_too_long_a_chain_is_refused_and_leaves_nothing(way: str, world: World, api: Api) -> None:
    world.add_user()
    headers = {HEADER: token(9), "Idempotency-Key": "k"}
    calls = {
        "intent": ("POST", "/v1/intents", INTENT, headers),
        "batch": ("POST", "/v1/intents/batch", {"intents": [INTENT | {"idempotency_key": "k"}]}, headers),
        "event": ("POST", "/v1/events", EVENT, headers | CLOUD),
        "kv": ("PUT", "/v1/kv/loop/n", {"n": 1}, headers),
        "delete": ("DELETE", "/v1/kv/loop/n", None, headers),
    }
    method, path, body, sent = calls[way]

    answer = api.call(method, path, body, headers=sent)

    assert (answer.status, answer.json["type"]) == (409, "/errors#trigger-depth-exceeded")
    assert [world.count(table) for table in ("records", "domain_events", "kv_entries", "outbox")] == [0, 0, 0, 0]


def test_it_is_told_once_while_nobody_has_resolved_it(world: World, triggers: Triggers) -> None:
    triggers.register("kv", telling_alice())
    for _ in range(3):
        triggers.put(depth=8)

    triggers.run()
    assert len(world.system_events()) == 1
    world.admin.execute("UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()")
    triggers.put(depth=8)
    triggers.run()

    assert len(world.system_events()) == 2
    assert (world.dead_letters(), world.count("records"), triggers.waiting()) == ([], 0, [])


def test_how_deep_it_may_go_is_a_setting(world: World, triggers: Triggers, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user()
    monkeypatch.setenv("MAX_TRIGGER_DEPTH", "2")
    settings.settings.cache_clear()
    triggers.register("kv", telling_alice())

    triggers.put("two", depth=1)
    triggers.put("three", depth=2)
    triggers.run(2)

    assert [mail.content.title for mail in world.email.accepted] == ["two"]


def test_an_intent_that_dies_is_answered_once_and_its_answer_that_dies_by_nobody(world: World, triggers: Triggers) -> None:
    world.add_user()
    triggers.register(
        "dead_letter", telling_alice(payload={"title": "{{ event.failure_classification }}"}), source_filter="deliver"
    )
    world.email.answers += [REFUSED] * 30
    world.accept()

    drain(world)

    letters = world.dead_letters()
    assert [(letter["trigger_depth"], letter["resolution"]) for letter in letters] == [(0, "handled_by_script"), (1, None)]
    assert world.system_events() == []


@pytest.mark.parametrize("way", ["intent", "batch", "event"])
def test_what_is_sent_with_the_token_is_as_deep_as_it_says(way: str, world: World, api: Api) -> None:
    world.add_user()
    headers = {HEADER: token(5)}
    match way:
        case "intent":
            answer = api.call("POST", "/v1/intents", INTENT, headers=headers | {"Idempotency-Key": "k"})
        case "batch":
            answer = api.call("POST", "/v1/intents/batch", {"intents": [INTENT | {"idempotency_key": "k"}]}, headers=headers)
        case _:
            route(world, "issue.opened", {"mention": ["email"]})
            answer = api.call("POST", "/v1/events", EVENT, headers=headers | CLOUD)
    assert answer.status in (200, 202), answer.text
    world.email.answers.append(REFUSED)

    if way == "event":
        fan_out_all(world)
    world.dispatch()

    assert [row["trigger_depth"] for row in world.rows("SELECT trigger_depth FROM records")] == [5]
    assert [letter["trigger_depth"] for letter in world.dead_letters()] == [5]


PLACES = ["POST /v1/intents", "POST /v1/intents/batch", "POST /v1/events", "PUT /v1/kv/c/k", "DELETE /v1/kv/c/k"]
FORGERIES = {
    "another tenant's": token(3, OTHER_TENANT),
    "another secret's": token(3, secret="guessed"),
    "changed": "2" + token(3)[1:],
    "empty": "",
    "no token": "3",
    "too long": token(3) + "A" * 10_000,
}


@pytest.mark.parametrize("forged", FORGERIES)
@pytest.mark.parametrize(
    "place", ["POST /v1/intents", "POST /v1/intents/batch", "POST /v1/events", "PUT /v1/kv/c/k", "DELETE /v1/kv/c/k"]
)
def test_a_token_that_the_tenant_was_not_given_is_refused_by_name(place: str, forged: str, world: World, api: Api) -> None:
    world.add_user()
    method, path = place.split()
    bodies = {"/v1/intents": INTENT, "/v1/intents/batch": {"intents": [INTENT | {"idempotency_key": "k"}]}, "/v1/events": EVENT}
    headers = {HEADER: FORGERIES[forged], "Idempotency-Key": "k"} | (CLOUD if path == "/v1/events" else {})

    answer = api.call(method, path, bodies.get(path, {"n": 1}) if method != "DELETE" else None, headers=headers)

    assert (answer.status, answer.headers["Content-Type"]) == (422, "application/problem+json")
    assert answer.json["errors"] == [{"pointer": HEADER, "message": "is not valid"}]
    assert (world.count("records"), world.count("domain_events"), world.count("kv_entries")) == (0, 0, 0)


def test_without_a_token_a_call_begins_a_chain(world: World, triggers: Triggers, api: Api) -> None:
    triggers.register("kv", telling_alice())

    assert api.call("PUT", "/v1/kv/stock/A-17", {"left": 3}).status == 201

    assert [row["trigger_depth"] for row in triggers.waiting()] == [1]


def test_while_the_secret_cannot_be_read_a_token_is_not_judged(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER_TOKEN_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:gone")
    settings.settings.cache_clear()

    answer = api.call("PUT", "/v1/kv/c/k", {"n": 1}, headers={HEADER: token(1)})

    assert (answer.status, world.count("kv_entries")) == (503, 0)


def test_a_digest_is_as_deep_as_what_it_collects(world: World, triggers: Triggers) -> None:
    """Else a loop whose mails are held back would begin anew with each digest."""
    world.add_user()
    about = {"thread": {"kind": "item", "id": "A-17"}}
    triggers.register("kv", {"kind": "intent", "intent": TELL_ALICE | about})
    for depth in (0, 1, 4):
        triggers.put(depth=depth)
        triggers.run(2)

    (digest,) = world.rows("SELECT * FROM records WHERE audience_kind = 'digest'")
    work = world.rows("SELECT trigger_depth FROM outbox WHERE notification_id = %(id)s", id=digest["notification_id"])

    assert (digest["trigger_depth"], [row["trigger_depth"] for row in work]) == (5, [5])
