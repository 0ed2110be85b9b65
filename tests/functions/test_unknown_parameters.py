"""A query parameter that an operation does not know is 422 and says what was perhaps meant: no filter is passed over."""

from dataclasses import replace

import pytest

from tests.functions.operations import EVERY, Stage
from tests.functions.test_access import FILES, READER_PAGES
from tests.functions.test_problems import assert_problem
from tocsin.http.door import Endpoint

STRICT = [endpoint for endpoint in EVERY if not endpoint.is_link]
LONG = 3  # letters: of a shorter name nobody could say which was meant


def test_only_links_take_whatever_is_hung_onto_them() -> None:
    assert {one.route for one in EVERY if one.is_link} == {*FILES, "GET /errors", *READER_PAGES}


@pytest.mark.parametrize("endpoint", STRICT, ids=lambda endpoint: endpoint.route)
def test_a_parameter_nobody_knows_is_422_and_a_misspelt_one_says_which_was_meant(stage: Stage, endpoint: Endpoint) -> None:
    ask = stage.ask(endpoint)

    problem = assert_problem(replace(ask, raw_query="unheard-of=1").send(stage.api), 422, "invalid-request")
    assert [error["pointer"] for error in problem["errors"]] == ["?unheard-of"]

    for name in (one["name"] for one in endpoint.parameters if one["in"] == "query" and len(one["name"]) > LONG):
        others = {one: value for one, value in ask.query.items() if one != name}
        misspelt = replace(ask, query=others, raw_query=f"{name[:-1]}=1")
        problem = assert_problem(misspelt.send(stage.api), 422, "invalid-request")
        assert f"did you mean `{name}`?" in problem["errors"][0]["message"]


def test_a_misspelt_filter_of_a_users_own_token_is_422_too(stage: Stage) -> None:
    token = stage.api.post("/v1/users/alice/tokens").json["token"]

    assert_problem(stage.api.get("/v1/inbox", query="statsu=unread", key=token), 422, "invalid-request")


def test_a_filter_said_twice_is_422(stage: Stage) -> None:
    assert_problem(stage.api.get("/v1/notifications", query="channel=email&channel=sms"), 422, "invalid-request")


def test_a_channel_that_is_none_is_no_empty_list_of_suppressions(stage: Stage) -> None:
    problem = assert_problem(stage.api.get("/v1/suppressions", query="channel=pigeon"), 422, "invalid-request")

    assert problem["errors"][0]["pointer"] == "?channel"
