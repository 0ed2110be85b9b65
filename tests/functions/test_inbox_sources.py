"""Which event did I last see? An inbox row says which event and which intent it tells of."""

from datetime import timedelta

import pytest

from tests.events import THREAD, fan_out_all, happen, route
from tests.functions.doors import Api
from tests.functions.readers import Reader, arrive
from tests.world import OTHER_TENANT, World
from tocsin.outbox.dispatch import dispatch


@pytest.fixture
def reader(world: World, api: Api) -> Reader:
    world.add_user()
    route(world)
    return Reader(api, "alice")


def _hear(world: World, event_id: str, **event: object) -> None:
    happen(world, event_id=event_id, mentions=["alice"], **event)
    fan_out_all(world)


def test_a_row_names_the_last_event_as_its_producer_does(world: World, reader: Reader) -> None:
    _hear(world, "first")
    _hear(world, "last")

    (row,) = reader.rows()

    assert (row["source_event"], row["source_notification_id"]) == ({"source": "/repo", "id": "last"}, None)
    assert reader.change(row["id"], read=True).json["source_event"] == row["source_event"]


def test_an_intent_that_folds_in_leaves_the_last_event_named(world: World, reader: Reader) -> None:
    _hear(world, "first")
    arrive(world, "an intent", thread=THREAD)

    (row,) = reader.rows()

    assert (row["title"], row["source_event"]) == ("an intent", {"source": "/repo", "id": "first"})
    assert row["source_notification_id"] == str(
        world.one("SELECT max(notification_id::text) FROM records WHERE producer = 'shop'")
    )

    _hear(world, "second")
    (row,) = reader.rows()
    assert (row["source_event"]["id"], row["source_notification_id"]) == ("second", None)


def test_of_two_intents_that_were_to_be_sent_at_once_the_second_has_the_word_also_after_an_event(
    world: World, reader: Reader
) -> None:
    """The last event is remembered beside an intent's words, and decides nothing about them."""
    _hear(world, "first")
    plans = [
        world.accept(channels=["in_app"], payload={"title": title}, thread=THREAD, send_at="2027-01-01T00:00:00Z").notification_id
        for title in ("one", "two")
    ]
    world.pass_time(timedelta(days=60))

    for plan in plans:
        dispatch(world.worker, [plan], world.worker_policy(batch_size=1))

    assert world.one("SELECT title FROM notifications") == "two"
    assert world.one("SELECT event_count FROM notifications") == 3


def test_an_event_that_is_forgotten_is_no_longer_named(world: World, reader: Reader) -> None:
    _hear(world, "first")

    world.admin.execute("DELETE FROM domain_events")

    (row,) = reader.rows()
    assert row["source_event"] is None


def test_an_event_of_another_tenant_is_never_named(world: World, reader: Reader) -> None:
    _hear(world, "first")
    world.add_tenant()
    world.admin.execute("UPDATE domain_events SET tenant_id = %s", [OTHER_TENANT])

    (row,) = reader.rows()
    assert row["source_event"] is None
