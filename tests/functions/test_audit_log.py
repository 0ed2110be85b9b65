"""GET /v1/audit-log and its verification: who changed what, found by any of it, and whether it is still what was written."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.user_tokens import Person
from tocsin.people.issue_token import token_for

LOG = "/v1/audit-log"
KEY = {"name": "shop", "producer": "shop", "scopes": ["send"]}


def _listed(api: Api, **query: str) -> list[tuple[str, str]]:
    answer = api.get(LOG, query=query)
    assert answer.status == 200, answer.text
    return [(row["action"], row["resource_type"]) for row in answer.json["data"]]


def test_a_row_says_who_did_what_to_what_when_and_from_where(world: World, api: Api) -> None:
    told = {"user-agent": "curl/8", "tocsin-person": "Zo%C3%AB%20Doe"}
    api.put("/v1/notification-types/note", {"priority": "low"}, headers=told)
    api.put("/v1/notification-types/note", {"priority": "high"}, source_ip="2001:db8::1")

    second, first = api.get(LOG).json["data"]

    assert first.keys() == {
        *("id", "seq", "hash", "actor", "user_id", "action", "resource_type", "resource_id", "ip_address", "user_agent"),
        *("person", "changes", "created_at"),
    }
    assert first["actor"].startswith("key:")
    assert (first["action"], first["resource_type"]) == ("put", "notification_type")
    assert abs(datetime.fromisoformat(first["created_at"]) - datetime.now(UTC)) < timedelta(minutes=5)
    assert (first["seq"], first["ip_address"], first["user_agent"]) == (1, "192.0.2.1", "curl/8")
    assert (first["person"], second["person"]) == ("Zoë Doe", None)
    assert (second["seq"], second["ip_address"], second["resource_id"]) == (2, "2001:db8::1", "note")
    assert (second["changes"]["old"]["priority"], second["changes"]["new"]["priority"]) == ("low", "high")


def test_it_is_found_by_actor_action_resource_and_time(world: World, api: Api) -> None:
    other = Api(world.add_key("manage", "admin"))
    other.put("/v1/notification-types/note", {})
    made = api.post("/v1/api-keys", KEY).json["id"]
    api.post(f"/v1/api-keys/{made}/revoke")
    actor = api.get(LOG).json["data"][0]["actor"]
    moment = api.get(LOG).json["data"][1]["created_at"]

    assert _listed(api, actor=actor) == [("revoke", "api_key"), ("create", "api_key")]
    assert _listed(api, action="revoke") == [("revoke", "api_key")]
    assert _listed(api, resource_type="notification_type") == [("put", "notification_type")]
    assert _listed(api, resource_type="api_key", resource_id=made) == [("revoke", "api_key"), ("create", "api_key")]
    assert _listed(api, since=moment) == [("revoke", "api_key"), ("create", "api_key")]
    assert _listed(api, until=moment) == [("put", "notification_type")]
    assert _listed(api, actor="key:nobody") == []


def test_it_is_found_by_the_person_whom_the_caller_named(world: World, api: Api) -> None:
    made = api.post("/v1/api-keys", KEY, headers={"tocsin-person": "Jane%20Doe"}).json["id"]
    api.post(f"/v1/api-keys/{made}/revoke", headers={"tocsin-person": "Zo%C3%AB"})
    api.put("/v1/notification-types/note", {})

    assert _listed(api, person="Jane Doe") == [("create", "api_key")]
    assert _listed(api, person="Zoë") == [("revoke", "api_key")]
    assert (_listed(api, person="Jane"), _listed(api, person="")) == ([], [])
    assert _listed(api, person="Jane Doe", action="revoke") == []


def test_a_server_that_acts_for_somebody_in_their_inbox_names_its_person_too(world: World, api: Api) -> None:
    world.add_user("alice")
    told = {"tocsin-person": "Jane"}

    assert api.put("/v1/inbox/preferences/sms", {"enabled": False}, query={"user_id": "alice"}, headers=told).status == 200

    assert _listed(api, person="Jane") == [("put", "preference")]


@pytest.mark.parametrize(
    "written", ["", "%20", "100%", "J%C3", "Jos\u00e9", "x" * 101, "a%0Ab", "a%C2%85b", "a%E2%80%AEb", "a%00b"]
)
def test_a_name_that_is_none_is_refused_and_nothing_is_changed(world: World, api: Api, written: str) -> None:
    answer = api.put("/v1/notification-types/note", {}, headers={"tocsin-person": written})

    assert_problem(answer, 422, "invalid-person")
    assert answer.json["errors"][0]["pointer"] == "Tocsin-Person"
    assert (world.count("notification_types"), world.count("audit_logs")) == (0, 0)


def test_who_has_no_key_is_told_so_before_their_name_is_looked_at(api: Api) -> None:
    assert api.get("/v1/me", key="", headers={"tocsin-person": "%"}).status == 401


def test_pages_are_whole_and_in_order(world: World, api: Api) -> None:
    for number in range(5):
        api.put(f"/v1/notification-types/{number}", {})

    first = api.get(LOG, query={"limit": "3"}).json
    second = api.get(LOG, query={"limit": "3", "cursor": first["next_cursor"]}).json

    assert [row["seq"] for row in [*first["data"], *second["data"]]] == [5, 4, 3, 2, 1]
    assert second["next_cursor"] is None


def test_what_somebody_did_is_found_by_who_they_are(world: World, api: Api, token_secret: bytes) -> None:
    alice = world.add_user("alice")
    world.add_user("bob")
    token, _ = token_for(Person(TENANT, alice), timedelta(hours=1))
    api.put("/v1/inbox/preferences/sms", {"enabled": False}, key=token)
    Api(world.add_key("manage", owner=alice)).put("/v1/notification-types/note", {})

    assert _listed(api, user_id="alice") == [("put", "notification_type"), ("put", "preference")]
    assert {row["user_id"] for row in api.get(LOG).json["data"]} == {"alice"}
    assert (_listed(api, user_id="bob"), _listed(api, user_id="nobody")) == ([], [])


def test_what_was_done_to_somebody_is_found_by_the_producers_own_id_and_tells_nothing_that_is_theirs(
    world: World, api: Api
) -> None:
    api.put("/v1/users/alice", {"email": "alice@example.com", "locale": "pt", "attributes": {"plan": "gold"}})
    api.put("/v1/users/alice", {"email": "new@example.com", "locale": "de", "attributes": {"plan": "gold"}})
    api.put("/v1/users/alice", {"email": "new@example.com", "locale": "de", "attributes": {"plan": "gold"}})

    changed, made = api.get(LOG, query={"resource_type": "user", "resource_id": "alice"}).json["data"]

    assert (made["action"], made["resource_id"], changed["action"]) == ("create", "alice", "update")
    assert changed["changes"] == {"old": {"email": "***", "locale": "pt"}, "new": {"email": "***", "locale": "de"}}
    assert not any(word in str(world.rows("SELECT * FROM audit_logs")) for word in ("alice", "example.com", "gold"))


def test_the_words_of_a_template_are_in_it_and_long_ones_are_cut(world: World, api: Api) -> None:
    template = {"name": "hello", "channel": "email", "subject": "Hi", "body": "<p>first</p>"}
    api.post("/v1/templates", template)
    api.post("/v1/templates", template | {"body": "<p>" + "x" * 30_000 + "</p>"})

    second, first = (row["changes"] for row in api.get(LOG).json["data"])

    assert (first["new"]["body"], second["old"]["body"]) == ("<p>first</p>", "<p>first</p>")
    assert second["new"]["body"].endswith("… (30007 characters)")
    assert second["cut"]["bytes"] > 30_000
    assert world.one("SELECT max(octet_length(changes::text)) FROM audit_logs") < 17_000


def test_nobody_sees_the_log_of_others_or_without_the_scope(world: World, api: Api) -> None:
    world.add_tenant()
    other = Api(world.add_key("admin", "manage", tenant=OTHER_TENANT))
    api.put("/v1/notification-types/note", {})
    other.put("/v1/notification-types/theirs", {})

    assert [row["resource_id"] for row in api.get(LOG).json["data"]] == ["note"]
    assert other.get(f"{LOG}/verify").json["head"]["seq"] == 1
    assert [api.get(path, key=world.add_key("operate", "manage")).status for path in (LOG, f"{LOG}/verify")] == [403, 403]


def test_the_log_says_that_it_holds_and_where_it_ends(world: World, api: Api) -> None:
    for number in range(3):
        api.put(f"/v1/notification-types/{number}", {})

    pages = _verified(api, limit="2")

    assert [page["checked"] for page in pages] == [2, 1]
    assert pages[-1]["holds"] is True
    assert pages[-1]["head"] == {"seq": 3, "hash": api.get(LOG).json["data"][0]["hash"]}
    kept = "{seq}:{hash}".format(**pages[-1]["head"])
    assert api.get(f"{LOG}/verify", query={"known": kept}).json["holds"] is True


def test_the_first_row_that_is_not_what_was_written_is_named(world: World, api: Api) -> None:
    for number in range(3):
        api.put(f"/v1/notification-types/{number}", {})
    with psycopg.connect(world.dsn("postgres"), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE audit_logs SET actor = 'key:innocent' WHERE seq = 2")

    (page,) = _verified(api)

    row = world.one("SELECT id FROM audit_logs WHERE seq = 2")
    assert page["holds"] is False
    assert page["broken"] == {"seq": 2, "id": str(row), "problem": "altered", "detail": "It is not what was written."}


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"known": "x"}, 422),
        ({"known": "0:" + "0" * 64}, 422),
        ({"limit": "0"}, 422),
        ({"limit": "10001"}, 422),
        ({"cursor": "x"}, 400),
        ({"cursor": "MToyMg"}, 400),
    ],
)
def test_what_cannot_be_meant_is_refused(api: Api, query: dict[str, str], status: int) -> None:
    assert api.get(f"{LOG}/verify", query=query).status == status


def _verified(api: Api, **query: str) -> list[dict[str, Any]]:
    pages = [api.get(f"{LOG}/verify", query=query).json]
    while pages[-1]["next_cursor"]:
        pages.append(api.get(f"{LOG}/verify", query=query | {"cursor": pages[-1]["next_cursor"]}).json)
    return pages
