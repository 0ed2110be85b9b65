"""GET /v1/inbox: a user's rows and those for everyone, latest first."""

from datetime import UTC, datetime, timedelta

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import World
from tocsin import database


def _titles(api: Api, query: str = "user_id=alice") -> list[str]:
    return [row["title"] for row in api.get("/v1/inbox", query=query).json["data"]]


def _arrive(world: World, title: str, **intent: object) -> None:
    world.accept(**({"channels": ["in_app"], "payload": {"title": title, "message": f"about {title}"}} | intent))
    world.dispatch()


def test_an_inbox_shows_its_users_rows_and_those_for_everyone_and_nobody_elses(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob")
    _arrive(world, "for alice")
    _arrive(world, "for bob", audience={"kind": "users", "user_ids": ["bob"]})
    _arrive(world, "for everyone", audience={"kind": "tenant"})

    assert _titles(api) == ["for everyone", "for alice"]
    assert api.get("/v1/inbox/unread-count", query="user_id=alice").json == {"unread": 2}


def test_a_row_says_what_happened_where_and_how_often(world: World, api: Api) -> None:
    world.add_user()
    for n in range(3):
        _arrive(world, f"update {n}", thread={"kind": "order", "id": "A-17"})

    (row,) = api.get("/v1/inbox", query="user_id=alice").json["data"]

    assert (row["title"], row["message"], row["event_count"]) == ("update 2", "about update 2", 3)
    assert (row["thread"], row["unread"], row["read_at"]) == ({"kind": "order", "id": "A-17"}, True, None)
    assert set(row) == {
        "id", "kind", "reason", "scope", "thread", "title", "message", "summary", "event_count", "unread", "read_at",
        "last_event_at", "last_actor", "created_at",
    }  # fmt: skip


def test_read_and_unread_rows_are_told_apart(world: World, api: Api) -> None:
    world.add_user()
    _arrive(world, "old")
    world.admin.execute("UPDATE notifications SET unread = false, read_at = tocsin_now()")
    _arrive(world, "new")

    assert _titles(api, "user_id=alice&status=unread") == ["new"]
    assert _titles(api, "user_id=alice&status=read") == ["old"]
    assert _titles(api, "user_id=alice&status=all") == ["new", "old"]
    assert api.get("/v1/inbox/unread-count", query="user_id=alice").json == {"unread": 1}
    assert api.get("/v1/inbox", query="user_id=alice&status=lost").status == 422


def test_hidden_and_expired_rows_are_not_shown_and_not_counted(world: World, api: Api) -> None:
    world.add_user()
    _arrive(world, "hidden")
    world.admin.execute("UPDATE notifications SET deleted_at = tocsin_now()")
    _arrive(world, "brief", expires_at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())
    _arrive(world, "lasting")
    world.pass_time(timedelta(minutes=6))
    database.disconnect()  # the next connection sees the later clock

    assert _titles(api) == ["lasting"]
    assert api.get("/v1/inbox/unread-count", query="user_id=alice").json == {"unread": 1}


def test_a_new_event_brings_a_hidden_thread_back_unread(world: World, api: Api) -> None:
    world.add_user()
    _arrive(world, "first", thread={"kind": "order", "id": "1"})
    world.admin.execute("UPDATE notifications SET deleted_at = tocsin_now(), unread = false, read_at = tocsin_now()")

    _arrive(world, "second", thread={"kind": "order", "id": "1"})

    assert _titles(api, "user_id=alice&status=unread") == ["second"]


def test_the_inbox_is_paged_latest_event_first(world: World, api: Api) -> None:
    world.add_user()
    for n in range(5):
        _arrive(world, f"row {n}")

    first = api.get("/v1/inbox", query="user_id=alice&limit=2").json
    _arrive(world, "late")
    rest = api.get("/v1/inbox", query=f"user_id=alice&cursor={first['next_cursor']}").json

    assert [row["title"] for row in first["data"] + rest["data"]] == ["row 4", "row 3", "row 2", "row 1", "row 0"]
    assert rest["next_cursor"] is None


def test_a_server_key_says_whose_inbox_it_means(world: World, api: Api) -> None:
    for path in ("/v1/inbox", "/v1/inbox/unread-count"):
        assert_problem(api.get(path), 422, "invalid-request")
        assert_problem(api.get(path, query="user_id=nobody"), 404, "not-found")
