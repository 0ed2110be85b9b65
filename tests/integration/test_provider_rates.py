"""A provider's rate: a token bucket that many workers draw from without ever taking a token twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from devstack.post_office import PostOffice
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.store import provider_configs

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    return make_data_key(monkeypatch)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def test_eight_workers_at_once_are_granted_exactly_what_is_in_the_bucket(world: World) -> None:
    config_id = add_provider(world, "ses", rate_limit=10).id
    conns = [world.connect() for _ in range(8)]
    barrier = Barrier(8)

    def take(conn: Connection[Any]) -> int:
        barrier.wait(10)
        return provider_configs.take_tokens(conn, {config_id: 3})[config_id].granted

    for _ in range(10):
        with ThreadPoolExecutor(8) as pool:
            granted = list(pool.map(take, conns))

        assert sum(granted) == 10, granted
        world.pass_time(timedelta(minutes=1))


def test_a_worker_whose_clock_reading_is_older_than_the_last_one_loses_no_token_by_it(world: World) -> None:
    config_id = add_provider(world, "ses", rate_limit=10).id
    world.admin.execute("UPDATE provider_configs SET tokens = 4, tokens_at = tocsin_now() + interval '1 millisecond'")
    world.worker.execute("SELECT set_config('tocsin.clock_offset', '-1 second', false)")  # it began to wait a second ago

    grant = provider_configs.take_tokens(world.worker, {config_id: 10})[config_id]

    assert grant.granted == 4


@pytest.mark.parametrize(("seconds", "granted"), [(0, 0), (9, 0), (11, 1), (35, 3), (61, 6), (3600, 6)])
def test_it_fills_up_evenly_by_the_databases_clock_to_a_minutes_worth(world: World, seconds: int, granted: int) -> None:
    config_id = add_provider(world, "ses", rate_limit=6).id
    assert provider_configs.take_tokens(world.worker, {config_id: 99})[config_id].granted == 6

    world.pass_time(SECOND * seconds)

    grant = provider_configs.take_tokens(world.worker, {config_id: 99})[config_id]
    assert (grant.granted, grant.seconds_per_token) == (granted, 10.0)


def test_what_is_not_taken_stays(world: World) -> None:
    config_id = add_provider(world, "ses", rate_limit=6).id

    taken = [provider_configs.take_tokens(world.worker, {config_id: 4})[config_id].granted for _ in range(3)]

    assert taken == [4, 2, 0]


def test_a_provider_without_a_limit_grants_all_and_one_that_is_gone_nothing(world: World) -> None:
    unlimited, limited, gone = add_provider(world, "ses").id, add_provider(world, "ses", rate_limit=2).id, uuid4()

    grants = provider_configs.take_tokens(world.worker, {unlimited: 500, limited: 500, gone: 1})

    assert {config_id: grant.granted for config_id, grant in grants.items()} == {unlimited: 500, limited: 2}


def test_above_the_rate_messages_wait_without_an_attempt_and_are_nudged(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", rate_limit=2)
    for _ in range(5):
        world.accept()
    before = len(world.nudges())

    deliver_by(world, ways_of(world, office.url))

    waiting = world.rows("SELECT * FROM routes WHERE status = 'pending'")
    assert len(office.ledger()) == 2
    assert {(route["attempt_count"], route["deferral_count"], route["deferred_reason"]) for route in waiting} == {
        (0, 1, "provider_rate_limit")
    }
    assert sorted(nudge.delay_seconds for nudge in world.nudges()[before:]) == [30, 60, 90]
    assert world.one("SELECT count(*) FROM attempts") == 2
    assert world.one("SELECT bool_and(claim_count = 0 AND lease_token IS NULL AND nudged_at = due_at) FROM outbox")


def test_they_all_go_out_as_the_bucket_fills_and_none_before(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", rate_limit=2)
    for _ in range(5):
        world.accept()
    sent = []
    for _ in range(4):
        deliver_by(world, ways_of(world, office.url))
        sent.append(len(office.ledger()))
        world.pass_time(SECOND * 31)

    assert sent == [2, 3, 4, 5]
    assert {(route["status"], route["attempt_count"]) for route in world.routes()} == {("published", 1)}


def test_the_default_provider_can_be_given_a_rate_too(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "ses", rate_limit=1)
    for _ in range(3):
        world.accept()

    deliver_by(world, ways_of(world, office.url))

    assert world.email.calls == 1


def test_tenants_do_not_share_a_bucket(world: World, office: PostOffice) -> None:
    world.add_tenant()
    for tenant, limit in ((TENANT, 1), (OTHER_TENANT, 3)):
        world.add_user(tenant=tenant, email=f"{tenant.hex}@example.com")
        add_provider(world, "ses", tenant=tenant, rate_limit=limit)
        for _ in range(4):
            world.accept(tenant=tenant)

    deliver_by(world, ways_of(world, office.url))

    sent = [message.email for message in world.email.accepted]
    assert (sent.count(f"{TENANT.hex}@example.com"), sent.count(f"{OTHER_TENANT.hex}@example.com")) == (1, 3)


def test_what_the_gate_holds_back_takes_no_token(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "ses", rate_limit=6)
    world.accept(expires_at="2999-01-01T00:00:00Z")
    world.admin.execute("UPDATE records SET expires_at = tocsin_now() - interval '1 second'")

    deliver_by(world, ways_of(world, office.url))

    assert world.one("SELECT tokens FROM provider_configs") == 6
