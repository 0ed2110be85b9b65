"""The doors of webhooks and triggers: workers as dispatch is one, who deliver nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash.staging import one_email
from tests.functions.doors import Context, handler_of, module_of, sqs_event
from tests.world import World
from tocsin.outbox import door as doors
from tocsin.outbox.worker import SETTLE_TIME, Worker

STRANGER = "00000000-0000-7000-8000-00000000000f"
QUEUES = {"webhooks": "webhook", "triggers": "trigger"}

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture(params=QUEUES)
def door(request: pytest.FixtureRequest, world: World, run_as: Callable[[str], None]) -> Callable[..., list[str]]:
    """The door; it returns the ids to be delivered again."""
    run_as("tocsin_worker")

    def deliver(*bodies: Any) -> list[str]:
        answer = handler_of(request.param)(sqs_event(*bodies, queue=QUEUES[request.param]), Context(60_000))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    return deliver


def _nudge(*ids: Any) -> dict[str, Any]:
    return {"v": 1, "ids": [str(one) for one in ids]}


@pytest.mark.parametrize("body", ["{", {}, _nudge(STRANGER)], ids=str)
def test_a_nudge_that_cannot_be_read_or_means_nothing_is_acknowledged(door: Callable[..., list[str]], body: Any) -> None:
    assert door(body) == []


def test_while_the_database_is_down_the_nudges_stay_on_the_queue_and_it_is_counted(
    door: Callable[..., list[str]], database_down: None, outages: Callable[[], list[str]]
) -> None:
    assert door(_nudge(STRANGER), _nudge(STRANGER)) == ["message-1", "message-2"]
    assert outages() == ["refused"]


def test_a_delivery_that_strays_here_is_given_back_untouched(world: World, door: Callable[..., list[str]]) -> None:
    delivery = one_email(world)
    before = world.rows("SELECT id, claim_count, attempt_count, due_at FROM outbox")

    assert door(_nudge(delivery)) == []

    assert world.rows("SELECT id, claim_count, attempt_count, due_at FROM outbox") == before
    assert world.rows("SELECT 1 FROM outbox WHERE lease_token IS NOT NULL") == []
    assert (world.count("attempts"), world.route()["status"], world.dead_letters()) == (0, "pending", [])


def test_a_webhook_is_begun_only_while_the_longest_call_still_fits(
    world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Worker] = []

    def take(conn: Any, ids: Any, worker: Worker, **_: Any) -> int:
        made.append(worker)
        return 0

    monkeypatch.setattr(doors, "dispatch", take)
    run_as("tocsin_worker")
    needed = (module_of("webhooks").LONGEST_CALL + SETTLE_TIME).total_seconds() * 1000

    for left in (needed, needed - 1):
        handler_of("webhooks")(sqs_event(_nudge(STRANGER), queue="webhook"), Context(int(left)))

    assert [(worker.queue, worker.has_time()) for worker in made] == [("webhook", True), ("webhook", False)]
