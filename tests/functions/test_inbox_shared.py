"""Rows for everyone: each person has a state of their own, and something new is new to all of them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.world import World

HOUR = timedelta(hours=1)
THREAD = {"kind": "status", "id": "outage"}
VIEWS = ["all", "unread", "read", "done", "saved", "snoozed"]


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


@pytest.fixture
def bob(world: World, api: Api) -> Reader:
    world.add_user("bob")
    return Reader(api, "bob")


def _soon() -> str:
    return (datetime.now(UTC) + HOUR).isoformat()


def _shown(reader: Reader) -> dict[str, list[dict[str, Any]]]:
    return {view: reader.rows(view) for view in VIEWS}


def _views(reader: Reader) -> list[str]:
    return [view for view in VIEWS if reader.rows(view)]


VERBS: dict[str, tuple[Callable[[Reader, str], object], list[str], int]] = {
    "read": (lambda reader, row: reader.change(row, read=True), ["all", "read"], 0),
    "done": (lambda reader, row: reader.change(row, done=True), ["done"], 0),
    "saved": (lambda reader, row: reader.change(row, saved=True), ["all", "unread", "saved"], 1),
    "put off": (lambda reader, row: reader.change(row, snoozed_until=_soon()), ["snoozed"], 0),
    "hidden": (lambda reader, row: reader.hide(row), [], 0),
    "read with all": (lambda reader, row: reader.read_all(), ["all", "read"], 0),
    "done with all": (lambda reader, row: reader.finish_all(), ["done"], 0),
    "seen": (lambda reader, row: reader.see(), ["all", "unread"], 1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_one_does_with_a_row_for_everyone_is_nobody_elses_business(
    world: World, alice: Reader, bob: Reader, verb: str
) -> None:
    do, views, unread = VERBS[verb]
    announce(world, "outage")
    row = bob.row("outage")
    before = _shown(bob)

    do(alice, row["id"])

    assert (_views(alice), alice.unread()) == (views, unread)
    assert (_shown(bob), bob.unread()) == (before, 1)
    assert row["for_everyone"] is True


@pytest.mark.parametrize("verb", VERBS)
def test_something_new_in_a_row_for_everyone_is_news_to_everyone(world: World, alice: Reader, bob: Reader, verb: str) -> None:
    do, _, _ = VERBS[verb]
    announce(world, "outage", thread=THREAD)
    announce(world, "other news")
    alice.change(alice.row("other news")["id"], read=True)
    row_id = alice.row("outage")["id"]
    do(alice, row_id)
    do(bob, row_id)

    announce(world, "over", thread=THREAD)

    for reader in (alice, bob):
        assert reader.titles()[0] == "over"
        assert "over" in reader.titles("unread")
        row = reader.row("over")
        assert (row["id"], row["event_count"], row["unread"], row["read_at"], row["done_at"], row["snoozed_until"]) == (
            row_id, 2, True, None, None, None,
        )  # fmt: skip
        assert (row["saved_at"] is not None) == (verb == "saved")
    assert alice.unread() == 1


def test_what_is_new_and_read_again_is_read_again(world: World, alice: Reader) -> None:
    announce(world, "outage", thread=THREAD)
    row_id = alice.row("outage")["id"]
    first = alice.change(row_id, read=True).json["read_at"]
    announce(world, "over", thread=THREAD)

    again = alice.change(row_id, read=True).json

    assert (again["unread"], again["read_at"] > first, alice.unread()) == (False, True, 0)


def test_read_says_when_this_person_read_it(world: World, alice: Reader, bob: Reader) -> None:
    announce(world, "outage")
    row_id = alice.row("outage")["id"]

    first = alice.change(row_id, read=True).json["read_at"]
    second = bob.change(row_id, read=True).json["read_at"]

    assert first < second
    assert (alice.rows()[0]["read_at"], bob.rows()[0]["read_at"]) == (first, second)


def test_a_row_put_off_by_one_comes_back_on_top_of_their_list_and_stays_where_it_was_in_the_others(
    world: World, alice: Reader, bob: Reader, later: Callable[[timedelta], None]
) -> None:
    announce(world, "put off")
    announce(world, "later news")
    arrive(world, "alice's own")
    alice.change(alice.row("put off")["id"], read=True)
    alice.change(alice.row("put off")["id"], snoozed_until=_soon())
    assert (alice.titles(), alice.titles("snoozed"), alice.unread()) == (["alice's own", "later news"], ["put off"], 2)

    later(HOUR + timedelta(minutes=1))

    assert (alice.titles(), alice.unread()) == (["put off", "alice's own", "later news"], 3)
    assert bob.titles() == ["later news", "put off"]
    assert (alice.titles("snoozed"), alice.row("put off")["snoozed_until"]) == ([], None)


def test_own_rows_and_those_for_everyone_stand_in_one_order(world: World, alice: Reader) -> None:
    arrive(world, "1")
    announce(world, "2")
    arrive(world, "3")
    announce(world, "4")

    assert alice.titles() == ["4", "3", "2", "1"]


def test_who_joins_later_finds_it_unread(world: World, api: Api, alice: Reader) -> None:
    announce(world, "outage")
    alice.read_all()
    world.add_user("carol")

    carol = Reader(api, "carol")

    assert (carol.titles("unread"), carol.unread()) == (["outage"], 1)


def test_a_person_who_is_erased_takes_their_state_along_and_nothing_else(world: World, alice: Reader, bob: Reader) -> None:
    announce(world, "outage")
    row_id = alice.row("outage")["id"]
    for reader in (alice, bob):
        reader.change(row_id, read=True)

    world.admin.execute("DELETE FROM users WHERE external_id = 'alice'")

    assert world.count("notification_reads") == 1
    assert (bob.unread(), bob.titles("read")) == (0, ["outage"])
