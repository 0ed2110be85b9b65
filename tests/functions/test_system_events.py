"""System events by HTTP: made, listed, shown and resolved, by whom and why."""

from typing import Any

import pytest

from tests.functions.doors import Api
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.store import admin_system_events

EVENTS = "/v1/system-events"
INCIDENT: dict[str, Any] = {
    "event_type": "incident_opened",
    "severity": "high",
    "description": "Mails to one domain come late.",
    "subject": "domain:example.com",
    "details": {"domain": "example.com"},
}


@pytest.fixture
def other(world: World) -> Api:
    """An operator of another tenant."""
    world.add_tenant()
    return Api(world.add_key("operate", tenant=OTHER_TENANT))


def _raise_for_all(world: World, severity: str = "critical", subject: str = "ses:email") -> str:
    admin_system_events.raise_once(
        world.worker, event_type="lane_stopped", severity=severity, subject=subject, description="stopped", details={"code": "x"}
    )
    return str(world.one("SELECT max(id) FROM admin_system_events"))


def _listed(api: Api, query: str = "") -> list[str]:
    return [event["subject"] for event in api.get(EVENTS, query=query).json["data"]]


def test_a_person_makes_an_event_and_everything_of_it_is_shown(world: World, api: Api) -> None:
    world.add_user("alice")

    made = api.post(EVENTS, INCIDENT | {"user_id": "alice"})

    key_id = str(world.one("SELECT id FROM api_keys"))
    assert made.status == 201
    shown = api.get(f"{EVENTS}/{made.json['id']}").json
    assert shown == made.json
    assert shown | INCIDENT | {"user_id": "alice"} == shown
    assert (shown["created_by"], shown["is_shared"], shown["is_resolved"], shown["resolved_by"]) == (key_id, False, False, None)


def test_one_event_is_open_for_one_condition(api: Api) -> None:
    assert api.post(EVENTS, INCIDENT).status == 201
    assert api.post(EVENTS, INCIDENT).status == 409
    assert api.post(EVENTS, INCIDENT | {"subject": "other"}).status == 201


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "loud"},
        {"event_type": "Has Blanks"},
        {"subject": "alice@example.com"},
        {"description": ""},
        {"description": "x" * 2001},
        {"details": {"x": "y" * 9000}},
        {"details": {"x": [1e300] * 30}},
        {"details": []},
        {"user_id": "nobody"},
        {"tenant_id": str(OTHER_TENANT)},
    ],
)
def test_what_cannot_be_kept_is_refused(api: Api, change: dict[str, Any]) -> None:
    answer = api.post(EVENTS, INCIDENT | change)

    assert answer.status == 422
    (error,) = answer.json["errors"]
    assert error["pointer"].startswith(f"/{next(iter(change))}")
    assert _listed(api) == []


def test_what_is_open_is_bounded_for_it_is_kept_for_ever(world: World, api: Api) -> None:
    world.admin.execute(
        """INSERT INTO admin_system_events (event_type, severity, description, subject, tenant_id)
           SELECT 'e', 'low', 'd', n::text, %s FROM generate_series(1, 1000) AS n""",
        [TENANT],
    )

    assert api.post(EVENTS, INCIDENT).json["type"] == "/errors#too-many-open"


def test_an_event_is_resolved_once_with_who_and_why_and_audited(world: World, api: Api) -> None:
    event_id = api.post(EVENTS, INCIDENT).json["id"]
    second = Api(world.add_key("operate"))

    first = api.post(f"{EVENTS}/{event_id}/resolve", {"reason": "The domain recovered."})
    again = second.post(f"{EVENTS}/{event_id}/resolve", {"reason": "I was late."})

    assert (first.status, again.status) == (200, 200)
    assert again.json == first.json
    key_id = str(world.one("SELECT id FROM api_keys ORDER BY created_at LIMIT 1"))
    assert (first.json["resolved_by"], first.json["resolution_reason"]) == (key_id, "The domain recovered.")
    rows = world.rows("SELECT action, actor FROM audit_logs WHERE resource_type = 'system_event' ORDER BY created_at, action")
    assert [(row["action"], row["actor"]) for row in rows] == [("create", f"key:{key_id}"), ("resolve", f"key:{key_id}")]


def test_a_list_has_the_tenants_own_and_the_installations_and_no_one_elses(world: World, api: Api, other: Api) -> None:
    mine = api.post(EVENTS, INCIDENT).json["id"]
    _raise_for_all(world)

    assert _listed(api) == ["ses:email", "domain:example.com"]
    assert _listed(other) == ["ses:email"]
    assert other.get(f"{EVENTS}/{mine}").status == 404
    assert other.post(f"{EVENTS}/{mine}/resolve", {"reason": "x"}).status == 404


def test_the_installations_are_resolved_by_its_own_tenant_alone(world: World, api: Api, other: Api) -> None:
    event_id = _raise_for_all(world)

    refused = other.post(f"{EVENTS}/{event_id}/resolve", {"reason": "x"})
    assert (refused.status, refused.json["type"]) == (403, "/errors#of-the-installation")
    assert other.get(f"{EVENTS}/{event_id}").json["is_resolved"] is False

    assert api.post(f"{EVENTS}/{event_id}/resolve", {"reason": "Paid the bill."}).json["is_resolved"] is True


def test_even_a_forgotten_check_lets_no_other_tenant_resolve_the_installations(world: World, other: Api) -> None:
    """Row-level security knows it too."""
    event_id = _raise_for_all(world)
    world.app.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(OTHER_TENANT)])

    touched = world.app.execute(
        "UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now() WHERE id = %s", [event_id]
    )

    assert touched.rowcount == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("severity=critical", ["b"]),
        ("severity=low", ["c"]),
        ("severity=low&event_type=other", []),
        ("event_type=lane_stopped", ["c", "b"]),
        ("is_resolved=true", ["a"]),
        ("is_resolved=false", ["c", "b"]),
        ("since=2020-01-01T00:00:00Z", ["c", "b", "a"]),
        ("until=2020-01-01T00:00:00Z", []),
        ("severity=critical&until=2020-01-01T00:00:00Z", []),
    ],
)
def test_filters_say_which(world: World, api: Api, query: str, found: list[str]) -> None:
    made = api.post(EVENTS, INCIDENT | {"subject": "a"}).json["id"]
    api.post(f"{EVENTS}/{made}/resolve", {"reason": "x"})
    _raise_for_all(world, "critical", "b")
    _raise_for_all(world, "low", "c")

    assert _listed(api, query) == found


@pytest.mark.parametrize("severity", ["", "severity=high&"])
def test_pages_follow_each_other(world: World, api: Api, severity: str) -> None:
    for n in range(3):
        api.post(EVENTS, INCIDENT | {"subject": f"own-{n}"})
        _raise_for_all(world, "high", f"all-{n}")

    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = api.get(EVENTS, query=f"{severity}limit=2{cursor}").json
        seen += [event["subject"] for event in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"

    assert seen == ["all-2", "own-2", "all-1", "own-1", "all-0", "own-0"]
    assert page["next_cursor"] is None


def test_a_person_who_is_erased_is_no_longer_named(world: World, api: Api) -> None:
    user_id = world.add_user("alice")
    event_id = api.post(EVENTS, INCIDENT | {"user_id": "alice"}).json["id"]

    world.admin.execute("DELETE FROM users WHERE id = %s", [user_id])

    assert api.get(f"{EVENTS}/{event_id}").json["user_id"] is None


def test_a_key_without_the_scope_sees_nothing(world: World) -> None:
    stranger = Api(world.add_key("send", "manage", "admin"))

    assert stranger.get(EVENTS).status == 403
    assert stranger.post(EVENTS, INCIDENT).status == 403


@pytest.mark.parametrize("event_id", ["nonsense", "99999999999999999999", "-1", "1.5", "\u0661"])
def test_what_is_no_id_is_not_found(api: Api, event_id: str) -> None:
    assert api.get(f"{EVENTS}/{event_id}").status == 404


def test_the_tenant_of_the_tests_is_the_installations(world: World) -> None:
    from tocsin.foundation.settings import settings

    assert settings().default_tenant_id == TENANT
