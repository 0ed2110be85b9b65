"""Values that producers keep, over HTTP."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.functions.doors import Answer, Api
from tests.functions.test_problems import assert_problem
from tests.triggers import add_trigger, runs
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import depth_tokens
from tocsin.access.key_format import SCOPES
from tocsin.foundation import settings

PLACE = "/v1/kv/orders/A-17"


def _if_match(tag: str) -> dict[str, str]:
    return {"if-match": tag}


def test_a_value_is_kept_shown_changed_and_deleted(world: World, api: Api) -> None:
    made = api.put(PLACE, {"state": "new"})
    changed = api.put(PLACE, {"state": "paid"})
    shown = api.get(PLACE)

    assert (made.status, changed.status, shown.status) == (201, 200, 200)
    assert made.json.keys() == {"collection", "key", "version", "created_at", "updated_at"}
    assert (made.json["version"], changed.json["version"]) == (1, 2)
    assert shown.json == changed.json | {"value": {"state": "paid"}}
    assert shown.headers["ETag"] == changed.headers["ETag"] != made.headers["ETag"]
    assert api.delete(PLACE).status == 204
    assert_problem(api.get(PLACE), 404, "not-found")
    assert_problem(api.delete(PLACE), 404, "not-found")


@pytest.mark.parametrize("value", ["null", "0", "-0.5", "1e22", '""', '"x"', "true", "[]", "{}", '{"a":[null,{"b":"é"}]}'])
def test_any_json_value_is_kept(world: World, api: Api, value: str) -> None:
    assert api.put(PLACE, value).status == 201

    assert api.get(PLACE).json["value"] == json.loads(value)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("", 400, "invalid-json"),
        ("{", 400, "invalid-json"),
        ("NaN", 422, "invalid-request"),
        ('{"a":1,"a":2}', 422, "invalid-request"),
        ('"\\u0000"', 422, "invalid-request"),
        ('{"\\ud800":1}', 422, "invalid-request"),
        ("[" * 30 + "]" * 30, 422, "invalid-request"),
        ("9007199254740993", 422, "invalid-request"),
        (json.dumps("x" * 65_535), 413, "too-large"),
        ("[" + ",".join(["1e308"] * 10_000) + "]", 413, "too-large"),
    ],
)
def test_what_is_no_value_is_refused(world: World, api: Api, body: str, status: int, kind: str) -> None:
    assert_problem(api.put(PLACE, body), status, kind)
    assert world.count("kv_entries") == 0


def test_a_value_of_exactly_64_kib_is_kept(world: World, api: Api) -> None:
    assert api.put(PLACE, json.dumps("x" * 65_534)).status == 201


@pytest.mark.parametrize("name", ["a", "A-17", "users:7", "a.b_c~d@e", "...", "7", "-", "x" * 100])
def test_names_of_letters_digits_and_a_few_marks_are_names(world: World, api: Api, name: str) -> None:
    assert api.put(f"/v1/kv/{name}/{name}", 1).status == 201
    assert api.get(f"/v1/kv/{name}/{name}").json["collection"] == name


@pytest.mark.parametrize("name", ["*", "a*", "users:*", ".", "..", "a%2Fb", "a%20b", "%C3%A9", "a%00", "x" * 201, "a%3Fb", "a+b"])
@pytest.mark.parametrize("place", ["/v1/kv/{}/key", "/v1/kv/collection/{}"])
def test_other_names_are_refused_for_every_verb(world: World, api: Api, place: str, name: str) -> None:
    for answer in (api.put(place.format(name), 1), api.get(place.format(name)), api.delete(place.format(name))):
        assert_problem(answer, 422, "invalid-request")


def test_a_collection_has_100_characters_and_a_key_200(world: World, api: Api) -> None:
    assert_problem(api.put(f"/v1/kv/{'x' * 101}/k", 1), 422, "invalid-request")
    assert api.put(f"/v1/kv/c/{'x' * 200}", 1).status == 201


def test_a_write_that_names_the_state_it_saw_happens_once(world: World, api: Api) -> None:
    seen = api.put(PLACE, 1).headers["ETag"]

    first = api.put(PLACE, 2, headers=_if_match(seen))
    late = api.put(PLACE, 3, headers=_if_match(seen))

    assert first.status == 200
    assert_problem(late, 412, "precondition-failed")
    assert api.get(PLACE).json["value"] == 2
    assert api.put(PLACE, 3, headers=_if_match(f'"other", {first.headers["ETag"]}')).status == 200


def test_a_write_that_wants_a_new_key_changes_no_old_one(world: World, api: Api) -> None:
    new = {"if-none-match": "*"}

    assert api.put(PLACE, 1, headers=new).status == 201
    assert_problem(api.put(PLACE, 2, headers=new), 412, "precondition-failed")
    assert api.get(PLACE).json["value"] == 1


def test_a_write_that_wants_any_state_makes_no_new_key(world: World, api: Api) -> None:
    assert_problem(api.put(PLACE, 1, headers=_if_match("*")), 412, "precondition-failed")
    api.put(PLACE, 1)
    assert api.put(PLACE, 2, headers=_if_match("*")).status == 200


def test_a_delete_that_names_a_state_deletes_no_other(world: World, api: Api) -> None:
    old = api.put(PLACE, 1).headers["ETag"]
    now = api.put(PLACE, 1).headers["ETag"]

    assert_problem(api.delete(PLACE, headers=_if_match(old)), 412, "precondition-failed")
    assert api.delete(PLACE, headers=_if_match(now)).status == 204
    assert_problem(api.delete(PLACE, headers=_if_match(now)), 412, "precondition-failed")
    assert_problem(api.delete(PLACE, headers=_if_match("*")), 412, "precondition-failed")


def test_an_etag_never_comes_again_for_another_state(world: World, api: Api) -> None:
    tags = []
    for _ in range(3):
        tags += [api.put(PLACE, 1).headers["ETag"], api.put(PLACE, 1).headers["ETag"]]
        api.delete(PLACE)

    assert len(set(tags)) == 6
    api.put(PLACE, 1)
    assert_problem(api.put(PLACE, 2, headers=_if_match(tags[0])), 412, "precondition-failed")


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"if-match": "3"}, "If-Match"),
        ({"if-match": ""}, "If-Match"),
        ({"if-match": '"a" "b"'}, "If-Match"),
        ({"if-match": '"a", *'}, "If-Match"),
        ({"if-match": 'W/"a"'}, "If-Match"),
        ({"if-none-match": '"a"'}, "If-None-Match"),
        ({"if-none-match": ""}, "If-None-Match"),
        ({"if-none-match": "*", "if-match": "*"}, "If-None-Match"),
        ({"tocsin-trigger-depth": "1.forged"}, "Tocsin-Trigger-Depth"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused_by_its_name(
    world: World, api: Api, token_secret: bytes, headers: dict[str, str], name: str
) -> None:
    problem = assert_problem(api.put(PLACE, 1, headers=headers), 422, "invalid-request")

    assert [error["pointer"] for error in problem["errors"]] == [name]
    assert world.count("kv_entries") == 0


def test_who_knows_the_value_is_not_told_it_again(world: World, api: Api) -> None:
    tag = api.put(PLACE, 1).headers["ETag"]

    for known in (tag, f"W/{tag}", f'"x", {tag}'):
        answer = api.get(PLACE, headers={"if-none-match": known})
        assert (answer.status, answer.text, answer.headers["ETag"]) == (304, "", tag)
    api.put(PLACE, 2)
    assert api.get(PLACE, headers={"if-none-match": tag}).json["value"] == 2


def _keys(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [entry["key"] for entry in answer.json["data"]]


def test_a_collection_is_listed_by_prefix_in_the_order_of_its_keys(world: World, api: Api) -> None:
    for key in ("b-2", "a", "B-1", "b-10", "b", "c:1"):
        api.put(f"/v1/kv/orders/{key}", {"key": key})
    api.put("/v1/kv/others/b-3", 1)

    assert _keys(api.get("/v1/kv/orders")) == ["B-1", "a", "b", "b-10", "b-2", "c:1"]
    assert _keys(api.get("/v1/kv/orders", query={"prefix": "b-"})) == ["b-10", "b-2"]
    assert _keys(api.get("/v1/kv/orders", query={"prefix": "zzz"})) == []
    assert _keys(api.get("/v1/kv/nothing")) == []
    (first, *_) = api.get("/v1/kv/orders").json["data"]
    assert first == api.get("/v1/kv/orders/B-1").json


def test_pages_follow_each_other_without_a_gap_whatever_is_written_between_them(world: World, api: Api) -> None:
    keys = [f"k-{n:02}" for n in range(10)]
    for key in keys:
        api.put(f"/v1/kv/orders/{key}", "null")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get("/v1/kv/orders", query={"limit": "3", "prefix": "k-"} | ({"cursor": cursor} if cursor else {}))
        seen += _keys(page)
        cursor = page.json["next_cursor"]
        api.delete(f"/v1/kv/orders/{seen[-1]}")

    assert seen == keys


def test_a_page_of_large_values_ends_early_and_says_where_to_go_on(world: World, api: Api) -> None:
    for n in range(20):
        api.put(f"/v1/kv/orders/k-{n:02}", ["x" * 65_000])

    first = api.get("/v1/kv/orders", query="limit=200")
    rest = api.get("/v1/kv/orders", query={"limit": "200", "cursor": first.json["next_cursor"]})

    assert len(first.text) < 1_200_000
    assert len(_keys(first)) + len(_keys(rest)) == 20
    assert rest.json["next_cursor"] is None


@pytest.mark.parametrize("query", ["prefix=*", "prefix=a%2Fb", "prefix=%C3%A9", "prefix=" + "x" * 201, "limit=0", "limit=201"])
def test_a_prefix_or_a_limit_that_cannot_be_is_422(world: World, api: Api, query: str) -> None:
    assert_problem(api.get("/v1/kv/orders", query=query), 422, "invalid-request")


@pytest.mark.parametrize("cursor", ["nonsense!", "Kg", "w6k", "YS9i"])
def test_a_cursor_that_was_not_made_here_is_400(world: World, api: Api, cursor: str) -> None:
    assert_problem(api.get("/v1/kv/orders", query={"cursor": cursor}), 400, "invalid-cursor")


def test_above_the_tenants_bound_nothing_is_stored_and_the_answer_says_which(
    world: World, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KV_ENTRIES_PER_TENANT", "1")
    settings.settings.cache_clear()
    api.put(PLACE, 1)

    problem = assert_problem(api.put("/v1/kv/orders/B-18", 1), 409, "kv-full")

    assert "KvEntriesPerTenant" in problem["detail"]
    assert api.put(PLACE, 2).status == 200
    assert api.delete(PLACE).status == 204
    assert api.put("/v1/kv/orders/B-18", 1).status == 201


def test_only_a_key_with_the_scope_data_may(world: World, api: Api) -> None:
    api.put(PLACE, 1)
    without = world.add_key(*(scope for scope in SCOPES if scope != "data"))

    for answer in (
        api.put(PLACE, 2, key=without),
        api.get(PLACE, key=without),
        api.get("/v1/kv/orders", key=without),
        api.delete(PLACE, key=without),
    ):
        assert_problem(answer, 403, "forbidden")
    assert api.get(PLACE, key=world.add_key("data")).json["value"] == 1


def test_two_tenants_keep_the_same_key_apart(world: World, api: Api) -> None:
    theirs = world.add_key("data", tenant=world.add_tenant())
    tag = api.put(PLACE, ["ours"]).headers["ETag"]

    assert_problem(api.get(PLACE, key=theirs), 404, "not-found")
    assert_problem(api.delete(PLACE, key=theirs), 404, "not-found")
    assert_problem(api.put(PLACE, ["theirs"], key=theirs, headers=_if_match(tag)), 412, "precondition-failed")
    assert api.put(PLACE, ["theirs"], key=theirs).status == 201
    assert api.get(PLACE).json["value"] == ["ours"]
    assert _keys(api.get("/v1/kv/orders", key=theirs)) == ["A-17"]
    assert {row["tenant_id"] for row in world.rows("SELECT tenant_id FROM kv_entries")} == {TENANT, OTHER_TENANT}


def test_a_write_nudges_the_workers_of_what_it_fires(world: World, api: Api) -> None:
    add_trigger(world, handler="intent")
    add_trigger(world, handler="webhook")

    api.put(PLACE, 1)

    due = {run["queue"]: run["id"] for run in runs(world)}
    nudged = {nudge.queue: nudge.ids for nudge in world.nudges()}
    assert nudged == {queue: [run_id] for queue, run_id in due.items()}
    assert set(due) == {"trigger", "webhook"}


@pytest.mark.parametrize(("given", "depth"), [(None, 1), (0, 1), (3, 4)])
def test_what_a_write_fires_is_one_deeper_than_the_write(
    world: World, api: Api, token_secret: bytes, given: int | None, depth: int
) -> None:
    add_trigger(world)
    brought = {} if given is None else {depth_tokens.HEADER.lower(): depth_tokens.sign(given, TENANT, token_secret)}

    api.put(PLACE, 1, headers=brought)
    api.delete(PLACE, headers=brought)

    assert [run["trigger_depth"] for run in runs(world)] == [depth, depth]


@pytest.mark.parametrize("verb", ["put", "delete"])
def test_another_tenants_depth_is_refused_and_changes_nothing(world: World, api: Api, token_secret: bytes, verb: str) -> None:
    api.put(PLACE, 1)
    brought = {depth_tokens.HEADER.lower(): depth_tokens.sign(1, OTHER_TENANT, token_secret)}

    answer = api.put(PLACE, 2, headers=brought) if verb == "put" else api.delete(PLACE, headers=brought)

    assert_problem(answer, 422, "invalid-request")
    assert api.get(PLACE).json["value"] == 1


def test_what_a_test_key_writes_fires_what_test_keys_registered_and_nothing_else(world: World, api: Api) -> None:
    live = add_trigger(world)
    key = world.add_key("data", mode="test")
    test = add_trigger(world)  # registered by the newest key

    api.put(PLACE, 1, key=key)
    api.delete(PLACE, key=key)
    assert [run["payload"]["trigger_id"] for run in runs(world)] == [str(test)] * 2
    api.put(PLACE, 1)

    assert [run["payload"]["trigger_id"] for run in runs(world)][2:] == [str(live)]


def test_no_word_of_a_value_is_ever_logged(
    world: World, api: Api, ears: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_trigger(world)
    monkeypatch.setenv("KV_ENTRIES_PER_TENANT", "1")
    settings.settings.cache_clear()

    for place in (PLACE, PLACE, "/v1/kv/orders/B-18", "/v1/kv/canary*/1"):
        api.put(place, {"note": "canary-value"})
    api.put(PLACE, '{"note": "canary-value"')
    api.get(PLACE)
    api.delete(PLACE)

    assert "canary" not in ears()


def test_one_request_writes_once_however_often_it_is_tried(world: World, api: Api) -> None:
    """The door repeats a request on a new connection when the old one dies, be it after the commit."""
    request_id = str(uuid4())
    new: dict[str, Any] = {"headers": {"if-none-match": "*"}, "request_id": request_id}

    first, again = api.put(PLACE, 1, **new), api.put(PLACE, 1, **new)

    assert (first.status, again.status) == (201, 201)
    assert first.json == again.json
    assert UUID(first.headers["ETag"].strip('"')) == world.one("SELECT write_id FROM kv_entries")


def test_the_collections_are_listed_by_name_with_how_many_entries_they_have(world: World, api: Api) -> None:
    for place in ("stock/A", "orders/1", "orders/2", "Zeta/1", "orders:old/1"):
        assert api.put(f"/v1/kv/{place}", 1).status == 201
    newest = api.put("/v1/kv/orders/1", 2).json["updated_at"]
    api.delete("/v1/kv/stock/A")

    listed = api.get("/v1/kv").json

    assert [(one["collection"], one["count"], one["at_least"]) for one in listed["data"]] == [
        ("Zeta", 1, False),
        ("orders", 2, False),
        ("orders:old", 1, False),
    ]
    assert listed["data"][1]["updated_at"] == newest
    assert listed["next_cursor"] is None


def test_the_collections_come_page_by_page(world: World, api: Api) -> None:
    assert api.get("/v1/kv").json == {"data": [], "next_cursor": None}
    for n in range(5):
        api.put(f"/v1/kv/c{n}/k", n)
    pages, query = [], {"limit": "2"}
    while True:
        page = api.get("/v1/kv", query=query).json
        pages.append([one["collection"] for one in page["data"]])
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]

    assert pages == [["c0", "c1"], ["c2", "c3"], ["c4"]]
    assert_problem(api.get("/v1/kv", query={"cursor": "x"}), 400, "invalid-cursor")


def test_a_large_collection_is_counted_so_far_and_no_further(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.api.kv.MOST_COUNTED", 2)
    for key in ("orders/1", "orders/2", "orders/3", "stock/1", "stock/2"):
        api.put(f"/v1/kv/{key}", 1)

    assert [(one["count"], one["at_least"]) for one in api.get("/v1/kv").json["data"]] == [(2, True), (2, False)]


def test_collections_of_other_tenants_are_not_listed(world: World, api: Api) -> None:
    theirs = Api(world.add_key(*SCOPES, tenant=world.add_tenant()))
    theirs.put(PLACE, 1)

    assert api.get("/v1/kv").json["data"] == []
    assert api.get("/v1/kv", key=world.add_key("send", "read", "manage")).status == 403
