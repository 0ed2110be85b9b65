"""A tenant's own providers over HTTP: secrets go in sealed and never come out again, in no answer and no log."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.functions.doors import Api
from tests.providers import add_provider, make_data_key
from tests.world import TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.foundation import encryption, settings

KEY, SECRET = "canary-api-key", "canary-api-secret"
TWILIO = {
    "provider_name": "twilio",
    "channel": "sms",
    "api_key": KEY,
    "api_secret": SECRET,
    "config": {"from": "Shop"},
    "rate_limit": 60,
    "timeout_seconds": 5,
    "priority": 7,
}
SES = {"provider_name": "ses", "channel": "email"}


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    return make_data_key(monkeypatch)


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs ORDER BY created_at, id")


def test_a_provider_is_added_and_shown_without_its_secrets(world: World, api: Api) -> None:
    answer = api.post("/v1/providers", TWILIO)

    shown = answer.json
    assert answer.status == 201
    assert shown.pop("created_at") == shown.pop("updated_at")
    assert shown == {
        "id": str(world.one("SELECT id FROM provider_configs")),
        "provider_name": "twilio",
        "channel": "sms",
        "config_json": {"from": "Shop"},
        "is_active": True,
        "rate_limit": 60,
        "timeout_seconds": 5,
        "priority": 7,
        "has_api_key": True,
        "has_api_secret": True,
    }


def test_its_secrets_are_stored_sealed_for_its_tenant_and_its_row(world: World, api: Api) -> None:
    config_id = UUID(api.post("/v1/providers", TWILIO).json["id"])

    (row,) = world.rows("SELECT * FROM provider_configs")
    for part, secret in (("api_key", KEY), ("api_secret", SECRET)):
        assert secret.encode() not in row[part]
        assert encryption.unseal(row[part], tenant_id=TENANT, purpose=f"provider:{config_id}:{part}") == secret


def test_the_default_provider_needs_no_secret(world: World, api: Api) -> None:
    shown = api.post("/v1/providers", SES | {"rate_limit": 10, "is_active": False}).json

    assert (shown["has_api_key"], shown["has_api_secret"], shown["is_active"]) == (False, False, False)
    assert (shown["priority"], shown["timeout_seconds"], shown["config_json"]) == (10, 10, {})


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"provider_name": None}, "/provider_name"),
    "an unknown provider": ({"provider_name": "pigeon"}, "/provider_name"),
    "a channel it does not serve": ({"channel": "email"}, "/channel"),
    "no channel": ({"channel": None}, "/channel"),
    "an inbox as channel": ({"channel": "in_app"}, "/channel"),
    "no key": ({"api_key": None}, "/api_key"),
    "an empty key": ({"api_key": ""}, "/api_key"),
    "a key that is too long": ({"api_key": "x" * 4097}, "/api_key"),
    "a key of too many bytes": ({"api_key": "é" * 4096}, "/api_key"),
    "a secret of too many bytes": ({"api_secret": "é" * 4096}, "/api_secret"),
    "a key that is a number": ({"api_key": 5}, "/api_key"),
    "a list as configuration": ({"config": []}, "/config"),
    "a rate of nought": ({"rate_limit": 0}, "/rate_limit"),
    "a rate as text": ({"rate_limit": "60"}, "/rate_limit"),
    "eleven seconds": ({"timeout_seconds": 11}, "/timeout_seconds"),
    "no seconds": ({"timeout_seconds": 0}, "/timeout_seconds"),
    "a priority beyond all": ({"priority": 1001}, "/priority"),
    "active as text": ({"is_active": "yes"}, "/is_active"),
    "an id of its own": ({"id": str(uuid4())}, "/id"),
    "somebody else's tenant": ({"tenant_id": str(uuid4())}, "/tenant_id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_valid_is_refused_with_a_pointer_and_nothing_is_kept(world: World, api: Api, name: str) -> None:
    changes, pointer = WRONG[name]

    answer = api.post("/v1/providers", TWILIO | changes)

    assert (answer.status, answer.json["type"]) == (422, "/errors#invalid-request"), answer.text
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert (world.count("provider_configs"), _audit(world)) == (0, [])


@pytest.mark.parametrize(
    ("provider", "channel", "fits"),
    [
        ("ses", "email", True), ("ses", "sms", False), ("sendgrid", "email", True), ("sendgrid", "push", False),
        ("sns", "sms", True), ("sns", "push", True), ("sns", "email", False), ("twilio", "sms", True),
        ("twilio", "push", False), ("fcm", "push", True), ("fcm", "email", False),
    ],
)  # fmt: skip
def test_every_provider_serves_its_own_channels(world: World, api: Api, provider: str, channel: str, fits: bool) -> None:
    answer = api.post("/v1/providers", {"provider_name": provider, "channel": channel, "api_key": "x", "api_secret": "y"})

    assert answer.status == (201 if fits else 422)


def test_they_are_listed_the_preferred_first(world: World, api: Api) -> None:
    for priority in (1, 9, 5):
        api.post("/v1/providers", SES | {"priority": priority})

    listed = api.get("/v1/providers").json

    assert ([one["priority"] for one in listed["data"]], listed["next_cursor"]) == ([9, 5, 1], None)


def test_what_is_given_is_changed_and_the_rest_stays(world: World, api: Api) -> None:
    made = api.post("/v1/providers", TWILIO).json

    changed = api.patch(f"/v1/providers/{made['id']}", {"is_active": False, "priority": -3})

    differences = {"is_active": False, "priority": -3, "updated_at": changed.json["updated_at"]}
    assert (changed.status, changed.json) == (200, made | differences)
    assert api.get("/v1/providers").json["data"] == [changed.json]


@pytest.mark.parametrize(
    "change", [{"api_key": "new"}, {"channel": "sms"}, {"rate_limit": 0}, {"timeout_seconds": 99}, {"is_active": 1}, []]
)
def test_a_change_of_anything_else_is_refused(world: World, api: Api, change: Any) -> None:
    made = api.post("/v1/providers", TWILIO).json

    assert api.patch(f"/v1/providers/{made['id']}", change).status == 422
    assert api.get("/v1/providers").json["data"] == [made]


def test_a_provider_that_is_removed_is_gone_with_its_secrets(world: World, api: Api) -> None:
    made = api.post("/v1/providers", TWILIO).json

    assert api.delete(f"/v1/providers/{made['id']}").status == 204

    assert world.count("provider_configs") == 0
    assert api.delete(f"/v1/providers/{made['id']}").status == 404


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's", "no id"])
def test_what_is_not_ones_own_is_not_found_and_not_listed(world: World, api: Api, whose: str) -> None:
    theirs = add_provider(world, "sendgrid", tenant=world.add_tenant(), api_key="SG.theirs")
    name = {"nobody's": str(uuid4()), "another tenant's": str(theirs.id), "no id": "x"}[whose]

    assert api.patch(f"/v1/providers/{name}", {"priority": 1}).status == 404
    assert api.delete(f"/v1/providers/{name}").status == 404
    assert api.get("/v1/providers").json["data"] == []
    assert world.one("SELECT priority FROM provider_configs") == theirs.priority


def test_every_change_is_in_the_audit_log_with_who_from_where_and_what(world: World, api: Api) -> None:
    agent = {"user-agent": "curl/8"}
    made = api.post("/v1/providers", TWILIO, headers=agent).json
    api.patch(f"/v1/providers/{made['id']}", {"priority": 3}, headers=agent)
    api.delete(f"/v1/providers/{made['id']}", headers=agent)
    api.get("/v1/providers", headers=agent)

    rows = _audit(world)
    (key_id,) = (row["id"] for row in world.rows("SELECT id FROM api_keys"))
    assert [row["action"] for row in rows] == ["create", "update", "delete"]
    assert {(row["resource_type"], row["resource_id"], row["actor"]) for row in rows} == {
        ("provider", made["id"], f"key:{key_id}")
    }
    assert {(str(row["ip_address"]), row["user_agent"], row["tenant_id"]) for row in rows} == {("192.0.2.1", "curl/8", TENANT)}
    assert rows[0]["changes"]["new"]["provider_name"] == "twilio"
    assert rows[1]["changes"]["new"] == {"priority": 3}


def test_the_audit_log_has_the_values_from_before(world: World, api: Api) -> None:
    made = api.post("/v1/providers", TWILIO).json
    api.patch(f"/v1/providers/{made['id']}", {"priority": 3})
    api.delete(f"/v1/providers/{made['id']}")

    _, update, delete = _audit(world)
    assert update["changes"].get("old", {}).get("priority") == 7
    assert delete["changes"].get("old", {}).get("provider_name") == "twilio"


def test_no_change_without_its_audit_row(breakable_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data_key(monkeypatch)
    api = Api(breakable_world.add_key(*SCOPES))
    made = api.post("/v1/providers", TWILIO).json
    breakable_world.admin.execute("ALTER TABLE audit_logs ADD CONSTRAINT nothing_more CHECK (false) NOT VALID")

    answers = [
        api.post("/v1/providers", SES),
        api.patch(f"/v1/providers/{made['id']}", {"priority": 3}),
        api.delete(f"/v1/providers/{made['id']}"),
    ]

    assert [answer.status for answer in answers] == [500, 500, 500]
    assert api.get("/v1/providers").json["data"] == [made]


def test_a_change_that_does_not_happen_is_in_no_audit_log(world: World, api: Api) -> None:
    api.patch(f"/v1/providers/{uuid4()}", {"priority": 3})
    api.delete(f"/v1/providers/{uuid4()}")

    assert _audit(world) == []


def test_no_answer_log_or_audit_row_has_a_secret_whatever_is_done(
    world: World, api: Api, ears: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = api.post("/v1/providers", TWILIO)
    said = [
        made.text,
        api.get("/v1/providers").text,
        api.patch(f"/v1/providers/{made.json['id']}", {"priority": 3}).text,
        api.post("/v1/providers", TWILIO | {"rate_limit": 0}).text,
        api.post("/v1/providers", TWILIO | {"api_key": [KEY]}).text,
        api.post("/v1/providers", TWILIO | {"api_key": KEY + "é" * 4000}).text,
        api.post("/v1/providers", TWILIO | {KEY: 1, "config": SECRET}).text.replace(f"/{KEY}", ""),  # a name is echoed
        api.delete(f"/v1/providers/{made.json['id']}").text,
        str(_audit(world)),
    ]
    monkeypatch.setenv("DATA_KEY_ARN", "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-4000-8000-000000000000")
    settings.settings.cache_clear()
    outage = api.post("/v1/providers", TWILIO)
    said += [outage.text, ears()]

    assert (outage.status, outage.headers["Content-Type"]) == (503, "application/problem+json")
    assert world.count("provider_configs") == 0
    for words in said:
        assert KEY not in words
        assert SECRET not in words


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "admin"])
def test_only_an_administrator_may(world: World, api: Api, scope: str) -> None:
    key = world.add_key(scope)

    assert {
        api.get("/v1/providers", key=key).status,
        api.post("/v1/providers", TWILIO, key=key).status,
        api.patch(f"/v1/providers/{uuid4()}", {}, key=key).status,
        api.delete(f"/v1/providers/{uuid4()}", key=key).status,
    } == {403}
