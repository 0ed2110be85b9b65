"""A batch is accepted in one transaction, and each item for itself."""

from datetime import timedelta

from tests.world import World
from tocsin.intake.accept_intents import Admitted, KeyReused, UnknownUsers


def test_each_item_of_a_batch_comes_to_its_own_end_in_order(world: World) -> None:
    world.add_user()
    first = world.accept(key="old")

    ends = world.try_accept(
        world.asked(key="new-1"),
        world.asked(key="old"),
        world.asked(key="old", payload={"title": "Other"}),
        world.asked(key="new-2", audience={"kind": "users", "user_ids": ["nobody"]}),
        world.asked(key="new-3"),
    )

    assert [type(end) for end in ends] == [Admitted, Admitted, KeyReused, UnknownUsers, Admitted]
    assert [end.is_replay for end in ends if isinstance(end, Admitted)] == [False, True, False]
    assert ends[1].notification_id == first.notification_id  # type: ignore[union-attr]
    assert world.count("records") == 3


def test_the_same_key_twice_in_one_batch_is_accepted_once_and_replayed(world: World) -> None:
    world.add_user()
    one, two = world.asked(key="k-1"), world.asked(key="k-1")

    ends = world.try_accept(one, two)

    assert [(end.notification_id, end.is_replay) for end in ends if isinstance(end, Admitted)] == [
        (one.notification_id, False),
        (one.notification_id, True),
    ]
    assert (world.count("records"), world.count("outbox")) == (1, 1)


def test_the_same_key_with_two_meanings_in_one_batch_belongs_to_the_first(world: World) -> None:
    world.add_user()
    one, two = world.asked(key="k-1"), world.asked(key="k-1", payload={"title": "Other"})

    ends = world.try_accept(one, two)

    assert isinstance(ends[0], Admitted)
    assert ends[1] == KeyReused()
    assert world.one("SELECT notification_id FROM records") == one.notification_id


def test_expired_and_new_keys_mix_in_one_batch(world: World) -> None:
    world.add_user()
    world.accept(key="expired")
    world.pass_time(timedelta(days=8))
    held = world.accept(key="held")
    anew = world.asked(key="expired", payload={"title": "Anew"})

    ends = world.try_accept(world.asked(key="fresh"), anew, world.asked(key="held"))

    assert [end.is_replay for end in ends if isinstance(end, Admitted)] == [False, False, True]
    assert ends[1].notification_id == anew.notification_id  # type: ignore[union-attr]
    assert ends[2].notification_id == held.notification_id  # type: ignore[union-attr]


def test_the_nudges_of_a_batch_carry_many_ids_each(world: World) -> None:
    world.add_user()
    asked = [world.asked() for _ in range(120)]

    world.try_accept(*asked)

    nudges = world.nudges()
    assert [len(nudge.ids) for nudge in nudges] == [50, 50, 20]
    assert {one for nudge in nudges for one in nudge.ids} == {one.notification_id for one in asked}


def test_five_hundred_intents_are_one_transaction(world: World) -> None:
    world.add_user()

    ends = world.try_accept(*[world.asked() for _ in range(500)])

    assert len([end for end in ends if isinstance(end, Admitted)]) == 500
    assert world.one("SELECT count(DISTINCT xmin::text) FROM records") == 1
