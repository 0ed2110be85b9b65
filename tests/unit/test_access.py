"""Without a well-formed key nobody learns anything, and the database is not even asked."""

from collections.abc import Iterator

import pytest

from tests.unit.http_events import Answer, an_event, ask
from tocsin.access import authenticate, key_format
from tocsin.api import about
from tocsin.foundation import database, settings
from tocsin.foundation.ids import uuid7
from tocsin.http.door import Endpoint, Response, door

NOBODY_LISTENS = "postgresql://tocsin_app@127.0.0.1:1/tocsin?connect_timeout=1"


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A database that is not there: whoever asks it gets a 503, so that any other answer proves that nobody asked."""
    monkeypatch.setenv("TOCSIN_DATABASE_URL", NOBODY_LISTENS)
    settings.settings.cache_clear()
    authenticate.forget()
    database.disconnect()
    yield
    settings.settings.cache_clear()


def asked(authorization: str | None) -> Answer:
    handler = door([Endpoint("GET /x", "read", lambda call: Response(200), "x")])
    headers = {} if authorization is None else {"Authorization": authorization}
    return ask(handler, an_event("GET /x", headers=headers))


def a_key() -> str:
    return key_format.mint(uuid7(), "live").plain


def test_a_well_formed_key_is_looked_up() -> None:
    got = asked(f"Bearer {a_key()}")

    assert got.is_problem
    assert got.status == 503
    assert "Retry-After" in got.headers


REFUSED = {
    "nothing": None,
    "an empty header": "",
    "a scheme alone": "Bearer",
    "a scheme and a space": "Bearer ",
    "garbage": "Bearer x",
    "another scheme": "Basic dXNlcjpwYXNz",
    "a key without a scheme": a_key(),
    "a key under another scheme": f"Basic {a_key()}",
    "a key cut short": f"Bearer {a_key()[:-1]}",
    "a key with more": f"Bearer {a_key()}x",
    "a key relabelled": f"Bearer {a_key().replace('live', 'test')}",
    "two keys": f"Bearer {a_key()} {a_key()}",
    "two headers": f"Bearer {a_key()},Bearer {a_key()}",
    "an endless key": "Bearer " + "x" * 100_000,
    "letters of another script": "Bearer ключ",
    "an injection": "Bearer ' OR 1=1 --",
}


@pytest.mark.parametrize("authorization", REFUSED.values(), ids=REFUSED.keys())
def test_every_other_presentation_gets_one_and_the_same_401_without_a_query(authorization: str | None) -> None:
    got = asked(authorization)

    assert got.is_problem
    assert got.status == 401
    assert got.headers["WWW-Authenticate"] == "Bearer"
    assert got.raw == asked(None).raw


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(scheme: str) -> None:
    assert asked(f"{scheme}  {a_key()} ").status == 503


def test_health_is_answered_without_a_database() -> None:
    got = ask(door(about.ENDPOINTS), an_event("GET /health"))

    assert (got.status, got.body) == (200, {"status": "ok"})


def test_readiness_is_not() -> None:
    got = ask(door(about.ENDPOINTS), an_event("GET /ready"))

    assert got.is_problem
    assert got.status == 503


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/intents", "POST"),
        ("GET", "/v1/intents/batch", "POST"),
        ("POST", "/v1/users/alice", "DELETE, GET, PATCH, PUT"),
        ("PATCH", "/v1/users/alice/devices/tok", "DELETE, PUT"),
        ("DELETE", "/v1/api-keys", "GET, POST"),
        ("GET", "/v1/notifications/1/cancel", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("HEAD", "/v1/users", "GET"),
        ("GET", "/v1/inbox/0198f000-0000-7000-8000-000000000001", "DELETE, PATCH"),
        ("PUT", "/v1/inbox", "GET"),
        ("PUT", "/v1/inbox/unread-count", "GET"),
        ("PATCH", "/v1/inbox/unread-count", "GET"),
        ("GET", "/v1/inbox/read-all", "POST"),
        ("DELETE", "/v1/inbox/live", "GET"),
        ("POST", "/v1/inbox/preferences", "GET"),
        ("POST", "/v1/inbox/preferences/email", "DELETE, GET, PUT"),
        ("POST", "/v1/inbox/threads/live/read-all", "DELETE, GET, PUT"),
        ("PUT", "/v1/templates/preview/preview", "POST"),
        ("POST", "/inbox/demo", "GET"),
    ],
)
def test_a_known_path_with_another_method_is_a_405_that_says_which_ones_it_takes(method: str, path: str, allow: str) -> None:
    got = ask(door([], otherwise=about.otherwise), an_event(f"{method} /", path=path, routeKey="$default"))

    assert (got.status, got.headers["Allow"]) == (405, allow)
    assert method == "HEAD" or got.is_problem


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/v1",
        "/v1/nothing",
        "/v1/intents/",
        "/v1/users/a/b/c/d",
        "/v1/users/",
        "//health",
        "/v1/openapi-json",
        "/health\n",
    ],
)
def test_an_unknown_path_is_a_404(path: str) -> None:
    got = ask(door([], otherwise=about.otherwise), an_event("GET /", rawPath=path, routeKey="$default"))

    assert got.is_problem
    assert got.status == 404


@pytest.mark.parametrize(
    "path", ["/v1/Intents", "/intents", "/v2/intents", "/api/v1/intents", "/v1/intent", "/V1/INTENTS", "/v1/itnents"]
)
def test_a_path_that_is_nearly_one_is_told_which(path: str) -> None:
    got = ask(door([], otherwise=about.otherwise), an_event("POST /", rawPath=path, routeKey="$default"))

    assert (got.status, got.body["detail"]) == (404, "There is no such resource; did you mean /v1/intents?")


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/user/alice", "/v1/users/{id}"),
        ("/v1/notification/0198f000-0000-7000-8000-000000000001", "/v1/notifications/{id}"),
        ("/healthz", "/health"),
        ("/openapi.json", "/v1/openapi.json"),
    ],
)
def test_a_path_with_variables_is_told_by_what_is_spelt_out(path: str, meant: str) -> None:
    got = ask(door([], otherwise=about.otherwise), an_event("GET /", rawPath=path, routeKey="$default"))

    assert got.body["detail"] == f"There is no such resource; did you mean {meant}?"


@pytest.mark.parametrize("path", ["/", "/v1", "/docs", "/v1/zebra/0198f000-0000-7000-8000-000000000001", "/wp-login.php"])
def test_a_path_that_is_like_none_is_told_where_the_list_is(path: str) -> None:
    got = ask(door([], otherwise=about.otherwise), an_event("GET /", rawPath=path, routeKey="$default"))

    assert got.body["detail"] == "There is no such resource; GET /v1/openapi.json lists what there is."
