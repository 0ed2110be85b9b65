"""Tokens for browsers: made for one user by a server, good for that user's inbox for a while and for nothing else."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.functions.doors import ENDPOINTS, Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import standing
from tocsin.access.recognise import recognise
from tocsin.access.user_tokens import Person, sign
from tocsin.foundation import secrets, settings
from tocsin.http.door import Endpoint

EVERY = [endpoint for endpoints in ENDPOINTS.values() for endpoint in endpoints]
GUARDED = [endpoint for endpoint in EVERY if endpoint.scope]
BODIES: dict[str, Any] = {
    "PATCH /v1/inbox/{id}": {"read": True},
    "POST /v1/inbox/read-all": {},
    "POST /v1/inbox/done-all": {},
    "POST /v1/inbox/seen": {},
    "PUT /v1/inbox/threads/{kind}/{id}": {"subscribed": True},
    "PUT /v1/inbox/preferences/{channel}": {"enabled": False},
}


def _token_of(user_id: UUID, secret: bytes, *, tenant: UUID = TENANT, lasts: timedelta = timedelta(hours=1)) -> str:
    now = datetime.now(UTC)
    return sign(Person(tenant, user_id), secret, now=now, expires_at=now + lasts)


def _forged(token: str, secret: bytes, *, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """The same token with another header or other claims, signed anew."""
    written = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]]
    parts = [header or written[0], written[1] | claims]
    content = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    mac = hmac.new(secret, content.encode(), hashlib.sha256).digest()
    return f"{content}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def _path(endpoint: Endpoint, row_id: str = "x") -> tuple[str, str]:
    """Somewhere this endpoint answers: its method and a path."""
    method, path = endpoint.route.split(" ", 1)
    values = {"channel": "email", "id": row_id}
    return method, re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], "x"), path)


def _call(endpoint: Endpoint, token: str, *, row_id: str = "x", query: str = "") -> int:
    method, path = _path(endpoint, row_id)
    body = BODIES.get(endpoint.route, {} if endpoint.body else None)
    return Api(token).call(method, path, body, query=query).status


def test_a_token_opens_its_users_inbox_and_says_until_when(world: World, api: Api, token_secret: bytes) -> None:
    user_id = world.add_user("alice")
    arrive(world, "for alice")
    started = datetime.now(UTC)

    answer = api.post("/v1/users/alice/tokens", {"ttl_seconds": 600})

    assert (answer.status, set(answer.json)) == (201, {"token", "expires_at"})
    assert answer.headers["Cache-Control"] == "no-store"
    lasts = datetime.fromisoformat(answer.json["expires_at"]) - started
    assert timedelta(seconds=598) < lasts <= timedelta(seconds=601)
    assert Reader(Api(answer.json["token"])).titles() == ["for alice"]
    assert recognise(answer.json["token"]) == Person(TENANT, user_id)


def test_a_token_lasts_an_hour_unless_told(world: World, api: Api, token_secret: bytes) -> None:
    world.add_user("alice")

    ends = [api.post("/v1/users/alice/tokens", body).json["expires_at"] for body in (None, {}, {"ttl_seconds": 3_600})]

    for end in ends:
        assert timedelta(seconds=3_590) < datetime.fromisoformat(end) - datetime.now(UTC) <= timedelta(hours=1)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"ttl_seconds": 60}, 201),
        ({"ttl_seconds": 86_400}, 201),
        ({"ttl_seconds": 59}, 422),
        ({"ttl_seconds": 86_401}, 422),
        ({"ttl_seconds": 0}, 422),
        ({"ttl_seconds": -60}, 422),
        ({"ttl_seconds": "600"}, 422),
        ({"ttl_seconds": 600.5}, 422),
        ({"ttl_seconds": True}, 422),
        ({"ttl_seconds": None}, 422),
        ({"ttl": 600}, 422),
        ({"user_id": "bob"}, 422),
    ],
    ids=str,
)
def test_a_token_lasts_from_a_minute_to_a_day(
    world: World, api: Api, token_secret: bytes, body: dict[str, Any], status: int
) -> None:
    world.add_user("alice")

    assert api.post("/v1/users/alice/tokens", body).status == status


def test_nobody_unknown_or_of_another_tenant_gets_a_token(world: World, api: Api, token_secret: bytes) -> None:
    world.add_tenant()
    world.add_user("theirs", tenant=OTHER_TENANT)

    for user in ("nobody", "theirs"):
        assert_problem(api.post(f"/v1/users/{user}/tokens"), 404, "not-found")


def test_a_token_opens_every_endpoint_for_people_and_no_other(world: World, token_secret: bytes) -> None:
    token = _token_of(world.add_user("alice"), token_secret)
    arrive(world, "row")
    row_id = str(world.one("SELECT id FROM notifications"))

    answers = {endpoint.route: _call(endpoint, token, row_id=row_id) for endpoint in GUARDED}

    for endpoint in GUARDED:
        assert (answers[endpoint.route] in (200, 204)) == endpoint.is_personal, endpoint.route
        assert endpoint.is_personal or answers[endpoint.route] == 401, endpoint.route
    assert {endpoint.route for endpoint in GUARDED if endpoint.is_personal} == {
        endpoint.route for endpoint in GUARDED if " /v1/inbox" in endpoint.route
    }


def test_a_token_means_its_own_user_whoever_is_named_beside_it(world: World, token_secret: bytes) -> None:
    alice, bob = world.add_user("alice"), world.add_user("bob")
    arrive(world, "for alice")
    arrive(world, "for bob", audience={"kind": "users", "user_ids": ["bob"]})
    browser = Reader(Api(_token_of(alice, token_secret)))
    theirs = world.one("SELECT id FROM notifications WHERE user_id = %(bob)s", bob=bob)

    assert Reader(browser.api, "bob").titles() == ["for alice"]
    assert Reader(browser.api, "nobody").unread() == 1
    assert browser.change(str(theirs), read=True).status == 404
    assert browser.hide(str(theirs)).status == 404
    browser.api.put("/v1/inbox/preferences/email", {"enabled": False}, query="user_id=bob")
    assert [row["user_id"] for row in world.rows("SELECT user_id FROM preferences")] == [alice]


def test_what_was_not_signed_here_or_has_run_out_is_one_and_the_same_401(
    world: World, api: Api, browser_of: Callable[[str], Reader], token_secret: bytes
) -> None:
    user_id = world.add_user("alice")
    announce(world, "for everyone")
    good = browser_of("alice").api.key
    content, _, signature = good.rpartition(".")
    forgeries = {
        "another installation's": _token_of(user_id, b"the secret of another installation"),
        "run out": _token_of(user_id, token_secret, lasts=timedelta(seconds=-1)),
        "running out now": _token_of(user_id, token_secret, lasts=timedelta(0)),
        "unsigned": f"{content}.",
        "of no algorithm": _forged(good, token_secret, header={"alg": "none", "typ": "JWT"}),
        "of no algorithm, unsigned": _forged(good, b"", header={"alg": "none", "typ": "JWT"}).rpartition(".")[0] + ".",
        "of another algorithm": _forged(good, token_secret, header={"alg": "HS512", "typ": "JWT"}),
        "for something else": _forged(good, token_secret, aud="tocsin-admin"),
        "for another user, with the old signature": _forged(good, b"", sub=str(UUID(int=7))).rpartition(".")[0] + f".{signature}",
        "longer-lived, with the old signature": _forged(good, b"", exp=9_999_999_999).rpartition(".")[0] + f".{signature}",
        "empty": "..",
        "a word": "a.b.c",
        "far too long": f"{good}{'A' * 5_000}",
    }
    reference = api.get("/v1/inbox", key="nonsense", request_id="r")
    assert "POST /v1/users/{id}/tokens" in reference.json["detail"]

    for name, forged in forgeries.items():
        for method, path, body in (
            ("GET", "/v1/inbox", None),
            ("GET", "/v1/inbox/live", None),
            ("POST", "/v1/inbox/read-all", {}),
            ("PUT", "/v1/inbox/preferences/email", {}),
        ):
            answer = Api(forged).call(method, path, body, request_id="r")
            assert_problem(answer, 401, "unauthorized")
            assert (answer.text, answer.headers) == (reference.text, reference.headers), name
    assert (world.count("preferences"), world.count("notification_reads")) == (0, 0)


def test_no_token_with_one_character_changed_opens_anything(world: World, browser_of: Callable[[str], Reader]) -> None:
    world.add_user("alice")
    good = browser_of("alice").api.key

    for place, character in enumerate(good):
        changed = chr(ord(character) ^ 1)
        answer = Api(good[:place] + changed + good[place + 1 :]).get("/v1/inbox/unread-count")
        assert answer.status == 401, (place, character, changed)
    assert Api(good).get("/v1/inbox/unread-count").status == 200


def test_a_token_of_one_tenant_for_a_user_of_another_sees_nobodys_rows_and_writes_nothing(
    world: World, token_secret: bytes
) -> None:
    world.add_tenant()
    theirs = world.add_user("bob", tenant=OTHER_TENANT)
    world.accept(
        tenant=OTHER_TENANT,
        audience={"kind": "users", "user_ids": ["bob"]},
        channels=["in_app"],
        payload={"title": "theirs"},
    )
    announce(world, "ours")
    world.dispatch()
    row_id = str(world.one("SELECT id FROM notifications WHERE title = 'theirs'"))
    shared_id = str(world.one("SELECT id FROM notifications WHERE title = 'ours'"))
    crossed = Reader(Api(_token_of(theirs, token_secret, tenant=TENANT)))

    assert_problem(crossed.get(), 401, "unauthorized")
    assert_problem(crossed.change(row_id, read=True), 401, "unauthorized")
    assert_problem(crossed.change(shared_id, read=True), 401, "unauthorized")
    assert_problem(crossed.read_all(), 401, "unauthorized")
    assert_problem(crossed.api.put("/v1/inbox/preferences/email", {}), 401, "unauthorized")
    assert_problem(crossed.api.put("/v1/inbox/threads/order/1", {"subscribed": True}), 401, "unauthorized")
    assert [world.count(table) for table in ("notification_reads", "preferences", "notification_threads")] == [0, 0, 0]


def test_a_user_who_was_erased_writes_nothing_with_the_token_that_is_left(
    world: World, browser_of: Callable[[str], Reader]
) -> None:
    world.add_user("alice")
    announce(world, "for everyone")
    browser = browser_of("alice")
    arrive(world, "her own")
    (own, shared) = (row["id"] for row in browser.rows())
    world.admin.execute("DELETE FROM users")

    assert "her own" not in browser.titles()  # a door that knew her learns of it when its memory ends
    standing.forget()
    assert_problem(browser.get(), 401, "unauthorized")
    assert_problem(browser.change(own, read=True), 401, "unauthorized")
    assert_problem(browser.change(shared, read=True), 401, "unauthorized")
    assert_problem(browser.hide(shared), 401, "unauthorized")
    assert_problem(browser.read_all(), 401, "unauthorized")
    assert_problem(browser.api.put("/v1/inbox/preferences/email", {"enabled": False}), 401, "unauthorized")
    assert_problem(browser.api.put("/v1/inbox/threads/order/1", {"subscribed": True}), 401, "unauthorized")


def test_while_the_secret_cannot_be_read_tokens_are_neither_made_nor_checked_and_keys_still_work(
    world: World, api: Api, token_secret: bytes, monkeypatch: pytest.MonkeyPatch, ears: Callable[[], str]
) -> None:
    token = _token_of(world.add_user("alice"), token_secret)
    monkeypatch.setenv("USER_TOKEN_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:gone-AbCdEf")
    settings.settings.cache_clear()
    secrets.forget()

    for answer in (Api(token).get("/v1/inbox"), Api(token).get("/v1/inbox/live"), api.post("/v1/users/alice/tokens")):
        assert_problem(answer, 503, "unavailable")
        assert int(answer.headers["Retry-After"]) >= 1
    assert api.get("/v1/inbox", query="user_id=alice").status == 200
    assert "the token secret cannot be read" in ears()


def test_the_secret_is_asked_for_again_once_it_can_be_read(
    world: World, api: Api, token_secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = _token_of(world.add_user("alice"), token_secret)
    arn = settings.settings().user_token_secret_arn
    with monkeypatch.context() as patch:
        patch.setenv("USER_TOKEN_SECRET_ARN", f"{arn}-gone")
        settings.settings.cache_clear()
        secrets.forget()
        assert Api(token).get("/v1/inbox").status == 503
    settings.settings.cache_clear()

    assert Api(token).get("/v1/inbox").status == 200


def test_a_token_is_never_logged_whatever_happens_to_its_request(
    breakable_world: World, token_secret: bytes, ears: Callable[[], str]
) -> None:
    world = breakable_world
    user_id = world.add_user("alice")
    token = Api(world.add_key("manage")).post("/v1/users/alice/tokens").json["token"]
    browser = Reader(Api(token))
    announce(world, "row")
    world.admin.execute("ALTER TABLE preferences ADD CONSTRAINT unforeseen CHECK (false)")

    answers = [
        browser.get(),
        browser.api.put("/v1/inbox/preferences/email", {}),
        browser.api.get("/v1/notifications"),
        Api(token[:-3]).get("/v1/inbox"),
        Api(_token_of(user_id, b"another")).get("/v1/inbox"),
    ]
    world.admin.execute("DELETE FROM users")
    answers.append(browser.read_all())

    heard = ears()
    assert [answer.status for answer in answers] == [200, 500, 401, 401, 401, 401]
    assert "request failed" in heard
    for part in token.split(".")[1:]:
        assert part[:-3] not in heard
        assert not [answer for answer in answers if part[:-3] in answer.text]
