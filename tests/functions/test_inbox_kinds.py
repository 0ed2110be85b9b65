"""GET /v1/inbox?kind=: up to ten kinds, each by its name or by how it begins."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.events import TYPE, fan_out_all, happen, route
from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import World

KINDS = ["order.shipped", "order.paid", "orders", "a_b", "a%b", "axb", "news"]
FOUND = {
    "news": ["news"],
    "order.paid,news": ["order.paid", "news"],
    "order.*": ["order.shipped", "order.paid"],
    "order*": ["order.shipped", "order.paid", "orders"],
    "order.*,news": ["order.shipped", "order.paid", "news"],
    "a_*": ["a_b"],
    "a_b": ["a_b"],
    "a%*": ["a%b"],
    "a\\*": [],
    "*": KINDS,
    "": KINDS,
    "ORDER.*": [],
    "order": [],
    ",".join("abcdefghi") + ",news": ["news"],
}


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def test_rows_are_shown_by_kind_or_by_how_it_begins(world: World, alice: Reader) -> None:
    for number, name in enumerate(KINDS):
        (announce if number % 2 else arrive)(world, name, type=name)

    assert {kind: alice.titles(kind=kind)[::-1] for kind in FOUND} == FOUND


def test_put_off_and_saved_rows_are_shown_by_kind_too(world: World, alice: Reader) -> None:
    for make in (arrive, announce):
        for name in ("order.paid", "news"):
            make(world, name, type=name)
    for row in alice.rows():
        alice.change(row["id"], saved=True, snoozed_until=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    assert [alice.titles(view, kind="order.*") for view in ("saved", "snoozed")] == [["order.paid"] * 2] * 2


def test_the_type_of_an_event_is_its_kind(world: World, alice: Reader) -> None:
    route(world)
    happen(world, mentions=["alice"])
    fan_out_all(world)

    assert [row["kind"] for row in alice.rows(kind=f"{TYPE[:3]}*")] == [TYPE]


@pytest.mark.parametrize("kind", [",".join("abcdefghijk"), ",", "a,,b", "a,", ",a"])
def test_too_many_kinds_or_an_empty_one_are_422(world: World, alice: Reader, kind: str) -> None:
    assert_problem(alice.get(kind=kind), 422, "invalid-request")
