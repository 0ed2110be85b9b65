"""Every change of keys, templates and types leaves a row that says who made it, and no secret."""

import pytest

from tests.functions.doors import Api
from tests.world import World

EMAIL = {"name": "hello", "channel": "email", "subject": "Hi", "body": "<p>Hi</p>"}
KEY = {"name": "shop", "producer": "shop", "scopes": ["send"]}


@pytest.fixture
def api(world: World) -> Api:
    return Api(world.add_key("admin", "manage"))


def _actions(world: World) -> list[tuple[str, str]]:
    rows = world.rows("SELECT action, resource_type FROM audit_logs ORDER BY created_at, id")
    return [(row["action"], row["resource_type"]) for row in rows]


def test_making_rotating_and_revoking_a_key_is_audited_without_the_key(world: World, api: Api) -> None:
    made = api.post("/v1/api-keys", KEY).json
    api.post(f"/v1/api-keys/{made['id']}/rotate", {})
    api.post(f"/v1/api-keys/{made['id']}/revoke", {})

    assert _actions(world) == [("create", "api_key"), ("create", "api_key"), ("rotate", "api_key"), ("revoke", "api_key")]
    written = str(world.rows("SELECT * FROM audit_logs"))
    assert made["key"] not in written
    assert "key:" in written


def test_templates_and_types_are_audited_with_the_values_from_before(world: World, api: Api) -> None:
    api.post("/v1/templates", EMAIL)
    api.put("/v1/notification-types/note", {"priority": "low"})
    api.put("/v1/notification-types/note", {"priority": "high"})
    api.delete("/v1/notification-types/note")
    api.delete("/v1/templates/hello")

    assert _actions(world) == [
        ("create", "template"),
        ("put", "notification_type"),
        ("put", "notification_type"),
        ("delete", "notification_type"),
        ("deactivate", "template"),
    ]
    (change,) = (
        row["changes"] for row in world.rows("SELECT changes FROM audit_logs WHERE changes -> 'old' ->> 'priority' = 'low'")
    )
    assert change["new"]["priority"] == "high"


@pytest.mark.parametrize(
    ("told", "kept"), [("2001:db8::1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1"), ("not an address", None), ("", None)]
)
def test_where_a_change_came_from_is_kept_if_it_is_an_address(world: World, api: Api, told: str, kept: str | None) -> None:
    assert api.post("/v1/api-keys", KEY, source_ip=told).status == 201

    assert world.one("SELECT host(ip_address) FROM audit_logs") == kept
