"""What every answer tells caches and browsers: keep nothing, guess nothing, unless the operation has its own reason."""

import pytest

from tests.functions.doors import Api
from tests.functions.operations import EVERY, Stage
from tests.functions.test_access import FILES
from tests.functions.test_problems import assert_problem
from tests.world import World
from tocsin.http.door import Endpoint

# With an ETag: a browser may keep its own person's answer, and asks each time whether it still holds.
REVALIDATED = {"GET /v1/inbox", "GET /v1/inbox/unread-count", "GET /v1/inbox/live", "GET /v1/kv/{collection}/{key}"}


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_an_answer_is_not_kept_and_not_guessed_at(stage: Stage, endpoint: Endpoint) -> None:
    answer = stage.ask(endpoint).send(stage.api)

    wanted = "private, no-cache" if endpoint.route in REVALIDATED else "no-store"
    assert answer.status in (endpoint.success, 201, 303)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if endpoint.route not in FILES:
        assert answer.headers["Cache-Control"] == wanted


@pytest.mark.parametrize("endpoint", [one for one in EVERY if one.scope], ids=lambda endpoint: endpoint.route)
def test_neither_is_a_problem(stage: Stage, endpoint: Endpoint) -> None:
    answer = stage.ask(endpoint).send(stage.api, key="")

    assert answer.status == 401
    assert (answer.headers["Cache-Control"], answer.headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


def test_an_answer_without_a_body_has_no_content_type(stage: Stage) -> None:
    token = stage.device()

    answer = stage.api.delete(f"/v1/users/alice/devices/{token}")

    assert (answer.status, answer.text) == (204, "")
    assert "Content-Type" not in answer.headers


@pytest.mark.parametrize("path", ["/health", "/ready", "/v1/openapi.json"])
def test_a_monitor_may_ask_with_head(world: World, path: str) -> None:
    got, head = Api().get(path), Api().call("HEAD", path)

    assert (head.status, head.text) == (200, "")
    assert head.headers["Content-Type"] == got.headers["Content-Type"]


def test_a_slash_too_many_is_404_and_says_so(world: World) -> None:
    problem = assert_problem(Api().get("/v1/intents/"), 404, "not-found")

    assert "slash" in problem["detail"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/inbox/unread-count", "GET"),
        ("DELETE", "/v1/inbox/unread-count", "GET"),
        ("PATCH", "/v1/inbox/live", "GET"),
        ("DELETE", "/v1/inbox/read-all", "POST"),
        ("PATCH", "/v1/inbox/preferences", "GET"),
    ],
)
@pytest.mark.parametrize("body", [None, "{", '{"read": true}'])
def test_a_name_of_the_inbox_is_no_row_whichever_door_has_it(
    world: World, api: Api, method: str, path: str, allowed: str, body: str | None
) -> None:
    world.add_user()

    answer = api.call(method, path, body, query="user_id=alice")

    assert_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == allowed


def test_a_row_that_is_not_there_is_still_404(world: World, api: Api) -> None:
    world.add_user()

    for row_id in ("nonsense", "00000000-0000-7000-8000-00000000000f"):
        assert_problem(api.delete(f"/v1/inbox/{row_id}", query="user_id=alice"), 404, "not-found")
