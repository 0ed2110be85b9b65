"""Accepting: every end an intent can come to at the door."""

from datetime import UTC, datetime, timedelta

from tests.world import OTHER_TENANT, World
from tocsin.intake.accept_intents import Admitted, KeyReused, UnknownUsers


def test_an_accepted_intent_is_a_record_and_an_obligation_to_plan_it(world: World) -> None:
    world.add_user()
    asked = world.asked(key="k-1", thread={"kind": "order", "id": "A-17"}, priority="high")

    (end,) = world.try_accept(asked)

    assert end == Admitted(asked.notification_id, end.accepted_at, is_replay=False)  # type: ignore[union-attr]
    (record,) = world.rows("SELECT * FROM records")
    assert record["notification_id"] == asked.notification_id
    assert (record["producer"], record["idempotency_key"], record["holds_key"]) == ("shop", "k-1", True)
    assert (record["thread_kind"], record["thread_id"], record["priority"]) == ("order", "A-17", "high")
    assert record["recipient_user_ids"] == ["alice"]
    assert record["idempotency_expires_at"] - record["accepted_at"] == timedelta(days=7)
    (work,) = world.rows("SELECT * FROM outbox")
    assert (work["id"], work["source_kind"], work["notification_id"]) == (asked.notification_id, "plan", asked.notification_id)
    assert work["due_at"] == record["accepted_at"]


def test_an_accepted_intent_is_nudged_on_the_work_queue_at_once(world: World) -> None:
    world.add_user()

    asked = world.accept()

    (nudge,) = world.nudges()
    assert (nudge.ids, nudge.delay_seconds) == ([asked.notification_id], 0)


def test_the_same_key_and_words_give_the_first_answer_again_and_store_nothing(world: World) -> None:
    world.add_user()
    first = world.accept(key="k-1")

    (again,) = world.try_accept(world.asked(key="k-1"))

    assert isinstance(again, Admitted)
    assert (again.notification_id, again.is_replay) == (first.notification_id, True)
    assert (world.count("records"), world.count("outbox")) == (1, 1)


def test_the_first_answer_is_given_again_after_everything_was_sent(world: World) -> None:
    world.add_user()
    first = world.accept(key="k-1")
    world.dispatch()

    (again,) = world.try_accept(world.asked(key="k-1"))

    assert isinstance(again, Admitted)
    assert again.notification_id == first.notification_id
    assert (world.count("outbox"), len(world.email.accepted)) == (0, 1)


def test_a_repeated_try_that_finds_its_own_commit_is_no_replay(world: World) -> None:
    world.add_user()
    asked = world.asked(key="k-1")
    world.try_accept(asked)  # the commit went through, its answer was lost on the way

    (end,) = world.try_accept(asked)

    assert isinstance(end, Admitted)
    assert not end.is_replay
    assert world.count("records") == 1


def test_the_same_key_with_other_words_is_refused_and_leaves_the_first_alone(world: World) -> None:
    world.add_user()
    world.accept(key="k-1")

    (end,) = world.try_accept(world.asked(key="k-1", payload={"title": "Other"}))

    assert end == KeyReused()
    assert world.one("SELECT payload_json ->> 'title' FROM records") == "Shipped"
    assert world.count("outbox") == 1


def test_unknown_users_are_named_and_nothing_is_stored(world: World) -> None:
    world.add_user("alice")

    (end,) = world.try_accept(world.asked(audience={"kind": "users", "user_ids": ["zoe", "alice", "bob"]}))

    assert end == UnknownUsers({"0": "zoe", "2": "bob"})
    assert (world.count("records"), world.count("outbox"), world.nudges()) == (0, 0, [])


def test_a_user_of_another_tenant_is_an_unknown_user(world: World) -> None:
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)

    (end,) = world.try_accept(world.asked())

    assert end == UnknownUsers({"0": "alice"})


def test_a_refused_intent_does_not_spend_its_key(world: World) -> None:
    world.try_accept(world.asked(key="k-1"))
    world.add_user()

    (end,) = world.try_accept(world.asked(key="k-1"))

    assert isinstance(end, Admitted)
    assert not end.is_replay


def test_a_recipient_named_twice_is_kept_once(world: World) -> None:
    world.add_user()

    world.accept(audience={"kind": "users", "user_ids": ["alice", "alice"]})

    assert world.one("SELECT recipient_user_ids FROM records") == ["alice"]


def test_a_key_whose_window_has_ended_starts_a_new_record_before_retention_came_by(world: World) -> None:
    world.add_user()
    first = world.accept(key="k-1")
    world.pass_time(timedelta(days=7, seconds=1))
    asked = world.asked(key="k-1", payload={"title": "A week later"})

    (end,) = world.try_accept(asked)

    assert isinstance(end, Admitted)
    assert (end.notification_id, end.is_replay) == (asked.notification_id, False)
    held = world.rows("SELECT notification_id, holds_key FROM records ORDER BY accepted_at")
    assert [(row["notification_id"], row["holds_key"]) for row in held] == [
        (first.notification_id, False),
        (asked.notification_id, True),
    ]


def test_a_key_is_still_taken_in_the_last_second_of_its_window(world: World) -> None:
    world.add_user()
    first = world.accept(key="k-1")
    world.pass_time(timedelta(days=7, seconds=-5))

    (end,) = world.try_accept(world.asked(key="k-1"))

    assert isinstance(end, Admitted)
    assert end.notification_id == first.notification_id


def test_two_tenants_use_the_same_key_without_noticing_each_other(world: World) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user(tenant=OTHER_TENANT)
    ours = world.accept(key="k-1")

    (end,) = world.try_accept(world.asked(key="k-1", payload={"title": "Other"}), tenant=OTHER_TENANT)

    assert isinstance(end, Admitted)
    assert (end.is_replay, end.notification_id != ours.notification_id) == (False, True)


def test_two_producers_use_the_same_key_without_noticing_each_other(world: World) -> None:
    world.add_user()
    world.accept(key="k-1")

    (end,) = world.try_accept(world.asked(key="k-1"), producer="billing")

    assert isinstance(end, Admitted)
    assert not end.is_replay


def test_an_intent_for_later_is_due_then_and_not_dispatched_before(world: World) -> None:
    world.add_user()
    send_at = datetime.now(UTC) + timedelta(hours=2)
    world.accept(send_at=send_at.isoformat())

    too_early = world.dispatch()
    world.pass_time(timedelta(hours=2, seconds=1))
    in_time = world.dispatch()

    assert (too_early, in_time > 0) == (0, True)
    assert len(world.email.accepted) == 1


def test_an_intent_for_soon_is_nudged_with_a_delay_the_queue_keeps(world: World) -> None:
    world.add_user()

    world.accept(send_at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())

    (nudge,) = world.nudges()
    assert 298 <= nudge.delay_seconds <= 300


def test_an_intent_for_much_later_is_left_to_the_sweep(world: World) -> None:
    world.add_user()

    world.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    assert world.nudges() == []


def test_an_intent_for_the_past_is_due_now(world: World) -> None:
    world.add_user()

    world.accept(send_at=(datetime.now(UTC) - timedelta(days=3)).isoformat())

    assert world.one("SELECT due_at = accepted_at FROM outbox JOIN records USING (notification_id)")


def test_a_repetition_within_a_minute_is_nudged_again_and_a_later_one_is_not(world: World) -> None:
    """The first try may have ended between its commit and its nudge."""
    world.add_user()
    asked = world.accept(key="k")
    assert world.work_queue is not None
    world.work_queue.clear()

    world.accept(key="k")
    assert [nudge.ids for nudge in world.nudges()] == [[asked.notification_id]]

    world.work_queue.clear()
    world.pass_time(timedelta(minutes=2))
    world.accept(key="k")
    assert world.nudges() == []
