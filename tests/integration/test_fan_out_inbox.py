"""The inbox folds: one row per person and thread, with the face of the last event and the count of all."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.events import SCOPE, TYPE, fan_out_all, happen, id_of, inbox, route, watch
from tests.world import TENANT, World
from tocsin.audience import fan_out
from tocsin.foundation.database import tenant_transaction
from tocsin.store import notifications
from tocsin.store.notifications import Change, View


@pytest.fixture
def alice(world: World) -> World:
    """She is told of everything that mentions her, as bob is."""
    world.add_user("alice")
    world.add_user("bob")
    route(world, "*")
    return world


def _mention(world: World, title: str = "", **event: Any) -> None:
    happen(world, title=title, mentions=["alice"], **event)


def _change(world: World, **change: Any) -> None:
    """What alice does with her only row."""
    row_id: UUID = inbox(world)["alice"]["id"]
    user_id = id_of(world, "alice")
    with tenant_transaction(world.app, TENANT):
        notifications.change_own(world.app, TENANT, user_id, row_id, Change(**change))


def _seen(world: World, view: str = "all") -> list[str]:
    """The titles alice sees."""
    user_id = id_of(world, "alice")
    with tenant_transaction(world.app, TENANT):
        rows = notifications.list_page(world.app, TENANT, user_id, View(view), limit=10, after=None)
    return [row["title"] for row in rows]


@pytest.mark.parametrize("visits", [1, 3], ids=["in one batch", "in three"])
def test_events_of_one_thread_are_one_row_with_the_face_of_the_last(visits: int, alice: World) -> None:
    faces: list[dict[str, Any]] = [
        {"type": "issue.opened", "actor": "bob", "scope": "repo:1", "url": "https://x.example/1", "author": "alice"},
        {"type": "issue.labelled", "actor": None, "assignees": ["alice"]},
        {"type": TYPE, "actor": "bob", "scope": SCOPE, "url": "https://x.example/3", "mentions": ["alice"]},
    ]
    for n, face in enumerate(faces, 1):
        happen(alice, title=f"title {n}", message=f"message {n}", **{key: value for key, value in face.items() if value})
        if visits > 1:
            fan_out_all(alice)

    fan_out_all(alice)

    row = inbox(alice)["alice"]
    assert (row["kind"], row["reason"], row["last_actor"], row["scope"]) == (TYPE, "mention", "bob", SCOPE)
    assert (row["title"], row["message"], row["summary"]) == ("title 3", "message 3", {"url": "https://x.example/3"})
    assert (row["event_count"], row["unread"], row["thread_kind"], row["thread_id"]) == (3, True, "issue", "1")
    assert row["source_event_id"] == alice.one("SELECT max(id) FROM domain_events")


@pytest.mark.parametrize("visits", [1, 2], ids=["in one batch", "in two"])
def test_what_the_last_event_does_not_have_is_not_kept_from_an_earlier_one(visits: int, alice: World) -> None:
    _mention(alice, "with all", actor="bob", scope=SCOPE, url="https://x.example/1")
    if visits > 1:
        fan_out_all(alice)
    _mention(alice, "bare")

    fan_out_all(alice)

    row = inbox(alice)["alice"]
    assert (row["title"], row["summary"], row["last_actor"], row["scope"]) == ("bare", {}, None, None)


def test_many_events_in_several_batches_add_up(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 7)
    for n in range(30):
        happen(alice, title=str(n), mentions=["alice", "bob"] if n % 3 == 0 else ["alice"], thread={"kind": "issue", "id": "1"})

    fan_out_all(alice)

    counts = {person: (row["title"], row["event_count"]) for person, row in inbox(alice).items()}
    assert counts["alice"] == ("29", 30)
    assert alice.one("SELECT sum(recipient_count) FROM domain_events") == sum(count for _, count in counts.values())


def test_threads_do_not_mix(alice: World) -> None:
    threads = [{"kind": "issue", "id": "1"}, {"kind": "issue", "id": "2"}, {"kind": "pull", "id": "1"}]
    for thread in threads * 2:
        _mention(alice, f"{thread['kind']} {thread['id']}", thread=thread)

    fan_out_all(alice)

    rows = alice.rows("SELECT thread_kind || ' ' || thread_id AS thread, title, event_count FROM notifications ORDER BY 1")
    assert rows == [{"thread": name, "title": name, "event_count": 2} for name in ("issue 1", "issue 2", "pull 1")]


@pytest.mark.parametrize("visits", [1, 2], ids=["in one batch", "in two"])
def test_events_without_a_thread_get_a_row_each(visits: int, alice: World) -> None:
    for title in ("one", "two"):
        _mention(alice, title, thread=None)
        if visits > 1:
            fan_out_all(alice)

    fan_out_all(alice)

    assert sorted((row["title"], row["event_count"]) for row in alice.inbox()) == [("one", 1), ("two", 1)]


def test_a_new_event_makes_a_read_row_unread_again(alice: World) -> None:
    _mention(alice, "old")
    fan_out_all(alice)
    _change(alice, read=True)
    assert _seen(alice, "unread") == []

    alice.pass_time(timedelta(minutes=1))
    _mention(alice, "new")
    fan_out_all(alice)

    row = inbox(alice)["alice"]
    assert (row["unread"], row["read_at"], row["event_count"]) == (True, None, 2)
    assert row["last_event_at"] - row["created_at"] >= timedelta(minutes=1)
    assert _seen(alice, "unread") == ["new"]


@pytest.mark.parametrize("change", ["hide", "done"])
def test_a_new_event_brings_back_what_was_put_away(change: str, alice: World) -> None:
    _mention(alice, "old")
    fan_out_all(alice)
    _change(alice, **{change: True})
    assert _seen(alice) == []

    _mention(alice, "new")
    fan_out_all(alice)

    assert (_seen(alice), _seen(alice, "unread")) == (["new"], ["new"])
    assert _seen(alice, "done") == []
    assert inbox(alice)["alice"]["event_count"] == 2


def test_a_new_event_ends_a_snooze(alice: World) -> None:
    _mention(alice, "old")
    fan_out_all(alice)
    until = alice.one("SELECT tocsin_now() + interval '1 day'")
    _change(alice, snooze=True, snoozed_until=until)
    assert (_seen(alice), _seen(alice, "snoozed")) == ([], ["old"])

    _mention(alice, "new")
    fan_out_all(alice)

    assert (_seen(alice), _seen(alice, "snoozed")) == (["new"], [])


def test_what_is_saved_stays_saved(alice: World) -> None:
    _mention(alice, "old")
    fan_out_all(alice)
    _change(alice, saved=True)
    saved_at = inbox(alice)["alice"]["saved_at"]

    alice.pass_time(timedelta(minutes=1))
    _mention(alice, "new")
    fan_out_all(alice)

    assert saved_at is not None
    assert inbox(alice)["alice"]["saved_at"] == saved_at
    assert _seen(alice, "saved") == ["new"]


def test_an_event_for_others_leaves_my_row_alone(alice: World) -> None:
    _mention(alice, "mine")
    fan_out_all(alice)
    _change(alice, read=True)
    before = inbox(alice)["alice"]

    happen(alice, type="other.thing", title="theirs", mentions=["bob"], thread={"kind": "issue", "id": "9"})
    fan_out_all(alice)

    assert inbox(alice)["alice"] == before
    assert inbox(alice)["bob"]["title"] == "theirs"


def test_intents_and_events_of_one_thread_share_a_row(alice: World) -> None:
    audience = {"kind": "users", "user_ids": ["alice"]}
    alice.accept(audience=audience, channels=["in_app"], thread={"kind": "issue", "id": "1"})
    alice.dispatch()

    _mention(alice, "an event", actor="bob", scope=SCOPE, url="https://x.example/1")
    fan_out_all(alice)

    row = inbox(alice)["alice"]
    assert (row["title"], row["reason"], row["event_count"]) == ("an event", "mention", 2)
    alice.accept(audience=audience, channels=["in_app"], thread={"kind": "issue", "id": "1"})
    alice.dispatch()
    row = inbox(alice)["alice"]
    assert (row["title"], row["reason"], row["event_count"], row["summary"]) == ("Shipped", "intent", 3, {})


def test_an_intent_after_an_event_does_not_show_its_actor(alice: World) -> None:
    _mention(alice, "an event", actor="bob")
    fan_out_all(alice)

    alice.accept(audience={"kind": "users", "user_ids": ["alice"]}, channels=["in_app"], thread={"kind": "issue", "id": "1"})
    alice.dispatch()

    row = inbox(alice)["alice"]
    assert (row["title"], row["last_actor"]) == ("Shipped", None)


def test_a_crowd_in_one_batch_has_one_row_each(world: World) -> None:
    names = [f"user-{n}" for n in range(20)]
    for name in names:
        world.add_user(name)
        watch(world, name)
    route(world)
    for n in range(10):
        happen(world, title=str(n), scope=SCOPE, actor=names[n], thread={"kind": "issue", "id": "1"})

    fan_out_all(world)

    rows = inbox(world)
    assert {name: row["event_count"] for name, row in rows.items()} == {name: 9 if n < 10 else 10 for n, name in enumerate(names)}
    assert {name: row["title"] for name, row in rows.items()} == {name: "8" if name == "user-9" else "9" for name in names}
