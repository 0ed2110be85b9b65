"""Triggers over HTTP: everything that cannot run is refused by name, and what a trigger may do, its registrar may."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.functions.doors import Api, intent
from tests.functions.test_problems import assert_problem
from tests.providers import make_data_key
from tests.triggers import INTENT, add_handler, add_trigger, runs
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.foundation import encryption, settings

TRIGGERS = "/v1/triggers"
ARN = "arn:aws:lambda:eu-west-1:123456789012:function:stock"
BY_INTENT: dict[str, Any] = {"kind": "intent", "intent": INTENT}
BY_WEBHOOK: dict[str, Any] = {"kind": "webhook", "url": "https://shop.example.com/hooks"}
BY_LAMBDA: dict[str, Any] = {"kind": "lambda", "function_arn": ARN}
KV: dict[str, Any] = {"kind": "kv", "collection_glob": "orders:*", "ops": ["insert"], "handler": BY_INTENT}
DEAD: dict[str, Any] = {"kind": "dead_letter", "handler": BY_INTENT}


@pytest.fixture(autouse=True)
def installation(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The settings of this installation: one function may be invoked."""
    make_data_key(monkeypatch)

    def with_settings(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        settings.settings.cache_clear()

    with_settings(TRIGGER_FUNCTION_ARNS=f"{ARN},{ARN}-2")
    return with_settings


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs ORDER BY created_at, id")


def _made(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(TRIGGERS, body)
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def test_a_trigger_is_registered_and_shown_with_all_that_holds_for_it(world: World, api: Api) -> None:
    made = _made(api, KV | {"name": "new orders"})

    assert api.get(f"{TRIGGERS}/{made['id']}").json == made
    assert made.pop("created_at") == made.pop("updated_at")
    assert made == {
        "id": str(world.one("SELECT id FROM triggers")),
        "kind": "kv",
        "name": "new orders",
        "enabled": True,
        "dispatch_mode": "async",
        "collection_glob": "orders:*",
        "ops": ["insert"],
        "retry": {"max_attempts": 5, "backoff": "exponential", "base_ms": 1000},
        "handler": {"id": str(world.one("SELECT id FROM trigger_handlers")), "kind": "intent", "intent": INTENT},
        "registered_by": str(world.one("SELECT id FROM api_keys")),
    }


def test_a_dead_letter_trigger_shows_its_filters_and_nothing_of_the_other_kind(world: World, api: Api) -> None:
    filters = {"source_filter": "deliver", "trigger_id_filter": str(uuid4()), "script_id_filter": str(uuid4())}

    made, wide = _made(api, DEAD | filters), _made(api, DEAD | {"source_filter": None})

    assert {name: made[name] for name in filters} == filters
    assert {wide[name] for name in filters} == {None}
    assert not {"collection_glob", "ops"} & made.keys()


@pytest.mark.parametrize("glob", ["*", "orders", "orders:*", "a:b:*", ":*", "x" * 100, "x" * 98 + ":*"])
def test_a_glob_is_any_one_or_those_with_a_prefix(world: World, api: Api, glob: str) -> None:
    assert _made(api, KV | {"collection_glob": glob})["collection_glob"] == glob


@pytest.mark.parametrize("kind", ["kv", "dead_letter"])
def test_without_ops_or_filters_it_hears_everything(world: World, api: Api, kind: str) -> None:
    made = _made(api, {"kind": kind, "handler": BY_INTENT} | ({"collection_glob": "*"} if kind == "kv" else {}))

    assert made.get("ops", []) == []


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no kind": ({"kind": None}, "/kind"),
    "an unknown kind": ({"kind": "cron"}, "/kind"),
    "no glob": ({"collection_glob": None}, "/collection_glob"),
    "an empty glob": ({"collection_glob": ""}, "/collection_glob"),
    "a star in the middle": ({"collection_glob": "a*b"}, "/collection_glob"),
    "a star at the beginning": ({"collection_glob": "*:orders"}, "/collection_glob"),
    "a star after no colon": ({"collection_glob": "orders*"}, "/collection_glob"),
    "two stars": ({"collection_glob": "orders:**"}, "/collection_glob"),
    "a question mark": ({"collection_glob": "order?"}, "/collection_glob"),
    "a slash": ({"collection_glob": "a/b"}, "/collection_glob"),
    "a glob of a space": ({"collection_glob": " "}, "/collection_glob"),
    "a glob that is too long": ({"collection_glob": "x" * 101}, "/collection_glob"),
    "a prefix that is too long": ({"collection_glob": "x" * 99 + ":*"}, "/collection_glob"),
    "a glob that is a number": ({"collection_glob": 7}, "/collection_glob"),
    "an unknown op": ({"ops": ["insert", "upsert"]}, "/ops/1"),
    "a repeated op": ({"ops": ["insert", "insert"]}, "/ops"),
    "ops as text": ({"ops": "insert"}, "/ops"),
    "a filter of the other kind": ({"source_filter": "plan"}, "/source_filter"),
    "a name that is too long": ({"name": "x" * 101}, "/name"),
    "enabled as text": ({"enabled": "yes"}, "/enabled"),
    "sync": ({"dispatch_mode": "sync"}, "/dispatch_mode"),
    "another mode": ({"dispatch_mode": 1}, "/dispatch_mode"),
    "no attempt": ({"retry": {"max_attempts": 0}}, "/retry/max_attempts"),
    "21 attempts": ({"retry": {"max_attempts": 21}}, "/retry/max_attempts"),
    "an unknown backoff": ({"retry": {"backoff": "fibonacci"}}, "/retry/backoff"),
    "a base of 99 ms": ({"retry": {"base_ms": 99}}, "/retry/base_ms"),
    "an unknown word of retry": ({"retry": {"jitter": 1}}, "/retry/jitter"),
    "an id of its own": ({"id": str(uuid4())}, "/id"),
    "another registrar": ({"registered_by": str(uuid4())}, "/registered_by"),
    "no handler": ({"handler": None}, "/handler"),
    "a handler of no kind": ({"handler": {}}, "/handler/kind"),
    "an unknown handler": ({"handler": {"kind": "script"}}, "/handler/kind"),
    "a handler that is a list": ({"handler": []}, "/handler"),
    "a handler's id that is none": ({"handler": {"id": "7"}}, "/handler/id"),
    "a handler's id in other clothes": ({"handler": {"id": "{" + str(uuid4()) + "}"}}, "/handler/id"),
    "a handler nobody knows": ({"handler": {"id": str(uuid4())}}, "/handler/id"),
    "an id and a kind": ({"handler": BY_WEBHOOK | {"id": str(uuid4())}}, "/handler/id"),
    "a url of an intent": ({"handler": BY_INTENT | {"url": "https://x.example"}}, "/handler/url"),
    "an intent without one": ({"handler": {"kind": "intent"}}, "/handler/intent"),
    "an intent that is text": ({"handler": {"kind": "intent", "intent": "x"}}, "/handler/intent"),
    "an intent of an unknown field": ({"handler": {"kind": "intent", "intent": INTENT | {"a": 1}}}, "/handler/intent/a"),
    "an idempotency key": (
        {"handler": {"kind": "intent", "intent": INTENT | {"idempotency_key": "k"}}},
        "/handler/intent/idempotency_key",
    ),
    "Liquid that cannot be read": (
        {"handler": {"kind": "intent", "intent": INTENT | {"payload": {"title": "{{ event.key"}}}},
        "/handler/intent/payload/title",
    ),
    "a webhook without a url": ({"handler": {"kind": "webhook"}}, "/handler/url"),
    "a url that is http": ({"handler": {"kind": "webhook", "url": "http://shop.example.com"}}, "/handler/url"),
    "a url of the metadata": ({"handler": {"kind": "webhook", "url": "https://169.254.169.254/"}}, "/handler/url"),
    "a url of our own": ({"handler": {"kind": "webhook", "url": "https://localhost/"}}, "/handler/url"),
    "a url of 501 characters": ({"handler": {"kind": "webhook", "url": f"https://x.example/{'x' * 483}"}}, "/handler/url"),
    "16 seconds": ({"handler": BY_WEBHOOK | {"timeout_seconds": 16}}, "/handler/timeout_seconds"),
    "no second": ({"handler": BY_WEBHOOK | {"timeout_seconds": 0}}, "/handler/timeout_seconds"),
    "a secret of its own": ({"handler": BY_WEBHOOK | {"secret": "whsec_x"}}, "/handler/secret"),
    "no function": ({"handler": {"kind": "lambda"}}, "/handler/function_arn"),
    "a function that is not allowed": ({"handler": {"kind": "lambda", "function_arn": f"{ARN}-3"}}, "/handler/function_arn"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_could_not_run_is_refused_by_name_and_nothing_is_kept(world: World, api: Api, name: str) -> None:
    changes, pointer = WRONG[name]

    problem = assert_problem(api.post(TRIGGERS, KV | changes), 422, "invalid-request")

    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert (world.count("triggers"), world.count("trigger_handlers"), _audit(world)) == (0, 0, [])


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"collection_glob": "*"}, "/collection_glob"),
        ({"ops": ["insert"]}, "/ops"),
        ({"source_filter": "email"}, "/source_filter"),
        ({"trigger_id_filter": "7"}, "/trigger_id_filter"),
        ({"script_id_filter": 7}, "/script_id_filter"),
    ],
)
def test_filters_of_dead_letters_are_refused_by_name_too(world: World, api: Api, changes: Any, pointer: str) -> None:
    problem = assert_problem(api.post(TRIGGERS, DEAD | changes), 422, "invalid-request")

    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_the_answer_says_why_a_mode_or_a_function_is_refused(world: World, api: Api) -> None:
    mode = assert_problem(api.post(TRIGGERS, KV | {"dispatch_mode": "sync"}), 422, "invalid-request")
    function = assert_problem(api.post(TRIGGERS, KV | {"handler": BY_LAMBDA | {"function_arn": "x"}}), 422, "invalid-request")

    assert mode["errors"][0]["message"].startswith("must be async:")
    assert "TriggerFunctionArns" in function["errors"][0]["message"]


def test_an_intent_above_32_kib_is_refused(world: World, api: Api) -> None:
    large = INTENT | {"payload": {"message": "x" * 32_768}}

    problem = assert_problem(api.post(TRIGGERS, KV | {"handler": {"kind": "intent", "intent": large}}), 422, "invalid-request")

    assert problem["errors"] == [{"pointer": "/handler/intent", "message": "must have at most 32768 bytes"}]


def test_a_webhook_gets_a_secret_that_is_shown_once_and_kept_sealed(world: World, api: Api) -> None:
    answer = api.post(TRIGGERS, KV | {"handler": BY_WEBHOOK})

    handler = answer.json["handler"]
    secret = handler.pop("secret")
    assert (secret[:6], len(secret)) == ("whsec_", 50)
    assert handler == BY_WEBHOOK | {"id": handler["id"], "timeout_seconds": 10}
    for later in (api.get(f"{TRIGGERS}/{answer.json['id']}"), api.get(TRIGGERS)):
        assert "whsec_" not in later.text
    kept = world.one("SELECT secret FROM trigger_handlers")
    assert secret.encode() not in kept
    assert encryption.unseal(kept, tenant_id=TENANT, purpose=f"handler:{handler['id']}:secret") == secret
    assert "shop.example.com" not in str(_audit(world))
    assert secret not in str(_audit(world))


def test_while_no_secret_can_be_sealed_no_webhook_is_registered(
    world: World, api: Api, installation: Callable[..., None]
) -> None:
    installation(DATA_KEY_ARN="arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000")

    assert_problem(api.post(TRIGGERS, KV | {"handler": BY_WEBHOOK}), 503, "unavailable")
    assert world.count("trigger_handlers") == 0


@pytest.mark.parametrize(
    ("egress", "private", "status"),
    [("false", "false", 409), ("true", "false", 201), ("unknown", "false", 201), ("false", "true", 201)],
)
def test_without_a_way_out_a_webhook_says_so_at_once(
    world: World, api: Api, installation: Callable[..., None], egress: str, private: str, status: int
) -> None:
    installation(INTERNET_EGRESS=egress, ALLOW_PRIVATE_DESTINATIONS=private)

    answer = api.post(TRIGGERS, KV | {"handler": BY_WEBHOOK})

    assert answer.status == status
    if status == 409:
        assert "InternetEgress" in assert_problem(answer, 409, "internet-egress-required")["detail"]
    assert api.post(TRIGGERS, KV | {"handler": BY_LAMBDA}).status == 201


def test_where_private_destinations_are_allowed_a_handler_may_be_one(
    world: World, api: Api, installation: Callable[..., None]
) -> None:
    installation(ALLOW_PRIVATE_DESTINATIONS="true")

    assert api.post(TRIGGERS, KV | {"handler": {"kind": "webhook", "url": "http://127.0.0.1:9000/hook"}}).status == 201


def test_the_retry_policy_is_copied_when_it_is_made_and_an_override_stands_beside_the_default(
    world: World, api: Api, installation: Callable[..., None]
) -> None:
    installation(TRIGGER_RETRY_MAX_ATTEMPTS="3", TRIGGER_RETRY_BACKOFF="linear", TRIGGER_RETRY_BASE_MS="700")
    usual = _made(api, KV)
    other = _made(api, KV | {"retry": {"max_attempts": 9}})
    installation(TRIGGER_RETRY_MAX_ATTEMPTS="11", TRIGGER_RETRY_BACKOFF="constant", TRIGGER_RETRY_BASE_MS="900")

    shown = {row["id"]: row["retry"] for row in api.get(TRIGGERS).json["data"]}

    assert shown[usual["id"]] == {"max_attempts": 3, "backoff": "linear", "base_ms": 700}
    assert shown[other["id"]] == {"max_attempts": 9, "backoff": "linear", "base_ms": 700}
    api.put("/v1/kv/orders:1/k", 1)
    assert sorted((run["max_attempts"], run["retry_backoff"], run["retry_base_ms"]) for run in runs(world)) == [
        (3, "linear", 700),
        (9, "linear", 700),
    ]
    assert _made(api, KV)["retry"] == {"max_attempts": 11, "backoff": "constant", "base_ms": 900}


def test_a_key_registers_only_what_it_may_do_itself(world: World, api: Api) -> None:
    keeper = world.add_key("manage", "data")

    for handler, status in ((BY_INTENT, 403), (BY_LAMBDA, 201), (BY_WEBHOOK, 201)):
        assert api.post(TRIGGERS, KV | {"handler": handler}, key=keeper).status == status
    shared = _made(api, KV)["handler"]["id"]
    problem = assert_problem(api.post(TRIGGERS, KV | {"handler": {"id": shared}}, key=keeper), 403, "forbidden")
    assert "`send`" in problem["detail"]


@pytest.mark.parametrize(("kind", "scope"), [("kv", "data"), ("dead_letter", "operate")])
def test_a_trigger_hears_only_what_its_key_may_read(world: World, api: Api, kind: str, scope: str) -> None:
    wanted = {"kind": kind, "handler": BY_WEBHOOK} | ({"collection_glob": "*"} if kind == "kv" else {})
    without = world.add_key(*(one for one in SCOPES if one != scope))

    problem = assert_problem(api.post(TRIGGERS, wanted, key=without), 403, "forbidden")

    assert f"`{scope}`" in problem["detail"]
    assert api.post(TRIGGERS, wanted, key=world.add_key("manage", scope)).status == 201


def test_a_key_of_the_other_mode_changes_nothing_that_is_run(world: World, api: Api) -> None:
    place = f"{TRIGGERS}/{_made(api, KV)['id']}"
    test = world.add_key(*SCOPES, mode="test")

    assert_problem(api.patch(place, {"handler": {"intent": intent()}}, key=test), 409, "other-mode")
    assert_problem(api.patch(place, {"collection_glob": "*"}, key=test), 409, "other-mode")
    shared = api.get(place).json["handler"]["id"]
    assert_problem(api.post(TRIGGERS, KV | {"handler": {"id": shared}}, key=test), 409, "other-mode")
    assert api.patch(place, {"enabled": False}, key=test).status == 200


def test_who_may_not_send_may_switch_off_what_sends_but_not_change_it(world: World, api: Api) -> None:
    manager, place = world.add_key("manage"), f"{TRIGGERS}/{_made(api, KV)['id']}"

    for change in ({"collection_glob": "*"}, {"enabled": True}, {"handler": {"intent": INTENT}}, {"retry": {"max_attempts": 9}}):
        assert_problem(api.patch(place, change, key=manager), 403, "forbidden")
    assert api.patch(place, {"enabled": False, "name": "off"}, key=manager).json["enabled"] is False
    assert api.delete(place, key=manager).status == 204


def test_only_a_key_with_the_scope_manage_may(world: World, api: Api) -> None:
    place = f"{TRIGGERS}/{_made(api, KV)['id']}"
    without = world.add_key(*(scope for scope in SCOPES if scope != "manage"))

    for answer in (
        api.post(TRIGGERS, KV, key=without),
        api.get(TRIGGERS, key=without),
        api.get(place, key=without),
        api.patch(place, {}, key=without),
        api.delete(place, key=without),
    ):
        assert_problem(answer, 403, "forbidden")


def test_several_triggers_share_a_handler_and_the_last_takes_it_along(world: World, api: Api) -> None:
    first = _made(api, KV | {"handler": BY_WEBHOOK})
    second = _made(api, DEAD | {"handler": {"id": first["handler"]["id"]}})

    assert second["handler"] == {name: value for name, value in first["handler"].items() if name != "secret"}
    assert api.delete(f"{TRIGGERS}/{first['id']}").status == 204
    assert world.count("trigger_handlers") == 1
    assert api.delete(f"{TRIGGERS}/{second['id']}").status == 204
    assert world.count("trigger_handlers") == world.count("kv_trigger_details") == world.count("dead_letter_trigger_details") == 0


def test_another_tenants_handler_is_not_known(world: World, api: Api) -> None:
    theirs = add_handler(world, tenant=world.add_tenant())

    problem = assert_problem(api.post(TRIGGERS, KV | {"handler": {"id": str(theirs)}}), 422, "invalid-request")

    assert problem["errors"][0]["pointer"] == "/handler/id"


def test_what_is_named_is_changed_and_the_rest_stays(world: World, api: Api) -> None:
    made = _made(api, KV)
    place = f"{TRIGGERS}/{made['id']}"

    changed = api.patch(place, {"name": "n", "enabled": False, "collection_glob": "*", "ops": [], "retry": {"base_ms": 500}}).json

    retry = made["retry"] | {"base_ms": 500}
    named = {"name": "n", "enabled": False, "collection_glob": "*", "ops": [], "retry": retry}
    assert changed == made | named | {"updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    assert api.get(place).json == changed
    assert api.patch(place, {"name": None, "ops": None}).json["name"] == "n"


def test_a_filter_that_is_null_means_any_again(world: World, api: Api) -> None:
    made = _made(api, DEAD | {"source_filter": "plan", "trigger_id_filter": str(uuid4())})

    changed = api.patch(f"{TRIGGERS}/{made['id']}", {"source_filter": None, "script_id_filter": str(uuid4())}).json

    assert changed["source_filter"] is None
    assert changed["trigger_id_filter"] == made["trigger_id_filter"]
    assert UUID(changed["script_id_filter"])


def test_a_handler_is_changed_for_all_that_share_it_and_keeps_its_id_and_secret(world: World, api: Api) -> None:
    first = _made(api, KV | {"handler": BY_WEBHOOK})
    second = _made(api, KV | {"handler": {"id": first["handler"]["id"]}})
    before = world.one("SELECT secret FROM trigger_handlers")

    changed = api.patch(f"{TRIGGERS}/{first['id']}", {"handler": {"url": "https://other.example.com/"}}).json["handler"]

    assert changed == {
        "id": first["handler"]["id"],
        "kind": "webhook",
        "url": "https://other.example.com/",
        "timeout_seconds": 10,
    }
    assert api.get(f"{TRIGGERS}/{second['id']}").json["handler"] == changed
    assert world.one("SELECT secret FROM trigger_handlers") == before


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "dead_letter"}, "/kind"),
        ({"collection_glob": "a*"}, "/collection_glob"),
        ({"ops": ["insert", "insert"]}, "/ops"),
        ({"source_filter": "plan"}, "/source_filter"),
        ({"script_id_filter": None}, "/script_id_filter"),
        ({"dispatch_mode": "async"}, "/dispatch_mode"),
        ({"retry": {"max_attempts": 99}}, "/retry/max_attempts"),
        ({"handler": {"id": str(uuid4())}}, "/handler/id"),
        ({"handler": {"kind": "webhook"}}, "/handler/kind"),
        ({"handler": {"url": "https://x.example"}}, "/handler/url"),
        ({"handler": {"intent": {"type": "t"}}}, "/handler/intent/audience"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_name(world: World, api: Api, change: Any, pointer: str) -> None:
    made = _made(api, KV)

    problem = assert_problem(api.patch(f"{TRIGGERS}/{made['id']}", change), 422, "invalid-request")

    assert pointer in [error["pointer"] for error in problem["errors"]]
    assert api.get(f"{TRIGGERS}/{made['id']}").json == made


def test_a_trigger_that_is_switched_off_or_deleted_fires_no_more(world: World, api: Api) -> None:
    off, gone = _made(api, KV), _made(api, KV)
    api.patch(f"{TRIGGERS}/{off['id']}", {"enabled": False})
    api.delete(f"{TRIGGERS}/{gone['id']}")

    api.put("/v1/kv/orders:1/k", 1)
    assert runs(world) == []
    api.patch(f"{TRIGGERS}/{off['id']}", {"enabled": True})
    api.put("/v1/kv/orders:2/k", 1)
    assert len(runs(world)) == 1


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's", "no id"])
def test_what_is_not_ones_own_is_not_found_and_not_listed(world: World, api: Api, whose: str) -> None:
    world.add_tenant()
    theirs = add_trigger(world, tenant=OTHER_TENANT)
    place = f"{TRIGGERS}/" + {"nobody's": str(uuid4()), "another tenant's": str(theirs), "no id": "x"}[whose]

    for answer in (api.get(place), api.patch(place, {"enabled": False}), api.delete(place)):
        assert_problem(answer, 404, "not-found")
    assert api.get(TRIGGERS).json == {"data": [], "next_cursor": None}
    assert world.one("SELECT enabled FROM triggers")


def test_they_are_listed_the_newest_first_page_by_page(world: World, api: Api) -> None:
    made = [_made(api, KV)["id"] for _ in range(5)]

    first = api.get(TRIGGERS, query="limit=3").json
    rest = api.get(TRIGGERS, query={"limit": "3", "cursor": first["next_cursor"]}).json

    assert [row["id"] for row in first["data"] + rest["data"]] == made[::-1]
    assert rest["next_cursor"] is None


def test_above_the_tenants_bound_none_is_registered(world: World, api: Api, installation: Callable[..., None]) -> None:
    installation(TRIGGERS_PER_TENANT="2")
    first, _ = _made(api, KV), _made(api, DEAD)

    problem = assert_problem(api.post(TRIGGERS, KV), 409, "too-many-triggers")

    assert "TriggersPerTenant" in problem["detail"]
    assert (world.count("triggers"), world.count("trigger_handlers")) == (2, 2)
    api.delete(f"{TRIGGERS}/{first['id']}")
    assert api.post(TRIGGERS, KV).status == 201


def test_whoever_changes_what_is_run_is_who_it_runs_as_from_then_on(world: World, api: Api) -> None:
    made = _made(api, KV)
    sharing = _made(api, KV | {"handler": {"id": made["handler"]["id"]}})
    other = Api(world.add_key(*SCOPES))
    path = f"{TRIGGERS}/{made['id']}"

    renamed = other.patch(path, {"name": "n", "enabled": True}).json
    assert renamed["registered_by"] == made["registered_by"]
    changed = other.patch(path, {"retry": {"max_attempts": 2}}).json

    keys = [str(row["id"]) for row in world.rows("SELECT id FROM api_keys ORDER BY created_at, id")]
    (theirs,) = [key for key in keys if key != made["registered_by"]]
    assert changed["registered_by"] == theirs
    assert api.get(f"{TRIGGERS}/{sharing['id']}").json["registered_by"] == made["registered_by"], "the handler is as it was"
    other.patch(path, {"handler": {"intent": intent() | {"type": "another"}}})
    assert api.get(f"{TRIGGERS}/{sharing['id']}").json["registered_by"] == theirs
    changes = [(row["resource_id"], row["actor"]) for row in _audit(world)[-2:]]
    assert changes == [(made["id"], f"key:{theirs}"), (sharing["id"], f"key:{theirs}")]


def test_every_change_is_in_the_audit_log_with_what_was_before(world: World, api: Api) -> None:
    made = _made(api, KV)
    api.patch(f"{TRIGGERS}/{made['id']}", {"enabled": False, "handler": {"intent": intent()}})
    api.delete(f"{TRIGGERS}/{made['id']}")

    create, update, delete = _audit(world)
    assert [row["action"] for row in (create, update, delete)] == ["create", "update", "delete"]
    assert {(row["resource_type"], row["resource_id"], row["actor"]) for row in (create, update, delete)} == {
        ("trigger", made["id"], f"key:{made['registered_by']}")
    }
    assert create["changes"]["new"]["collection_glob"] == "orders:*"
    assert update["changes"] == {"old": {"enabled": True}, "new": {"enabled": False}, "handler_fields": ["intent"]}
    assert delete["changes"]["old"]["handler_kind"] == "intent"


def test_no_change_without_its_audit_row(breakable_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(breakable_world.add_key(*SCOPES))
    made = _made(api, KV)
    breakable_world.admin.execute("ALTER TABLE audit_logs ADD CONSTRAINT nothing_more CHECK (false) NOT VALID")

    for answer in (
        api.post(TRIGGERS, KV),
        api.patch(f"{TRIGGERS}/{made['id']}", {"enabled": False}),
        api.delete(f"{TRIGGERS}/{made['id']}"),
    ):
        assert answer.status == 500
    assert api.get(TRIGGERS).json["data"] == [made]


def test_a_new_secret_is_shown_once_and_audited_without_it(world: World, api: Api) -> None:
    made = _made(api, KV | {"handler": BY_WEBHOOK})

    rotated = api.post(f"{TRIGGERS}/{made['id']}/rotate-secret")

    assert rotated.status == 200, rotated.text
    assert rotated.json["handler"]["secret"].startswith("whsec_")
    assert rotated.json["handler"]["secret"] != made["handler"]["secret"]
    assert "previous_secret_expires_at" in rotated.json["handler"]
    assert "secret" not in api.get(f"{TRIGGERS}/{made['id']}").json["handler"]
    last = _audit(world)[-1]
    assert (last["action"], last["resource_id"], last["changes"]) == ("rotate", made["id"], {"new": {"secret": "***"}})


def test_only_who_may_run_it_rotates_the_secret_of_a_webhook(world: World, api: Api) -> None:
    by_intent, by_webhook = _made(api, KV), _made(api, KV | {"handler": BY_WEBHOOK})
    world.add_tenant()

    other = api.post(f"{TRIGGERS}/{by_webhook['id']}/rotate-secret", key=world.add_key(*SCOPES, tenant=OTHER_TENANT))
    lacking = api.post(f"{TRIGGERS}/{by_webhook['id']}/rotate-secret", key=world.add_key("manage"))
    test_key = api.post(f"{TRIGGERS}/{by_webhook['id']}/rotate-secret", key=world.add_key(*SCOPES, mode="test"))

    assert_problem(api.post(f"{TRIGGERS}/{by_intent['id']}/rotate-secret"), 422, "invalid-request")
    assert_problem(api.post(f"{TRIGGERS}/{uuid4()}/rotate-secret"), 404, "not-found")
    assert_problem(other, 404, "not-found")
    assert_problem(lacking, 403, "forbidden")
    assert_problem(test_key, 409, "other-mode")
