"""Webhooks by HTTP: a secret is shown once, everything wrong is refused by name, and every change is written down."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from tests.crash.desk import Crew
from tests.functions.doors import Api, Context, handler_of, sqs_event
from tests.providers import make_data_key
from tests.webhooks import EVENTS, allow_loopback, carry_out, receiving, status
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.access.key_format import SCOPES
from tocsin.foundation import encryption, settings
from tocsin.webhooks import register, signing_secrets

URL = "https://hooks.example.com/tocsin"
HOOK = {"url": URL, "events": ["notification.published", "notification.bounced"]}
DAY = timedelta(days=1)

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    signing_secrets.forget()
    return make_data_key(monkeypatch)


@pytest.fixture
def set_variable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def put(name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        settings.settings.cache_clear()

    return put


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs ORDER BY created_at, id")


def _added(api: Api, **changes: Any) -> dict[str, Any]:
    answer = api.post("/v1/webhooks", HOOK | changes)
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def test_a_hook_is_added_and_its_secret_is_shown_once(world: World, api: Api) -> None:
    made = _added(api)

    assert made.pop("created_at") == made.pop("updated_at")
    secret = made.pop("secret")
    assert made == {
        "id": str(world.one("SELECT id FROM webhooks")),
        "url": URL,
        "description": "",
        "events": ["notification.published", "notification.bounced"],
        "modes": ["live"],
        "is_active": True,
        "disabled_reason": "",
        "disabled_at": None,
        "retry_count": 10,
        "timeout_seconds": 10,
        "failing_since": None,
        "last_success_at": None,
        "previous_secret_expires_at": None,
        "created_by": str(world.one("SELECT id FROM api_keys")),
    }
    assert secret.startswith("whsec_")
    for answer in (api.get("/v1/webhooks"), api.get(f"/v1/webhooks/{made['id']}"), api.patch(f"/v1/webhooks/{made['id']}", {})):
        assert answer.status == 200
        assert "secret" not in answer.text.replace("previous_secret_expires_at", "")
        assert secret not in answer.text


def test_the_secret_is_nowhere_but_in_that_answer(world: World, api: Api, ears: Callable[[], str]) -> None:
    made = _added(api)
    rotated = api.post(f"/v1/webhooks/{made['id']}/rotate-secret").json
    api.delete(f"/v1/webhooks/{made['id']}")

    for secret in (made["secret"], rotated["secret"]):
        assert secret not in ears()
        assert not any(secret in str(row) for row in _audit(world))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no address": ({"url": None}, "/url"),
    "an empty address": ({"url": ""}, "/url"),
    "an address that is too long": ({"url": "https://hooks.example.com/" + "x" * 475}, "/url"),
    "plain http": ({"url": "http://hooks.example.com"}, "/url"),
    "an IP address": ({"url": "https://192.0.2.1/"}, "/url"),
    "the metadata service": ({"url": "https://169.254.169.254/latest"}, "/url"),
    "a name of the inside": ({"url": "https://db.internal/"}, "/url"),
    "a password": ({"url": "https://me:secret@hooks.example.com/"}, "/url"),
    "a number as address": ({"url": 7}, "/url"),
    "no events": ({"events": []}, "/events"),
    "events that are none": ({"events": None}, "/events"),
    "an unknown event": ({"events": ["notification.read"]}, "/events/0"),
    "the test event": ({"events": ["webhook.test"]}, "/events/0"),
    "an event twice": ({"events": ["notification.published", "notification.published"]}, "/events"),
    "an unknown mode": ({"modes": ["staging"]}, "/modes/0"),
    "no mode": ({"modes": []}, "/modes"),
    "a mode twice": ({"modes": ["live", "live"]}, "/modes"),
    "a description that is too long": ({"description": "x" * 201}, "/description"),
    "no tries": ({"retry_count": 0}, "/retry_count"),
    "eleven tries": ({"retry_count": 11}, "/retry_count"),
    "tries as text": ({"retry_count": "3"}, "/retry_count"),
    "no seconds": ({"timeout_seconds": 0}, "/timeout_seconds"),
    "sixteen seconds": ({"timeout_seconds": 16}, "/timeout_seconds"),
    "active as text": ({"is_active": "yes"}, "/is_active"),
    "a secret of one's own": ({"secret": "whsec_mine"}, "/secret"),
    "somebody else's tenant": ({"tenant_id": str(uuid4())}, "/tenant_id"),
    "an id of its own": ({"id": str(uuid4())}, "/id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_valid_is_refused_by_name_and_nothing_is_kept(world: World, api: Api, name: str) -> None:
    changes, pointer = WRONG[name]

    answer = api.post("/v1/webhooks", HOOK | changes)

    assert (answer.status, answer.json["type"]) == (422, "/errors#invalid-request"), answer.text
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert (world.count("webhooks"), _audit(world)) == (0, [])


@pytest.mark.parametrize("name", [name for name, (change, _) in WRONG.items() if None not in change.values()])
def test_a_change_to_what_is_not_valid_is_refused_in_the_same_way(world: World, api: Api, name: str) -> None:
    made = _added(api)
    changes, pointer = WRONG[name]

    answer = api.patch(f"/v1/webhooks/{made['id']}", changes)

    assert (answer.status, [error["pointer"] for error in answer.json["errors"]]) == (422, [pointer]), answer.text
    assert len(_audit(world)) == 1


@pytest.mark.parametrize("missing", ["url", "events"])
def test_what_is_required_is_named(api: Api, missing: str) -> None:
    answer = api.post("/v1/webhooks", {name: value for name, value in HOOK.items() if name != missing})

    assert (answer.status, answer.json["errors"]) == (422, [{"pointer": f"/{missing}", "message": "is required"}])


def test_every_event_may_be_asked_for(api: Api) -> None:
    assert _added(api, events=EVENTS, modes=["live", "test"])["events"] == EVENTS


def test_what_is_given_is_changed_and_the_rest_stays(world: World, api: Api) -> None:
    made = _added(api)
    del made["secret"]
    changes = {"url": "https://other.example.com", "events": ["notification.skipped"], "modes": ["test"], "retry_count": 3}
    changes |= {"timeout_seconds": 5, "description": "the shop"}

    answer = api.patch(f"/v1/webhooks/{made['id']}", changes)

    assert (answer.status, answer.json) == (200, made | changes | {"updated_at": answer.json["updated_at"]})
    assert api.get(f"/v1/webhooks/{made['id']}").json == answer.json


def test_a_hook_is_switched_off_by_request_and_on_again(world: World, api: Api) -> None:
    made = _added(api)

    off = api.patch(f"/v1/webhooks/{made['id']}", {"is_active": False}).json
    again = api.patch(f"/v1/webhooks/{made['id']}", {"is_active": False}).json
    on = api.patch(f"/v1/webhooks/{made['id']}", {"is_active": True}).json

    assert (off["is_active"], off["disabled_reason"], again["disabled_at"]) == (False, "request", off["disabled_at"])
    assert (on["is_active"], on["disabled_reason"], on["disabled_at"]) == (True, "", None)


def test_a_hook_may_begin_switched_off(api: Api) -> None:
    made = _added(api, is_active=False)

    assert (made["is_active"], made["disabled_reason"]) == (False, "request")


def test_hooks_are_listed_the_oldest_first_and_deleted(world: World, api: Api) -> None:
    first, second = _added(api), _added(api)
    assert [one["id"] for one in api.get("/v1/webhooks").json["data"]] == [first["id"], second["id"]]

    assert api.delete(f"/v1/webhooks/{first['id']}").status == 204

    assert [one["id"] for one in api.get("/v1/webhooks").json["data"]] == [second["id"]]
    assert api.delete(f"/v1/webhooks/{first['id']}").status == 404


def test_a_rotation_shows_the_new_secret_once_and_until_when_the_old_one_signs(world: World, api: Api) -> None:
    made = _added(api)

    rotated = api.post(f"/v1/webhooks/{made['id']}/rotate-secret")

    assert rotated.status == 200
    assert rotated.json["secret"] != made["secret"]
    assert world.one("SELECT previous_secret_expires_at - updated_at FROM webhooks") == DAY
    assert "secret" not in api.get(f"/v1/webhooks/{made['id']}").json
    (row,) = world.rows("SELECT * FROM webhooks")
    purpose = signing_secrets.purpose_of("webhook", UUID(made["id"]))
    assert encryption.unseal(row["secret"], tenant_id=TENANT, purpose=purpose) == rotated.json["secret"]
    assert encryption.unseal(row["previous_secret"], tenant_id=TENANT, purpose=purpose) == made["secret"]


def test_a_tenant_has_as_many_hooks_as_it_may_and_no_more(
    world: World, api: Api, set_variable: Callable[[str, str], None]
) -> None:
    set_variable("WEBHOOKS_PER_TENANT", "2")
    first = _added(api)
    _added(api)

    refused = api.post("/v1/webhooks", HOOK)

    assert (refused.status, refused.json["type"]) == (409, "/errors#limit-reached")
    assert "2" in refused.json["detail"]
    api.delete(f"/v1/webhooks/{first['id']}")
    assert api.post("/v1/webhooks", HOOK).status == 201


def test_hooks_that_are_added_at_once_do_not_exceed_the_cap(world: World, set_variable: Callable[[str, str], None]) -> None:
    set_variable("WEBHOOKS_PER_TENANT", "3")
    new = register.NewWebhook(URL, EVENTS, "", ["live"], True, 10, 10)
    crew, ends = Crew(), []

    def add() -> None:
        try:
            register.add(world.connect("tocsin_app"), Actor(TENANT, "key:x"), new, created_by=uuid4())
            ends.append("added")
        except register.TooManyWebhooks:
            ends.append("refused")

    for _ in range(8):
        crew.start(add)
    crew.join()

    assert (sorted(ends), world.count("webhooks")) == (["added"] * 3 + ["refused"] * 5, 3)


def test_where_no_way_leads_out_a_hook_cannot_be_added_or_switched_on(
    world: World, api: Api, set_variable: Callable[[str, str], None]
) -> None:
    made = _added(api, is_active=False)
    set_variable("INTERNET_EGRESS", "false")

    for answer in (api.post("/v1/webhooks", HOOK), api.patch(f"/v1/webhooks/{made['id']}", {"is_active": True})):
        assert (answer.status, answer.json["type"]) == (409, "/errors#internet-egress-required")
        assert "InternetEgress=true" in answer.json["detail"]
    assert world.count("webhooks") == 1
    assert api.patch(f"/v1/webhooks/{made['id']}", {"description": "later"}).status == 200


@pytest.mark.parametrize(("egress", "private"), [("true", "false"), ("unknown", "false"), ("false", "true")])
def test_elsewhere_it_can(egress: str, private: str, api: Api, set_variable: Callable[[str, str], None]) -> None:
    set_variable("INTERNET_EGRESS", egress)
    set_variable("ALLOW_PRIVATE_DESTINATIONS", private)

    assert api.post("/v1/webhooks", HOOK).status == 201


def test_while_kms_cannot_be_asked_nothing_is_stored(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _added(api)

    def refuse(*_: Any, **__: Any) -> bytes:
        raise encryption.CannotSeal("ThrottlingException")

    monkeypatch.setattr(encryption, "seal", refuse)

    for answer in (api.post("/v1/webhooks", HOOK), api.post(f"/v1/webhooks/{made['id']}/rotate-secret")):
        assert (answer.status, answer.json["type"]) == (503, "/errors#unavailable")
    assert world.count("webhooks") == 1


OPERATIONS: list[tuple[str, str, Any]] = [
    ("GET", "/v1/webhooks", None),
    ("POST", "/v1/webhooks", HOOK),
    ("GET", "/v1/webhooks/{id}", None),
    ("PATCH", "/v1/webhooks/{id}", {"description": "theirs"}),
    ("POST", "/v1/webhooks/{id}/rotate-secret", None),
    ("POST", "/v1/webhooks/{id}/test", None),
    ("GET", "/v1/webhooks/{id}/deliveries", None),
    ("POST", "/v1/webhooks/deliveries/{delivery}/redeliver", None),
    ("DELETE", "/v1/webhooks/{id}", None),
]


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "manage"])
def test_only_a_key_with_the_scope_manage_has_to_do_with_hooks(world: World, api: Api, scope: str) -> None:
    made = _added(api)
    key = world.add_key(scope)
    for method, path, body in OPERATIONS:
        answer = api.call(method, path.format(id=made["id"], delivery=uuid4()), body, key=key)
        assert answer.status == 403, (method, path)
    assert len(_audit(world)) == 1


def test_another_tenants_hooks_and_deliveries_are_not_there(world: World, api: Api) -> None:
    made = _added(api)
    delivery = api.post(f"/v1/webhooks/{made['id']}/test").json
    world.add_tenant()
    stranger = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))

    assert stranger.get("/v1/webhooks").json["data"] == []
    for method, path, body in OPERATIONS[2:]:
        answer = stranger.call(method, path.format(id=made["id"], delivery=delivery["id"]), body)
        assert answer.status == 404, (method, path)
    (row,) = world.rows("SELECT description, previous_secret FROM webhooks")
    assert (row["description"], row["previous_secret"]) == ("", None)


@pytest.mark.parametrize("unknown", [str(UUID(int=1)), "nonsense"])
def test_a_hook_or_delivery_that_nobody_has_is_404(api: Api, unknown: str) -> None:
    for method, path, body in OPERATIONS[2:]:
        assert api.call(method, path.format(id=unknown, delivery=unknown), body).status == 404, (method, path)


def test_every_change_is_written_down_without_secrets(world: World, api: Api) -> None:
    made = _added(api)
    path = f"/v1/webhooks/{made['id']}"
    api.patch(path, {"url": "https://other.example.com", "is_active": True})
    api.post(f"{path}/rotate-secret")
    sent = api.post(f"{path}/test").json
    again = api.post(f"/v1/webhooks/deliveries/{sent['id']}/redeliver").json
    api.delete(path)

    rows = _audit(world)
    assert [(row["action"], row["resource_type"]) for row in rows] == [
        ("create", "webhook"), ("update", "webhook"), ("rotate", "webhook"), ("test", "webhook"),
        ("redeliver", "webhook_delivery"), ("delete", "webhook"),
    ]  # fmt: skip
    before, after = rows[1]["changes"]["old"], rows[1]["changes"]["new"]
    assert (before["host"], after["host"]) == ("hooks.example.com", "other.example.com")
    assert before.keys() == after.keys() == {"host", "url_digest"}, "what differs, and of the URL no more than where it leads"
    assert rows[3]["changes"]["new"] == {"delivery_id": sent["id"]}
    assert (rows[4]["resource_id"], rows[4]["changes"]["new"]) == (sent["id"], {"delivery_id": again["id"]})
    assert {row["actor"] for row in rows} == {f"key:{world.one('SELECT id FROM api_keys')}"}


def test_a_test_event_is_accepted_shown_and_nudged(world: World, api: Api) -> None:
    made = _added(api)
    assert world.work_queue is not None
    world.work_queue.clear()

    answer = api.post(f"/v1/webhooks/{made['id']}/test")

    assert answer.status == 202
    assert (answer.json["event_type"], answer.json["status"], answer.json["attempt_count"]) == ("webhook.test", "pending", 0)
    assert answer.json["message_id"].startswith("msg_")
    assert answer.json["payload"]["data"] == {"webhook_id": made["id"]}
    assert [(nudge.queue, nudge.ids) for nudge in world.nudges()] == [("webhook", [UUID(answer.json["id"])])]
    assert api.get(f"/v1/webhooks/{made['id']}/deliveries").json["data"] == [answer.json]


def test_a_hook_that_is_switched_off_is_neither_tested_nor_told_again(world: World, api: Api) -> None:
    made = _added(api)
    sent = api.post(f"/v1/webhooks/{made['id']}/test").json
    api.patch(f"/v1/webhooks/{made['id']}", {"is_active": False})

    for path in (f"/v1/webhooks/{made['id']}/test", f"/v1/webhooks/deliveries/{sent['id']}/redeliver"):
        answer = api.post(path)
        assert (answer.status, answer.json["type"]) == (409, "/errors#webhook-disabled")
    assert world.count("webhook_deliveries") == 1


def test_a_redelivery_is_accepted_and_shows_what_it_repeats(world: World, api: Api) -> None:
    made = _added(api)
    sent = api.post(f"/v1/webhooks/{made['id']}/test").json

    answer = api.post(f"/v1/webhooks/deliveries/{sent['id']}/redeliver")

    assert answer.status == 202
    assert (answer.json["redelivery_of"], answer.json["message_id"]) == (sent["id"], sent["message_id"])
    assert (answer.json["status"], answer.json["payload"]) == ("pending", sent["payload"])


def test_the_log_of_a_hook_comes_in_pages_and_can_be_filtered(world: World, api: Api) -> None:
    made = _added(api)
    sent = [api.post(f"/v1/webhooks/{made['id']}/test").json["id"] for _ in range(5)]
    world.admin.execute("UPDATE webhook_deliveries SET status = 'failed', next_retry_at = NULL WHERE id = %s", [sent[0]])
    path = f"/v1/webhooks/{made['id']}/deliveries"

    first = api.get(path, query={"limit": "2"}).json
    second = api.get(path, query={"limit": "2", "cursor": first["next_cursor"]}).json
    third = api.get(path, query={"limit": "2", "cursor": second["next_cursor"]}).json

    assert [one["id"] for page in (first, second, third) for one in page["data"]] == sent[::-1]
    assert third["next_cursor"] is None
    assert [one["id"] for one in api.get(path, query={"status": "failed"}).json["data"]] == [sent[0]]
    assert api.get(path, query={"status": "delivered"}).json["data"] == []
    assert len(api.get(path, query={"event_type": "webhook.test", "status": "pending"}).json["data"]) == 4
    assert api.get(path, query={"event_type": "notification.published"}).json["data"] == []
    assert api.get(path, query={"notification_id": str(uuid4())}).json["data"] == []


def test_a_delivery_that_was_made_says_so_and_when(world: World, api: Api) -> None:
    made = _added(api)
    sent = [api.post(f"/v1/webhooks/{made['id']}/test").json["id"] for _ in range(2)]
    world.admin.execute(
        """UPDATE webhook_deliveries SET status = 'delivered', delivered_at = '2026-11-17T10:00:00Z', next_retry_at = NULL
           WHERE id = %s""",
        [sent[0]],
    )

    shown = {one["id"]: one for one in api.get(f"/v1/webhooks/{made['id']}/deliveries").json["data"]}

    assert (shown[sent[0]]["delivered"], shown[sent[0]]["delivered_at"]) == (True, "2026-11-17T10:00:00Z")
    assert (shown[sent[1]]["delivered"], shown[sent[1]]["delivered_at"]) == (False, None)


@pytest.mark.parametrize(("name", "value"), [("status", "lost"), ("notification_id", "x"), ("limit", "0"), ("state", "failed")])
def test_a_filter_that_is_not_valid_is_refused_by_name(api: Api, name: str, value: str) -> None:
    made = _added(api)

    answer = api.get(f"/v1/webhooks/{made['id']}/deliveries", query={name: value})

    assert answer.status == 422
    assert name in answer.text


def test_a_hook_hears_through_its_own_door_what_became_of_a_notification(
    world: World, api: Api, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the intent to the receiver, each step by its handler, and the log afterwards."""
    allow_loopback(monkeypatch)
    world.add_user()
    with receiving() as receiver:
        receiver.answers.append(status(200, "thank you"))
        made = _added(api, url=receiver.url)
        sent = api.send().json
        carry_out(world)
        assert receiver.heard == []
        run_as("tocsin_worker")
        nudge = {"v": 1, "ids": [str(one) for one in world.due()]}
        handler_of("webhooks")(sqs_event(nudge, queue="webhook"), Context(60_000))
        run_as("tocsin_app")

    (told,) = receiver.heard
    event = Verifier(made["secret"]).verify(told["body"], told["headers"])
    assert (event["type"], event["data"]["notification_id"]) == ("notification.published", sent["notification_id"])
    path = f"/v1/webhooks/{made['id']}/deliveries"
    (shown,) = api.get(path, query={"notification_id": sent["notification_id"], "status": "delivered"}).json["data"]
    assert (shown["response_status"], shown["response_body"], shown["attempt_count"]) == (200, "thank you", 1)
    assert shown["message_id"] == told["headers"]["webhook-id"]
    assert shown["payload"] == event
