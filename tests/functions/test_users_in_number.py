"""Users by HTTP: changed in part, written in number, and found."""

from typing import Any

import pytest

from tests.functions.doors import Api
from tests.plans import rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.store import users

ALICE = {"email": "Alice@example.com", "phone": "+4915112345678", "username": "ali", "attributes": {"plan": "pro", "seats": 3}}


@pytest.fixture
def alice(api: Api) -> str:
    assert api.put("/v1/users/alice", ALICE).status == 201
    return "/v1/users/alice"


def test_what_is_named_is_changed_and_the_rest_stays(api: Api, alice: str) -> None:
    changed = api.patch(alice, {"locale": "de", "attributes": {"seats": 4}})

    assert changed.status == 200
    assert changed.json["locale"] == "de"
    assert changed.json["attributes"] == {"plan": "pro", "seats": 4}
    assert changed.json["email"] == api.get(alice).json["email"] != None  # noqa: E711 - it is still there


def test_null_clears_and_put_replaces(api: Api, alice: str) -> None:
    merge = {"content-type": "application/merge-patch+json"}

    cleared = api.patch(alice, {"phone": None, "attributes": {"plan": None}}, headers=merge).json

    assert (cleared["phone"], cleared["attributes"]) == (None, {"seats": 3})
    assert api.put(alice, {"locale": "fr"}).json["email"] is None


@pytest.mark.parametrize(
    ("patch", "status"), [({"email": "no address"}, 422), ({"id": "bob"}, 422), ([], 422), ({"username": "bobby"}, 409)]
)
def test_a_change_that_cannot_be_made_changes_nothing(api: Api, alice: str, patch: Any, status: int) -> None:
    api.put("/v1/users/bob", {"username": "bobby"})
    before = api.get(alice).json

    assert api.patch(alice, patch).status == status
    assert api.get(alice).json == before


def test_nobody_is_made_known_by_a_change(api: Api) -> None:
    assert api.patch("/v1/users/nobody", {}).status == 404
    assert api.get("/v1/users/nobody").status == 404


def test_changes_are_in_the_audit_log_without_what_they_hold(world: World, api: Api, alice: str) -> None:
    api.patch(alice, {"email": "new@example.com"})
    api.patch(alice, {"email": "new@example.com"})
    api.post("/v1/users/batch", {"users": [{"id": "bob", "email": "bob@example.com"}]})

    rows = world.rows("SELECT action, resource_id, changes FROM audit_logs WHERE resource_type = 'user' ORDER BY seq")
    assert [row["action"] for row in rows] == ["create", "update", "upsert"]
    assert rows[1]["changes"] == {"old": {"email": "***"}, "new": {"email": "***"}}
    assert all(word not in str(rows) for word in ("alice", "example.com", "+49", "ali'", "bob"))


def test_a_batch_writes_whole_users_and_one_bad_item_does_not_spoil_the_others(api: Api, alice: str) -> None:
    answer = api.post(
        "/v1/users/batch",
        {
            "users": [
                {"id": "alice", "email": "alice@example.com"},
                {"id": "bob", "username": "bobby"},
                {"id": "carl", "email": "no address"},
                {"id": "bob"},
                {"id": "dora", "username": "bobby"},
                {"id": "emil", "email": "ALICE@example.com"},
                "odd",
            ]
        },
    )

    assert answer.status == 200
    told = [(one["id"], one["status"], one.get("problem", {}).get("type", "").rsplit("/")[-1]) for one in answer.json["results"]]
    assert [(name, status) for name, status, _ in told] == [
        ("alice", 200),
        ("bob", 201),
        ("carl", 422),
        ("bob", 422),
        ("dora", 409),
        ("emil", 409),
        (None, 422),
    ]
    assert told[3][2].endswith("named-twice")
    assert told[5][2].endswith("already-taken")
    assert api.get(alice).json["username"] is None
    assert api.get("/v1/users/bob").json["username"] == "bobby"
    assert api.get("/v1/users/dora").status == 404


@pytest.mark.parametrize("users", [[], [{"id": f"u{n}"} for n in range(501)], {}])
def test_a_batch_has_one_to_five_hundred_users(api: Api, users: Any) -> None:
    assert api.post("/v1/users/batch", {"users": users}).status == 422


def test_five_hundred_are_written_at_once(world: World, api: Api) -> None:
    answer = api.post("/v1/users/batch", {"users": [{"id": f"u{n}", "email": f"u{n}@example.com"} for n in range(500)]})

    assert {one["status"] for one in answer.json["results"]} == {201}
    assert world.count("users") == 500


def _found(api: Api, query: str, **options: Any) -> list[str]:
    return [one["id"] for one in api.get("/v1/users", query={"query": query}, **options).json["data"]]


def test_people_are_found_by_the_beginning_of_what_is_known_of_them(world: World, api: Api, alice: str) -> None:
    api.put("/v1/users/bob", {"email": "b_b@example.com"})
    world.add_tenant()
    world.add_user(tenant=OTHER_TENANT)

    for query in ("alice", "ali", "ALICE@", "alice@example.com", "+49151"):
        assert _found(api, query) == ["alice"], query
    assert _found(api, "Alice") == ["alice"]  # an email's beginning
    assert _found(api, "b%") == _found(api, "lice") == _found(api, "bXb") == []
    assert _found(api, "b_b") == ["bob"]
    assert api.get("/v1/users", query={"query": ""}).status == 422


def test_what_is_found_comes_page_by_page(api: Api) -> None:
    api.post("/v1/users/batch", {"users": [{"id": f"u{n}"} for n in range(5)]})

    first = api.get("/v1/users", query={"query": "u", "limit": "3"}).json
    second = api.get("/v1/users", query={"query": "u", "limit": "3", "cursor": first["next_cursor"]}).json

    assert len({one["id"] for one in first["data"] + second["data"]}) == 5
    assert second["next_cursor"] is None


def test_a_search_reads_an_index_however_many_there_are(breakable_world: World) -> None:
    world = breakable_world
    world.admin.execute(
        """INSERT INTO users (id, tenant_id, external_id, email, username, phone)
           SELECT tocsin_uuid7(), %s, 'u' || n, 'e' || n || '@example.com', 'n' || n, '+49' || n
           FROM generate_series(1, 20000) AS n""",
        [TENANT],
    )
    world.admin.execute("ANALYZE users")
    conn = world.connect("postgres")
    conn.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])
    plans = telling(conn, "tocsin_app")

    for query in ("u1234", "e1234", "n1234", "+491234", "E1999"):
        assert users.search(conn, TENANT, query, limit=10, before=None)

    for plan in plans:
        scans = [node for node in walk(plan["Plan"]) if node.get("Relation Name") == "users"]
        assert sum(map(rows_of, scans)) < 100
