"""Many requests with one idempotency key: one notification."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from tests.crash import invariants
from tests.crash.site import Site, barrier
from tests.crash.traffic import INTENT, post_intent
from tests.crash.waiting import wait_until
from tests.world import TENANT

RIVALS = 20


def test_twenty_identical_requests_at_once_make_one_notification(site: Site) -> None:
    event, start = post_intent(site.ground.api_key), barrier(RIVALS)

    endings = [site.start("intake", event, before=partial(start.wait, 30)) for _ in range(RIVALS)]
    answers = [ending().answer or {} for ending in endings]

    accepted = [one for one in answers if one.get("statusCode") == 202]
    refused = [one for one in answers if one.get("statusCode") == 409]
    assert len(accepted) + len(refused) == RIVALS, f"{answers}\n{site.log.read_text()}"
    assert len({json.loads(one["body"])["notification_id"] for one in accepted}) == 1
    assert len([one for one in accepted if "Idempotency-Replayed" not in one["headers"]]) == 1
    assert all(one["headers"]["Retry-After"] == "1" for one in refused)
    site.recover()
    assert len(invariants.check(site.world, site.office.ledger()).records) == 1


def test_twenty_waiters_for_one_key_all_get_the_same_answer_when_its_holder_gives_up(site: Site) -> None:
    """The worst moment: all twenty wait for the same row, and wake at once."""
    event, start = post_intent(site.ground.api_key), barrier(RIVALS)

    with key_held(site) as give_up:
        endings = [site.start("intake", event, before=partial(start.wait, 30)) for _ in range(RIVALS)]
        wait_until(lambda: waiting_sessions(site) > 0)
        give_up()
    answers = [ending().answer or {} for ending in endings]

    assert {one.get("statusCode") for one in answers} <= {202, 409}, f"{answers}\n{site.log.read_text()}"
    accepted = [one for one in answers if one["statusCode"] == 202]
    assert len([one for one in accepted if "Idempotency-Replayed" not in one["headers"]]) == 1
    assert site.world.one("SELECT count(*) FROM records") == 1


def test_a_key_in_flight_for_longer_than_the_lock_timeout_is_409_with_retry_after(site: Site) -> None:
    with key_held(site):
        answer = site.invoke("intake", post_intent(site.ground.api_key)).answer or {}

    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (409, "1")
    assert json.loads(answer["body"])["type"].endswith("idempotency-key-in-flight")
    assert site.world.one("SELECT count(*) FROM records") == 0
    assert site.world.one("SELECT count(*) FROM rate_limits") == 0


def test_the_waiter_wins_when_the_first_request_rolls_back(site: Site) -> None:
    with key_held(site) as give_up:
        ending = site.start("intake", post_intent(site.ground.api_key))
        wait_until(lambda: waiting_sessions(site) == 1)
        give_up()
        answer = ending().answer or {}

    assert answer["statusCode"] == 202, answer
    assert "Idempotency-Replayed" not in answer["headers"]
    assert site.world.one("SELECT notification_id::text FROM records") == json.loads(answer["body"])["notification_id"]


@pytest.mark.parametrize("change", [{"payload": {"title": "Lost"}}, {"channels": ["email"]}])
def test_another_intent_with_the_key_is_refused_and_changes_nothing(site: Site, change: dict[str, Any]) -> None:
    site.invoke("intake", post_intent(site.ground.api_key))

    answer = site.invoke("intake", post_intent(site.ground.api_key, intent=INTENT | change)).answer or {}

    assert answer["statusCode"] == 422
    assert site.world.one("SELECT payload_json ->> 'title' FROM records") == "Shipped"


@contextmanager
def key_held(site: Site) -> Iterator[Any]:
    """A transaction that has inserted the key and neither commits nor ends, until the result is called."""
    conn = site.world.connect("postgres")
    conn.execute("BEGIN")
    conn.execute(
        """
        INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
                             idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
        VALUES (tocsin_uuid7(), %s, 'order.shipped', 'shop', 'users', '{}', 'order-1', '', now(), now(), now(), now() + '7 days')
        """,
        [TENANT],
    )
    try:
        yield conn.rollback
    finally:
        conn.rollback()


def waiting_sessions(site: Site) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return int(site.world.one(query))


def test_two_first_requests_of_one_api_key_are_both_let_in(site: Site) -> None:
    """Both note the key's use: the second waits for the first one's note, and reads the row again when it is there."""
    first = site.world.connect("postgres")
    first.execute("BEGIN")
    first.execute("UPDATE api_keys SET last_used_at = tocsin_now()")

    ending = site.start("intake", post_intent(site.ground.api_key))
    wait_until(lambda: waiting_sessions(site) == 1)
    first.commit()
    answer = ending().answer or {}

    assert answer.get("statusCode") == 202, f"{answer}\n{site.log.read_text()}"
