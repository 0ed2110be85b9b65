"""Every way a request can be wrong has its own problem document, and none of them tells what is inside."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from tests.functions.doors import Answer, Api, intent
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.intake.accept_intents import _row
from tocsin.store.flow import accept_intents
from tocsin.store.migrations import EXPECTED

INSIDES = re.compile(
    r"traceback|psycopg|pydantic|\.py\b|select |insert |constraint|rate_limits"
    r"|(?<!/v1/)\boutbox\b|recipient_user_ids|stack",
    re.IGNORECASE,
)


def assert_problem(answer: Answer, status: int, kind: str) -> dict[str, Any]:
    assert (answer.status, answer.json["type"]) == (status, f"/errors#{kind}")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert set(answer.json) - {"errors"} == {"type", "title", "status", "detail", "request_id"}
    assert answer.json["status"] == status
    assert answer.json["request_id"] == answer.headers["X-Request-Id"] != ""
    assert not INSIDES.search(answer.text)
    problem: dict[str, Any] = answer.json
    return problem


@pytest.mark.parametrize("body", ["", "{", "nonsense", '{"a": 1,}', "\ud800"])
def test_what_is_not_json_is_400(api: Api, body: str) -> None:
    answer = api.send(body)

    assert_problem(answer, 400, "invalid-json")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_idempotency_key_is_400(world: World, api: Api, value: str | None) -> None:
    headers = {} if value is None else {"idempotency-key": value}

    answer = api.post("/v1/intents", intent(), headers=headers)

    assert_problem(answer, 400, "idempotency-key-required")


@pytest.mark.parametrize("value", ["a,b", "a, b", '"a", "b"', "x" * 256, "ключ", '"open', '""', "a\x7fb"])
def test_an_unusable_idempotency_key_is_400(world: World, api: Api, value: str) -> None:
    answer = api.post("/v1/intents", intent(), headers={"idempotency-key": value})

    assert_problem(answer, 400, "idempotency-key-invalid")
    assert world.count("records") == 0


def test_a_key_of_255_characters_is_taken(world: World, api: Api) -> None:
    world.add_user()

    assert api.send(idempotency_key="x" * 255).status == 202


@pytest.mark.parametrize(
    "presented",
    ["", "garbage", "tcn_live_short", "tcn_live_" + "0" * 22 + "_" + "0" * 49, "Bearer", "ключ", "x" * 10_000],
)
def test_a_missing_or_unusable_key_is_one_and_the_same_401(world: World, api: Api, presented: str) -> None:
    reference = api.get("/v1/notifications", key="nonsense", request_id="r")

    answer = api.get("/v1/notifications", key=presented, request_id="r")

    assert_problem(answer, 401, "unauthorized")
    assert (answer.text, answer.headers) == (reference.text, reference.headers)
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_another_scheme_than_bearer_is_401(world: World, api: Api) -> None:
    answer = api.get("/v1/notifications", key="", headers={"authorization": f"Basic {api.key}"})

    assert_problem(answer, 401, "unauthorized")


def test_a_missing_scope_is_403_and_names_it(world: World, api: Api) -> None:
    answer = api.send(key=world.add_key("read"))

    assert "`send`" in assert_problem(answer, 403, "forbidden")["detail"]


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/intentz", "/v1/intents/", "/V1/intents", "/v1/users/a/b/c", "/admin/../v1"])
def test_an_unknown_path_is_404(api: Api, path: str) -> None:
    assert_problem(api.get(path), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/intents", "POST"),
        ("POST", "/v1/users/alice", "DELETE, GET, PATCH, PUT"),
        ("PATCH", "/v1/notifications", "GET"),
        ("POST", "/health", "GET, HEAD"),
    ],
)
def test_a_known_path_with_another_method_is_405_and_says_which_it_takes(api: Api, method: str, path: str, allowed: str) -> None:
    answer = api.call(method, path)

    assert_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == allowed


def test_a_key_in_flight_elsewhere_is_409_and_says_when_to_come_back(world: World, api: Api) -> None:
    world.add_user()
    holder = world.connect("tocsin_app")
    holder.execute("BEGIN")
    holder.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    accept_intents.reserve(
        holder,
        [_row(0, world.asked(key="k-1"))],
        tenant_id=TENANT,
        producer="shop",
        mode="live",
        request_id="",
        trace_id="",
        window=timedelta(days=7),
        rate_subject="rival",
        rate_limit=1_000,
        cost=1,
    )

    answer = api.send(idempotency_key="k-1")

    assert_problem(answer, 409, "idempotency-key-in-flight")
    assert answer.headers["Retry-After"] == "1"


def test_a_body_above_256_kib_is_413(world: World, api: Api) -> None:
    answer = api.send(intent(payload={"text": "x" * 262_144}))

    assert_problem(answer, 413, "too-large")


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/xml",
        "application/json; charset=latin-1",
        "text/json",
        "application/json, application/json",
        "application/json; charset=utf-8; charset=latin-1",
    ],
)
def test_anything_but_json_is_415(world: World, api: Api, content_type: str) -> None:
    answer = api.send(headers={"content-type": content_type})

    assert_problem(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", 'application/json; charset="UTF-8"', "application/json; profile=x; charset=utf-8"],
)
def test_json_is_json_however_it_is_spelt(world: World, api: Api, content_type: str) -> None:
    world.add_user()

    assert api.send(headers={"content-type": content_type}).status == 202


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"type": ""}, "/type"),
        ({"type": 7}, "/type"),
        ({"payload": []}, "/payload"),
        ({"audience": {"kind": "users", "user_ids": []}}, "/audience/user_ids"),
        ({"audience": {"kind": "users", "user_ids": ["x"] * 1001}}, "/audience/user_ids"),
        ({"audience": {"kind": "address", "email": "not an address"}}, "/audience/email"),
        ({"audience": {"kind": "nobody"}}, "/audience/kind"),
        ({"audience": {"user_ids": ["x"]}}, "/audience/kind"),
        ({"audience": {"kind": "address"}}, "/audience/email"),
        ({"send_at": "2030-01-02T00:00:00Z", "expires_at": "2030-01-01T00:00:00Z"}, "/expires_at"),
        ({"channels": ["pigeon"]}, "/channels/0"),
        ({"channels": []}, "/channels"),
        ({"channels": ["email", "email"]}, "/channels"),
        ({"priority": "urgent"}, "/priority"),
        ({"occurred_at": "yesterday"}, "/occurred_at"),
        ({"send_at": "2026-11-15T10:00:00"}, "/send_at"),
        ({"retry": {"max_attempts": 0}}, "/retry/max_attempts"),
        ({"retry": {"max_attempts": True}}, "/retry/max_attempts"),
        ({"thread": {"kind": "order"}}, "/thread/id"),
        ({"tenant_id": str(OTHER_TENANT)}, "/tenant_id"),
        ({"status": "published"}, "/status"),
        ({"producer": "someone-else"}, "/producer"),
        ({"mode": "rehearsal"}, "/mode"),
    ],
)
def test_what_has_another_shape_is_422_and_says_where(world: World, api: Api, changes: dict[str, Any], pointer: str) -> None:
    answer = api.send(intent(**changes))

    problem = assert_problem(answer, 422, "invalid-request")
    assert pointer in {error["pointer"] for error in problem["errors"]}
    assert world.count("records") == 0


def test_unknown_users_are_422_and_up_to_twenty_are_named(world: World, api: Api) -> None:
    unknown = [f"stranger-{n:02}" for n in range(25)]

    problem = assert_problem(api.send(intent(audience={"kind": "users", "user_ids": unknown})), 422, "unknown-users")

    assert len(problem["errors"]) == 20
    assert problem["errors"][0] == {"pointer": "/audience/user_ids/0", "message": "stranger-00 is not known"}
    assert "stranger-19" in problem["detail"]
    assert "stranger-20" not in problem["detail"]


def test_above_the_rate_limit_is_429_with_the_time_to_wait(world: World, api: Api) -> None:
    world.add_user()
    world.admin.execute("UPDATE api_keys SET rate_limit = 2")
    answers = [api.send() for _ in range(5)]

    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert world.count("records") == 5 - len(refused)
    for answer in refused:
        assert_problem(answer, 429, "rate-limited")
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        assert answer.headers["RateLimit-Policy"] == '"intents";q=2;w=60'
        assert answer.headers["RateLimit"].startswith('"intents";r=0;t=')


def test_one_key_above_its_limit_leaves_the_others_alone(world: World, api: Api) -> None:
    world.add_user()
    world.admin.execute("UPDATE api_keys SET rate_limit = 1")
    api.send()
    api.send()

    assert api.send(key=world.add_key("send")).status == 202


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/intents"), ("GET", "/v1/notifications"), ("GET", "/v1/users"), ("GET", "/ready")]
)
def test_while_the_database_is_down_every_door_is_503_and_says_when_to_come_back(
    api: Api, database_down: None, method: str, path: str
) -> None:
    answer = api.call(method, path, intent() if method == "POST" else None, headers={"idempotency-key": "k"})

    assert_problem(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) >= 1


def test_while_the_database_is_down_the_service_is_still_healthy(api: Api, database_down: None) -> None:
    answer = api.get("/health", key="")

    assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_a_schema_that_is_behind_is_not_ready(breakable_world: World) -> None:
    api = Api()
    assert api.get("/ready", key="").status == 200
    breakable_world.admin.execute(
        "DELETE FROM _yoyo_migration WHERE migration_id = (SELECT max(migration_id) FROM _yoyo_migration)"
    )

    answer = api.get("/ready", key="")

    assert_problem(answer, 503, "unavailable")


def test_a_schema_to_which_a_newer_release_has_added_is_ready(breakable_world: World) -> None:
    breakable_world.admin.execute(
        "INSERT INTO _yoyo_migration (migration_hash, migration_id, applied_at_utc) VALUES ('x', '9999.later', now())"
    )

    answer = Api().get("/ready", key="")

    assert (answer.status, answer.json) == (200, {"status": "ready", "schema": "9999.later"})


@pytest.mark.parametrize(("since", "status"), [(EXPECTED.partition(".")[0], 200), ("0002", 200), ("9998", 503)])
def test_a_newer_schema_that_leaves_older_code_behind_is_ready_only_for_code_that_is_new_enough(
    breakable_world: World, since: str, status: int
) -> None:
    breakable_world.admin.execute(
        "INSERT INTO _yoyo_migration (migration_hash, migration_id) VALUES ('a', %s), ('b', '9999a.more')",
        [f"9999.less.since-{since}"],
    )

    assert Api().get("/ready", key="").status == status


def test_a_newer_schema_that_lacks_what_this_code_needs_is_not_ready(breakable_world: World) -> None:
    breakable_world.admin.execute("UPDATE _yoyo_migration SET migration_id = '9999.other' WHERE migration_id = %s", [EXPECTED])

    assert_problem(Api().get("/ready", key=""), 503, "unavailable")


@pytest.mark.parametrize("state", ["DROP TABLE _yoyo_migration", "REVOKE ALL ON _yoyo_migration FROM tocsin_app"])
def test_a_database_that_no_migration_has_opened_to_us_is_not_ready(breakable_world: World, state: str) -> None:
    breakable_world.admin.execute(state)  # type: ignore[call-overload]

    assert_problem(Api().get("/ready", key=""), 503, "unavailable")


def test_what_nobody_foresaw_is_500_without_a_word_of_the_cause(breakable_world: World) -> None:
    api = Api(breakable_world.add_key("read"))
    breakable_world.admin.execute("ALTER TABLE records RENAME TO elsewhere")

    answer = api.get("/v1/notifications")

    assert_problem(answer, 500, "internal")
    assert json.loads(answer.text)["request_id"]
