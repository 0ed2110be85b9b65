"""Somebody holds what intake needs: only a rival with the same key is 409, anything else is a database that is not available."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.functions.doors import Answer, Api, Context, handler_of, intent, sqs_event
from tests.functions.test_problems import assert_problem
from tests.world import TENANT, World
from tocsin import database

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")

EVENT = {"specversion": "1.0", "id": "e-1", "source": "/shop", "type": "order.shipped", "data": {}}
LOCKS = {
    "the table": "LOCK TABLE records, domain_events",
    "the work": "LOCK TABLE outbox, domain_events",
    "everybody's counters": "LOCK TABLE rate_limits",
    # of this minute and of the next, should it begin meanwhile
    "the counter of the key": "SELECT FROM rate_limits FOR UPDATE",
    "the counter, by its deletion": "DELETE FROM rate_limits",
}


@pytest.fixture(params=LOCKS)
def lock(world: World, api: Api, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Take the lock, against a sender with counters of this name; intake waits for it but shortly."""

    def take(subject: str) -> None:
        world.add_user()
        world.admin.execute(
            """INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
               SELECT %s, %s, kind, date_trunc('minute', now()) + minute * interval '1 minute', 0, 1000000
               FROM unnest(ARRAY['intents', 'events']) AS kind, generate_series(0, 2) AS minute""",
            [TENANT, subject],
        )
        database.run(lambda conn: conn.execute("SET lock_timeout = '100ms'"))
        world.admin.execute("BEGIN")
        world.admin.execute(LOCKS[request.param])  # type: ignore[call-overload]

    yield take
    world.admin.execute("ROLLBACK")


def _subject(world: World) -> str:
    return f"key:{world.one('SELECT id FROM api_keys')}"


def _send_intent(api: Api) -> Answer:
    return api.send(idempotency_key="never used")


def _send_batch(api: Api) -> Answer:
    return api.post("/v1/intents/batch", {"intents": [intent() | {"idempotency_key": f"never used {n}"} for n in range(3)]})


def _send_event(api: Api) -> Answer:
    return api.post("/v1/events", EVENT, headers={"content-type": "application/cloudevents+json"})


@pytest.mark.parametrize("send", [_send_intent, _send_batch, _send_event])
def test_a_key_that_was_never_used_is_not_said_to_be_in_flight(
    world: World, api: Api, lock: Callable[[str], None], send: Callable[[Api], Answer], ears: Callable[[], str]
) -> None:
    lock(_subject(world))

    answer = send(api)

    assert_problem(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    assert '"reason": "locked"' in ears()


@pytest.mark.parametrize("body", [intent(), EVENT], ids=["intent", "event"])
def test_a_message_that_meets_a_lock_stays_on_the_queue(
    world: World, lock: Callable[[str], None], ears: Callable[[], str], body: dict[str, Any]
) -> None:
    lock("intake-queue")

    left = handler_of("intake_queue")(sqs_event(body), Context())

    assert left == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert '"reason": "locked"' in ears()
