"""OPTIONS that API Gateway hands on to the catch-all: answered, so that a browser's preflight does not fail."""

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem


def test_a_preflight_for_a_path_that_exists_is_204_and_names_its_methods() -> None:
    answer = Api().call("OPTIONS", "/v1/inbox/threads/order/1", headers={"origin": "https://shop.example"})

    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["Allow"] == "DELETE, GET, PUT"


def test_a_preflight_for_a_path_that_does_not_exist_is_404() -> None:
    assert_problem(Api().call("OPTIONS", "/v1/nowhere"), 404, "not-found")


def test_a_preflight_names_the_methods_of_the_path_that_fits_most_exactly() -> None:
    assert Api().call("OPTIONS", "/v1/inbox/live").headers["Allow"] == "GET"
