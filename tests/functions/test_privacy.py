"""No address, phone number, payload or key appears in a log line, a metric or a queue message, whatever happens on the way."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.functions.doors import Api, Context, handler_of, intent, module_of, sqs_event
from tests.world import World
from tocsin.access.key_format import SCOPES
from tocsin.audience import fan_out
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.delivery import open as opening
from tocsin.delivery import settle
from tocsin.foundation import calls, work_queue
from tocsin.http import door
from tocsin.outbox import dispatch as dispatching
from tocsin.outbox import door as worker_door
from tocsin.webhooks import ask
from tocsin.webhooks import deliver as webhooks

EMAIL, PHONE, WORDS, TOKEN = "canary@private.example", "+14155550199", "canary-in-the-payload", "canary-device-token"
CANARIES = (EMAIL, EMAIL.upper(), PHONE, PHONE[1:], WORDS, TOKEN)

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture
def dispatch(world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)

    def deliver() -> None:
        run_as("tocsin_worker")
        nudge = {"v": 1, "ids": [str(one) for one in world.due()], "fanout": True}
        handler_of("dispatch")(sqs_event(nudge), Context())
        handler_of("sweep")({}, Context())
        run_as("tocsin_app")

    return deliver


def _events_go_through(world: World, api: Api) -> None:
    """What happened, told in every way there is, with private words in every place there is."""
    data = {"title": WORDS, "message": f"{WORDS} {EMAIL}", "mentions": ["alice", EMAIL], "scope": WORDS, "phone": PHONE}
    event = {"specversion": "1.0", "id": EMAIL, "source": WORDS, "type": "issue.commented", "data": data}
    headers = {"content-type": "application/cloudevents+json"}
    api.put("/v1/event-routing/issue.commented", {"rules": {"mention": ["in_app", "email"]}})
    api.put(f"/v1/users/alice/watches/{WORDS}", {"level": "all"})
    api.post("/v1/events", event, headers=headers)
    api.post("/v1/events", event, headers=headers)  # a duplicate
    api.post("/v1/events", event | {"data": data | {"mentions": EMAIL}}, headers=headers)  # 422
    api.post("/v1/events", event, headers={"content-type": WORDS})  # 415
    api.post("/v1/events", [event, {"id": EMAIL}], headers={"content-type": "application/cloudevents-batch+json"})
    on_the_bus = {"detail-type": "issue.commented", "source": "s", "id": "7", "detail": data}
    handler_of("intake_queue")(sqs_event(on_the_bus, on_the_bus | {"detail": data | {"url": EMAIL}}, first_id=20), Context())


def _a_person_reads(api: Api) -> str:
    """Everything a browser does. Returns its token."""
    token: str = api.post("/v1/users/alice/tokens").json["token"]
    browser = Api(token)
    rows = browser.get("/v1/inbox").json["data"]
    assert rows
    browser.get("/v1/inbox/live", query="wait=0")
    browser.get("/v1/inbox", query={"kind": EMAIL, "thread": f"{WORDS}:{EMAIL}"})
    browser.patch(f"/v1/inbox/{rows[0]['id']}", {"read": True})
    browser.patch(f"/v1/inbox/{rows[0]['id']}", {"read": WORDS})  # 422
    browser.put(f"/v1/inbox/threads/{WORDS}/{EMAIL}", {"subscribed": False})
    browser.put("/v1/inbox/preferences/email", {"timezone": EMAIL})  # 422
    browser.put("/v1/inbox/preferences/email", {"enabled": True}, query={"type": WORDS})
    browser.post("/v1/inbox/read-all", {"before": EMAIL})  # 422
    browser.get("/v1/notifications")  # 401
    Api(token[:-9]).get("/v1/inbox")  # 401
    return token


def _everything_goes_through(world: World, api: Api, dispatch: Callable[[], None]) -> str:
    api.put("/v1/users/alice", {"email": EMAIL, "phone": PHONE, "attributes": {"note": WORDS}})
    api.put(f"/v1/users/alice/devices/{TOKEN}", {"platform": "fcm"})
    api.put("/v1/users/bob", {"email": EMAIL})  # 409
    api.put("/v1/users/bob", {"email": f"{EMAIL} {EMAIL}", "phone": PHONE[1:]})  # 422
    payload = {"title": WORDS, "message": f"{WORDS} {EMAIL} {PHONE}"}
    body = intent(payload=payload, channels=["email", "sms", "push", "in_app"])
    sent = api.send(body, idempotency_key="k-1")
    api.send(intent(payload=payload), idempotency_key="k-1")  # 422
    api.send(intent(payload=payload, audience={"kind": "address", "email": EMAIL, "phone": PHONE}, channels=["email", "sms"]))
    api.send(intent(payload=payload, audience={"kind": "users", "user_ids": [EMAIL]}))  # 422
    api.send(json.dumps(body)[:-1])  # 400
    queue = handler_of("intake_queue")
    queue(sqs_event(intent(payload=payload), intent(payload=payload, nonsense=EMAIL), f"{{{EMAIL}", first_id=7), Context())
    world.email.answers.append(Failure(FailureClass.PERMANENT, "MessageRejected", f"{EMAIL} is refused"))
    world.sms.answers.append(Failure(FailureClass.TRANSIENT, "InternalError", f"{PHONE} could not be reached"))
    world.push.answers.append(Failure(FailureClass.CONFIGURATION, "AuthorizationError", f"{TOKEN} is not ours"))
    _events_go_through(world, api)
    dispatch()
    dispatch()
    api.get(f"/v1/notifications/{sent.json['notification_id']}")
    api.get("/v1/inbox", query={"user_id": "alice"})
    api.get("/v1/users", query={"cursor": EMAIL})
    return _a_person_reads(api)


def test_the_ears_hear_every_logger_of_ours(ears: Callable[[], str]) -> None:
    doors = [module_of(door) for door in ("intake_queue", "sweep")]
    speakers = (opening, settle, dispatching, fan_out, door, worker_door, work_queue, calls, webhooks, ask, *doors)
    for n, speaker in enumerate(speakers):
        speaker.log.warning("said", extra={"canary": f"canary-{n}"})

    assert all(f"canary-{n}" in ears() for n in range(len(speakers)))


def test_a_whole_day_leaves_no_canary_in_logs_metrics_and_queues(
    world: World, api: Api, token_secret: bytes, dispatch: Callable[[], None], ears: Callable[[], str]
) -> None:
    token = _everything_goes_through(world, api, dispatch)

    assert world.work_queue is not None
    heard, queued = ears(), "\n".join(world.work_queue.bodies())
    assert '"_aws"' in heard  # the metrics were heard too
    assert queued
    for canary in (*CANARIES, api.key, *(part[:-9] for part in token.split(".")[1:])):
        assert canary not in heard
        assert canary not in queued


def test_nudges_hold_ids_and_nothing_else(world: World, api: Api, token_secret: bytes, dispatch: Callable[[], None]) -> None:
    _everything_goes_through(world, api, dispatch)

    assert world.work_queue is not None
    for body in world.work_queue.bodies():
        nudge: dict[str, Any] = json.loads(body)
        assert nudge == {"v": 1, "ids": [str(UUID(one)) for one in nudge["ids"]]} | ({} if nudge["ids"] else {"fanout": True})
    assert any(json.loads(body).get("fanout") for body in world.work_queue.bodies())


def test_what_nobody_foresaw_is_logged_without_the_values_of_the_row(breakable_world: World, ears: Callable[[], str]) -> None:
    api = Api(breakable_world.add_key(*SCOPES))
    breakable_world.admin.execute("ALTER TABLE users ADD CONSTRAINT unforeseen CHECK (email IS NULL)")

    answer = api.put("/v1/users/alice", {"email": EMAIL, "phone": PHONE, "attributes": {"note": WORDS}})

    heard = ears()
    assert answer.status == 500
    assert "request failed" in heard
    for canary in CANARIES:
        assert canary not in heard
        assert canary not in answer.text


def test_a_revoked_or_unknown_key_is_not_logged(world: World, api: Api, ears: Callable[[], str]) -> None:
    key = world.add_key("read")
    world.admin.execute("UPDATE api_keys SET is_active = false, revoked_at = tocsin_now() WHERE scopes = '{read}'")

    api.get("/v1/notifications", key=key)
    api.get("/v1/notifications", key=key[:-1])

    assert key[:-1] not in ears()
