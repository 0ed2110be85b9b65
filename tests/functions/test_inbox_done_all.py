"""POST /v1/inbox/done-all: everything out of the list, or what is read of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.inbox import mark

HOUR = timedelta(hours=1)


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _furnish(world: World, alice: Reader) -> None:
    """Of her own and for everyone: one read, one unread, one put off."""
    for make, whose in ((arrive, "own"), (announce, "everyone's")):
        for title in ("read", "unread", "put off"):
            make(world, f"{whose} {title}")
        alice.change(alice.row(f"{whose} read")["id"], read=True)
        alice.change(alice.row(f"{whose} put off")["id"], snoozed_until=(datetime.now(UTC) + HOUR).isoformat())


def test_all_that_is_in_the_list_is_done_and_read(world: World, alice: Reader) -> None:
    _furnish(world, alice)
    read_at = alice.row("own read")["read_at"]

    assert alice.finish_all().json == {"marked": 4, "more": False}

    assert (alice.titles(), alice.unread(), len(alice.titles("snoozed"))) == ([], 0, 2)
    done = {row["title"]: row for row in alice.rows("done")}
    assert set(done) == {"own read", "own unread", "everyone's read", "everyone's unread"}
    assert all(row["done_at"] and row["read_at"] and not row["unread"] for row in done.values())
    assert done["own read"]["read_at"] == read_at
    assert done["everyone's read"]["read_at"] < done["everyone's read"]["done_at"]
    assert alice.finish_all().json == {"marked": 0, "more": False}


def test_only_what_is_read_if_that_is_asked(world: World, alice: Reader) -> None:
    _furnish(world, alice)

    assert alice.finish_all(status="read").json == {"marked": 2, "more": False}

    assert alice.titles() == ["everyone's unread", "own unread"]
    assert (alice.titles("done"), alice.unread()) == (["everyone's read", "own read"], 2)


@pytest.mark.parametrize("make", [arrive, announce])
def test_it_stops_at_what_the_reader_had_seen(world: World, alice: Reader, make: Any) -> None:
    for title in ("1", "2", "3"):
        make(world, title)

    answer = alice.finish_all(before=alice.row("2")["last_event_at"])

    assert (answer.json["marked"], alice.titles(), alice.titles("done")) == (2, ["3"], ["2", "1"])


def test_saved_rows_are_done_and_stay_saved_and_hidden_ones_stay_hidden(world: World, alice: Reader) -> None:
    for make in (arrive, announce):
        make(world, "saved")
        make(world, "hidden")
    for row in alice.rows():
        if row["title"] == "hidden":
            alice.hide(row["id"])
        else:
            alice.change(row["id"], saved=True)

    assert alice.finish_all().json["marked"] == 2

    assert (alice.titles("saved"), alice.titles("done")) == (["saved", "saved"], ["saved", "saved"])


def test_a_row_that_came_back_is_done_where_it_belongs(world: World, alice: Reader) -> None:
    """As a single one that is marked as done: by its last event, not by when it came back."""
    arrive(world, "put off")
    arrive(world, "later")
    world.admin.execute("UPDATE notifications SET shown_at = tocsin_now() WHERE title = 'put off'")
    assert alice.titles() == ["put off", "later"]

    alice.finish_all()

    assert alice.titles("done") == ["later", "put off"]


def test_it_works_in_batches_and_says_when_there_is_more(world: World, alice: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mark, "READ_BATCH", 2)
    monkeypatch.setattr(mark, "MOST_READ", 4)
    for number in range(3):
        arrive(world, f"own {number}")
        announce(world, f"everyone's {number}")

    answers = [alice.finish_all().json for _ in range(3)]

    assert answers == [{"marked": 5, "more": True}, {"marked": 1, "more": False}, {"marked": 0, "more": False}]
    assert len(alice.titles("done")) == 6


def test_what_one_finishes_is_nobody_elses_business(world: World, api: Api, alice: Reader) -> None:
    world.add_tenant()
    world.add_user("bob")
    world.add_user("alice", tenant=OTHER_TENANT)
    theirs = Reader(Api(world.add_key(*SCOPES, tenant=OTHER_TENANT)), "alice")
    announce(world, "everyone's")
    announce(world, "theirs", tenant=OTHER_TENANT)

    alice.finish_all()

    assert (alice.titles(), Reader(api, "bob").titles(), theirs.titles()) == ([], ["everyone's"], ["theirs"])


@pytest.mark.parametrize("body", [{"status": "unread"}, {"status": None}, {"before": "yesterday"}, {"kind": "x"}, []], ids=str)
def test_anything_else_is_422(world: World, alice: Reader, body: Any) -> None:
    arrive(world, "row")

    assert_problem(alice.api.post("/v1/inbox/done-all", body, query={"user_id": "alice"}), 422, "invalid-request")

    assert alice.titles() == ["row"]
