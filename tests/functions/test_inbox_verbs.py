"""What a person does with a row: read, done, saved, put off, hidden; and everything read at once."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from tests.crash.waiting import wait_until
from tests.functions.doors import Answer, Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.inbox import mark

HOUR = timedelta(hours=1)
VIEWS = ["all", "unread", "read", "done", "saved", "snoozed"]


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _at(more: timedelta = HOUR) -> str:
    return (datetime.now(UTC) + more).isoformat().replace("+00:00", "Z")


def _views_of(reader: Reader, title: str = "row") -> list[str]:
    return [view for view in VIEWS if title in reader.titles(view)]


def test_a_row_that_is_read_says_since_when_and_marking_it_again_changes_nothing(world: World, alice: Reader) -> None:
    arrive(world, "row")
    row = alice.row("row")

    first = alice.change(row["id"], read=True)
    again = alice.change(row["id"], read=True)

    assert first.status == 200
    assert (first.json["unread"], first.json["read_at"] is not None) == (False, True)
    assert again.json == first.json
    assert first.json["updated_at"] == first.json["read_at"] > row["updated_at"]
    assert first.json | {"unread": True, "read_at": None, "updated_at": row["updated_at"]} == row
    assert (alice.rows(), alice.unread()) == ([first.json], 0)


def test_what_was_read_can_be_unread_again(world: World, alice: Reader) -> None:
    arrive(world, "row")
    row = alice.row("row")
    alice.change(row["id"], read=True)

    answer = alice.change(row["id"], read=False)

    assert (answer.json | {"updated_at": row["updated_at"]}, alice.unread()) == (row, 1)


# what is changed, one after the other; and where the row lies then
STEPS: list[tuple[list[dict[str, Any]], list[str]]] = [
    ([{"read": True}], ["all", "read"]),
    ([{"read": False}], ["all", "unread"]),
    ([{"done": True}], ["done"]),
    ([{"done": True}, {"done": False}], ["all", "read"]),
    ([{"done": True, "read": False}, {"done": False}], ["all", "unread"]),
    ([{"saved": True}], ["all", "unread", "saved"]),
    ([{"saved": True}, {"saved": False}], ["all", "unread"]),
    ([{"saved": True, "done": True}], ["done", "saved"]),
    ([{"saved": True, "read": True}], ["all", "read", "saved"]),
    ([{"snoozed_until": "soon"}], ["snoozed"]),
    ([{"read": True}, {"snoozed_until": "soon"}], ["snoozed"]),
    ([{"done": True}, {"snoozed_until": "soon"}], ["snoozed"]),
    ([{"saved": True, "snoozed_until": "soon"}], ["saved", "snoozed"]),
    ([{"snoozed_until": "soon"}, {"snoozed_until": None}], ["all", "unread"]),
    ([{"snoozed_until": "soon", "read": True}, {"snoozed_until": None}], ["all", "read"]),
    ([{"snoozed_until": "soon"}, {"done": True}], ["done"]),
    ([{"snoozed_until": "soon"}, {"read": True}], ["snoozed"]),
    ([{"snoozed_until": None}], ["all", "unread"]),
]


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_after_every_combination_a_row_lies_where_it_should(world: World, alice: Reader, make: Callable[..., None]) -> None:
    for n, (changes, _) in enumerate(STEPS):
        make(world, f"row {n}")
        row_id = alice.row(f"row {n}")["id"]
        for change in changes:
            asked = change | ({"snoozed_until": _at()} if change.get("snoozed_until") else {})
            assert alice.change(row_id, **asked).status == 200

    views = {view: alice.titles(view) for view in VIEWS}
    for n, (changes, wanted) in enumerate(STEPS):
        assert [view for view in VIEWS if f"row {n}" in views[view]] == wanted, changes


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_whatever_is_changed_a_row_lies_in_a_view_and_looks_as_it_was_answered(
    world: World, alice: Reader, make: Callable[..., None]
) -> None:
    answers: dict[str, tuple[dict[str, Any], Answer]] = {}
    for n, (read, done, snooze) in enumerate(product([None, True, False], [None, True, False], ["leave", "set", "clear"])):
        given: dict[str, Any] = {"read": read, "done": done, "saved": True}
        change = {name: value for name, value in given.items() if value is not None}
        if snooze != "leave":
            change["snoozed_until"] = _at() if snooze == "set" else None
        make(world, f"row {n}")
        answers[f"row {n}"] = change, alice.change(alice.row(f"row {n}")["id"], **change)

    views = {view: {row["title"]: row for row in alice.rows(view)} for view in VIEWS if view != "saved"}
    for title, (change, answer) in answers.items():
        found = [rows[title] for rows in views.values() if title in rows]
        assert found, change
        assert answer.status == 422 or all(row == answer.json for row in found), change
        assert (title in views["snoozed"]) == (found[0]["snoozed_until"] is not None), change
    assert alice.unread() == len(views["unread"])


def test_what_was_put_off_comes_back_at_its_time_on_top_and_unread(
    world: World, alice: Reader, later: Callable[[timedelta], None]
) -> None:
    arrive(world, "put off")
    row = alice.row("put off")
    alice.change(row["id"], read=True)
    until = _at()
    answer = alice.change(row["id"], snoozed_until=until)
    later(timedelta(minutes=30))
    arrive(world, "meanwhile")
    assert (answer.json["snoozed_until"], alice.titles(), alice.unread()) == (until, ["meanwhile"], 1)

    later(timedelta(minutes=31))

    assert (alice.titles(), alice.titles("unread"), alice.unread()) == (
        ["put off", "meanwhile"],
        ["put off", "meanwhile"],
        2,
    )
    assert alice.titles("snoozed") == []
    back = alice.row("put off")
    assert (back["unread"], back["snoozed_until"], back["last_event_at"]) == (True, None, row["last_event_at"])


@pytest.mark.parametrize(
    ("until", "status"),
    [
        (timedelta(minutes=-1), 422),
        (timedelta(minutes=1), 200),
        (timedelta(days=364), 200),
        (timedelta(days=366), 422),
    ],
    ids=["before now", "in a minute", "in 364 days", "in 366 days"],
)
def test_a_row_is_put_off_until_a_time_within_a_year(world: World, alice: Reader, until: timedelta, status: int) -> None:
    arrive(world, "row")

    answer = alice.change(alice.row("row")["id"], snoozed_until=_at(until))

    assert answer.status == status
    if status == 422:
        assert answer.json["errors"] == [{"pointer": "/snoozed_until", "message": "must be in the future, within 365 days"}]
        assert alice.titles() == ["row"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"read": "yes"}, "/read"),
        ({"read": 1}, "/read"),
        ({"done": "false"}, "/done"),
        ({"saved": []}, "/saved"),
        ({"snoozed_until": "tomorrow"}, "/snoozed_until"),
        ({"snoozed_until": "2030-01-01T00:00:00"}, "/snoozed_until"),
        ({"snoozed_until": 7}, "/snoozed_until"),
        ({"read": True, "title": "mine"}, "/title"),
        ({"unread": False}, "/unread"),
        ([], ""),
    ],
    ids=str,
)
def test_a_change_of_another_shape_is_422_and_changes_nothing(world: World, alice: Reader, body: Any, pointer: str) -> None:
    arrive(world, "row")
    row = alice.row("row")

    answer = alice.api.patch(f"/v1/inbox/{row['id']}", body, query={"user_id": "alice"})

    problem = assert_problem(answer, 422, "invalid-request")
    assert pointer in {error["pointer"] for error in problem["errors"]}
    assert alice.rows() == [row]


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_a_hidden_row_is_gone_for_every_verb(world: World, alice: Reader, make: Callable[..., None]) -> None:
    make(world, "row")
    row_id = alice.row("row")["id"]

    answer = alice.hide(row_id)

    assert (answer.status, answer.text) == (204, "")
    assert (_views_of(alice), alice.unread()) == ([], 0)
    assert_problem(alice.hide(row_id), 404, "not-found")
    assert_problem(alice.change(row_id, read=True), 404, "not-found")


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_an_expired_row_is_gone_for_every_verb(
    world: World, alice: Reader, later: Callable[[timedelta], None], make: Callable[..., None]
) -> None:
    make(world, "row", expires_at=_at())
    row_id = alice.row("row")["id"]
    later(HOUR * 2)

    assert_problem(alice.change(row_id, read=True), 404, "not-found")
    assert_problem(alice.hide(row_id), 404, "not-found")
    assert alice.read_all().json == {"marked": 0, "more": False}


def _strangers(world: World, api: Api) -> Iterator[Reader]:
    """Another user of the tenant, the user of the same name in another tenant."""
    world.add_user("bob")
    yield Reader(api, "bob")
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)
    yield Reader(Api(world.add_key(*SCOPES, tenant=OTHER_TENANT)), "alice")


def test_rows_of_another_user_or_tenant_are_404_for_every_verb(world: World, api: Api, alice: Reader) -> None:
    arrive(world, "row")
    row = alice.row("row")
    announce(world, "for all of this tenant")
    shared = alice.row("for all of this tenant")
    same_tenant, other_tenant = _strangers(world, api)

    for stranger in (same_tenant, other_tenant):
        for change in ({"read": True}, {"done": True}, {"saved": True}, {"snoozed_until": _at()}, {"snoozed_until": None}):
            assert_problem(stranger.change(row["id"], **change), 404, "not-found")
        assert_problem(stranger.hide(row["id"]), 404, "not-found")
        assert "row" not in stranger.titles()
    assert_problem(other_tenant.change(shared["id"], read=True), 404, "not-found")
    assert_problem(other_tenant.hide(shared["id"]), 404, "not-found")
    assert other_tenant.rows() == []
    assert (other_tenant.read_all().json["marked"], same_tenant.read_all().json["marked"]) == (0, 1)
    assert alice.rows() == [shared, row]


@pytest.mark.parametrize("row_id", ["x", "7", "00000000-0000-0000-0000-000000000000"])
def test_a_row_nobody_knows_is_404(alice: Reader, row_id: str) -> None:
    assert_problem(alice.change(row_id, read=True), 404, "not-found")
    assert_problem(alice.hide(row_id), 404, "not-found")


def test_everything_is_read_at_once_ones_own_and_everyones(world: World, alice: Reader) -> None:
    for n in range(3):
        arrive(world, f"own {n}")
    announce(world, "everyone's")
    alice.change(alice.row("own 0")["id"], done=True)
    alice.change(alice.row("own 1")["id"], read=True)

    answer = alice.read_all()

    assert (answer.status, answer.json) == (200, {"marked": 2, "more": False})
    assert (alice.unread(), alice.titles("read")) == (0, ["everyone's", "own 2", "own 1"])
    assert alice.read_all().json == {"marked": 0, "more": False}


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_read_all_stops_at_what_the_reader_had_seen(world: World, alice: Reader, make: Callable[..., None]) -> None:
    make(world, "seen")
    seen_until = alice.row("seen")["last_event_at"]
    make(world, "arrived meanwhile")

    answer = alice.read_all(before=seen_until)

    assert answer.json == {"marked": 1, "more": False}
    assert (alice.titles("unread"), alice.titles("read")) == (["arrived meanwhile"], ["seen"])


def test_read_all_leaves_a_thread_that_had_something_new_since(world: World, alice: Reader) -> None:
    arrive(world, "first", thread={"kind": "order", "id": "1"})
    seen_until = alice.row("first")["last_event_at"]
    arrive(world, "second", thread={"kind": "order", "id": "1"})

    assert alice.read_all(before=seen_until).json["marked"] == 0
    assert alice.titles("unread") == ["second"]


@pytest.mark.parametrize("make", [arrive, announce], ids=["own", "for everyone"])
def test_what_was_put_off_comes_back_unread_though_everything_was_read_meanwhile(
    world: World, alice: Reader, later: Callable[[timedelta], None], make: Callable[..., None]
) -> None:
    make(world, "put off")
    alice.change(alice.row("put off")["id"], snoozed_until=_at())

    assert alice.read_all().json == {"marked": 0, "more": False}
    later(HOUR * 2)

    assert (alice.titles("unread"), alice.unread()) == (["put off"], 1)


@pytest.mark.parametrize("body", [{"before": "yesterday"}, {"before": 7}, {"until": "2030-01-01T00:00:00Z"}, []], ids=str)
def test_read_all_of_another_shape_is_422(world: World, alice: Reader, body: Any) -> None:
    arrive(world, "row")

    answer = alice.api.post("/v1/inbox/read-all", body, query={"user_id": "alice"})

    assert_problem(answer, 422, "invalid-request")
    assert alice.unread() == 1


def _many(world: World, count: int) -> None:
    """So many rows, half of them alice's own and half for everyone."""
    world.admin.execute(
        """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, title, message, summary, last_event_at, shown_at,
                                      created_at, updated_at)
           SELECT tocsin_uuid7(), %(tenant)s, CASE WHEN n %% 2 = 0 THEN users.id END, 'k', 'intent', 'row ' || n, '', '{}',
                  tocsin_now(), tocsin_now(), tocsin_now(), tocsin_now()
           FROM generate_series(1, %(count)s) AS n, users WHERE users.external_id = 'alice'""",
        {"tenant": TENANT, "count": count},
    )


def test_read_all_works_in_batches_and_says_when_there_is_more(
    world: World, alice: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "READ_BATCH", 3)
    monkeypatch.setattr(mark, "MOST_READ", 9)
    _many(world, 22)

    answers = [alice.read_all().json for _ in range(4)]

    assert [answer["more"] for answer in answers[:2]] == [True, True]
    assert answers[-1] == {"marked": 0, "more": False}
    assert sum(answer["marked"] for answer in answers) == 22
    assert alice.unread() == 0


@pytest.mark.parametrize("count", [1_998, 2_000, 2_002])
def test_read_all_with_whole_and_broken_batches_leaves_nothing(world: World, alice: Reader, count: int) -> None:
    _many(world, count)

    answer = alice.read_all()

    assert answer.json == {"marked": count, "more": False}
    assert alice.unread() == 0


def test_a_row_that_somebody_else_marks_meanwhile_does_not_end_the_reading(
    world: World, alice: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "READ_BATCH", 3)
    for n in range(8):
        arrive(world, f"row {n}")
    rival = world.connect("postgres")
    rival.execute("BEGIN")
    rival.execute("UPDATE notifications SET unread = false, read_at = tocsin_now() WHERE title = 'row 6'")
    answers: list[Any] = []
    reading = threading.Thread(target=lambda: answers.append(alice.read_all().json))
    reading.start()
    _wait_for_a_lock(world)
    rival.execute("COMMIT")
    reading.join(10)

    assert (answers, alice.unread()) == ([{"marked": 7, "more": False}], 0)


def _wait_for_a_lock(world: World) -> None:
    wait_until(lambda: world.one("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
