"""What workers count for CloudWatch: every outcome once, by channel and provider, and nothing of whom it was about."""

from collections import Counter
from dataclasses import replace
from typing import Any

from tests.recipients import prefer
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.outbox.dispatch import dispatch

TRANSIENT = Failure(FailureClass.TRANSIENT, "x", "x")
REFUSED = Failure(FailureClass.PERMANENT, "x", "x")


def _counted(world: World) -> tuple[Counter[tuple[str, ...]], list[tuple[str, float, dict[str, str]]]]:
    """What a worker that does all that is due counts: the routes, and everything as it was said."""
    said: list[tuple[str, float, dict[str, str]]] = []
    worker = replace(world.worker_policy(), count=lambda name, value, /, **dimensions: said.append((name, value, dimensions)))
    dispatch(world.worker, world.due(), worker)
    routes: Counter[tuple[str, ...]] = Counter()
    for name, value, dimensions in said:
        if name == "Routes":
            routes[dimensions["channel"], dimensions["provider"], dimensions["outcome"]] += int(value)
    return routes, said


def _send(world: World, **intent: Any) -> None:
    world.accept(audience={"kind": "users", "user_ids": ["alice"]}, **intent)


def test_each_outcome_is_counted_by_channel_and_provider(world: World) -> None:
    world.add_user(phone="+4915112345678")
    for _ in range(4):
        _send(world)
    _send(world, channels=["sms"])
    _send(world, mode="test")
    world.email.answers.extend([TRANSIENT, REFUSED])

    routes, _ = _counted(world)

    assert routes == {
        ("email", "ses", "published"): 2,
        ("email", "ses", "retried"): 1,
        ("email", "ses", "dead_letter"): 1,
        ("email", "sandbox", "published"): 1,
        ("sms", "sns", "published"): 1,
    }


def test_what_is_skipped_or_put_off_has_no_provider(world: World) -> None:
    prefer(world, world.add_user(), enabled=False)
    _send(world)

    routes, _ = _counted(world)

    assert routes == {("email", "none", "skipped"): 1}


def test_how_long_a_delivery_took_is_counted_for_each_that_was_published(world: World) -> None:
    world.add_user()
    for _ in range(3):
        _send(world)

    _, said = _counted(world)

    seconds = [value for name, value, dimensions in said if name == "DeliverySeconds" and dimensions["provider"] == "ses"]
    assert len(seconds) == 3
    assert all(0 <= one < 60 for one in seconds)


def test_dimensions_tell_nothing_of_whom_it_was_about(world: World) -> None:
    world.add_user()
    _send(world)

    _, said = _counted(world)

    assert {name for _, _, dimensions in said for name in dimensions} == {"channel", "provider", "outcome"}
    assert {value for _, _, dimensions in said for value in dimensions.values()} <= {"email", "ses", "published"}
