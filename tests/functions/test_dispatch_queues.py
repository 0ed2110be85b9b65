"""The dispatch door behind its queues: what each serves, and what it leaves to the others."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.functions.doors import Context, handler_of, module_of, sqs_event
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.settings import QUEUES, Settings

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture
def serve(world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give every message of a queue to the door, as the queue's event source does."""
    run_as("tocsin_worker")
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)

    def deliver(queue: str, *bodies: Any, remaining: int = 30_000) -> None:
        assert world.work_queue is not None
        event = sqs_event(*(bodies or world.work_queue.bodies(queue)), queue=queue)
        assert handler_of("dispatch")(event, Context(remaining)) == {"batchItemFailures": []}

    return deliver


def test_an_intent_goes_from_the_plan_queue_to_the_queue_of_its_channel_and_out(world: World, serve: Callable[..., None]) -> None:
    world.add_user(phone="+14155550100")
    world.accept(channels=["email", "sms"])

    serve("plan")
    assert (world.email.calls, world.sms.calls) == (0, 0)
    serve("email")
    assert (len(world.email.accepted), world.sms.calls) == (1, 0)
    serve("sms")

    assert (len(world.email.accepted), len(world.sms.accepted), world.count("outbox")) == (1, 1, 0)


def test_every_nudge_says_whose_work_it_is(world: World, serve: Callable[..., None]) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant)

    serve("plan")

    groups = [(nudge.queue, nudge.group) for nudge in world.nudges()]
    assert sorted(groups) == sorted((queue, str(tenant)) for queue in ("plan", "email") for tenant in (TENANT, OTHER_TENANT))


@pytest.mark.parametrize("body", ["{", {"v": 1, "ids": []}, {"v": 1, "ids": ["00000000-0000-7000-8000-00000000000f"]}], ids=str)
def test_a_nudge_that_says_nothing_still_wakes_a_worker(world: World, serve: Callable[..., None], body: Any) -> None:
    world.add_user()
    world.accept()

    serve("plan", body)
    serve("email", body)

    assert (len(world.email.accepted), world.count("outbox")) == (1, 0)


def test_an_invocation_about_to_end_starts_a_successor(world: World, serve: Callable[..., None]) -> None:
    world.add_user()
    asked = world.accept()
    assert world.work_queue is not None
    world.work_queue.clear()

    serve("plan", {"v": 1, "ids": []}, remaining=9_000)

    assert [(nudge.queue, nudge.group, nudge.ids) for nudge in world.nudges()] == [("plan", str(TENANT), [asked.notification_id])]


def test_a_retry_is_nudged_on_the_queue_of_its_channel(world: World, serve: Callable[..., None]) -> None:
    world.add_user(phone="+14155550100")
    world.accept(channels=["sms"])
    serve("plan")
    assert world.work_queue is not None
    world.sms.answers.append(Failure(FailureClass.TRANSIENT, "x", ""))
    bodies = world.work_queue.bodies("sms")
    world.work_queue.clear()

    serve("sms", *bodies)

    (nudge,) = world.nudges()
    assert (nudge.queue, nudge.group, nudge.delay_seconds > 0) == ("sms", str(TENANT), True)


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_is_known_by_the_end_of_its_arn(queue: str) -> None:
    urls = {f"{name}_queue_url": f"https://sqs.eu-west-1.amazonaws.com/123456789012/tocsin-{name}" for name in QUEUES}

    assert Settings(**urls).queue_of(f"arn:aws:sqs:eu-west-1:123456789012:tocsin-{queue}") == queue


@pytest.mark.parametrize("arn", ["", "arn:aws:sqs:eu-west-1:123456789012:other", "nonsense"])
def test_an_unknown_queue_is_none_of_ours(arn: str) -> None:
    assert Settings(plan_queue_url="https://sqs.eu-west-1.amazonaws.com/123456789012/tocsin-plan").queue_of(arn) is None
