"""The dispatch door: nudges in, messages out; what cannot be read is forgotten, what cannot be recorded stays."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Context, handler_of, module_of, sqs_event
from tests.world import OTHER_TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.delivery.dampener import Limits
from tocsin.delivery.over_sending import Guard
from tocsin.foundation import settings

STRANGER = "00000000-0000-7000-8000-00000000000f"

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture
def dispatch(world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The door with the world's own ways out; it returns the ids to be delivered again."""
    run_as("tocsin_worker")
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)

    def deliver(*bodies: Any, remaining: int = 30_000) -> list[str]:
        answer = handler_of("dispatch")(sqs_event(*bodies), Context(remaining))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    return deliver


def _nudge(*ids: Any) -> dict[str, Any]:
    return {"v": 1, "ids": [str(one) for one in ids]}


def test_a_nudge_from_intake_sends_the_message(world: World, dispatch: Callable[..., list[str]]) -> None:
    world.add_user()
    world.accept()
    assert world.work_queue is not None

    assert dispatch(*world.work_queue.bodies()) == []

    assert (world.route()["status"], len(world.email.accepted), world.count("outbox")) == ("published", 1, 0)


def test_a_nudge_delivered_three_times_sends_one_message(world: World, dispatch: Callable[..., list[str]]) -> None:
    world.add_user()
    asked = world.accept()

    for _ in range(3):
        assert dispatch(_nudge(asked.notification_id), _nudge(asked.notification_id)) == []

    assert len(world.email.accepted) == 1


@pytest.mark.parametrize(
    "body",
    ["", "{", "null", "[]", "7", '"x"', {}, {"v": 2, "ids": []}, {"v": 1}, {"v": 1, "ids": "abc"}, {"v": 1, "ids": [7]},
     {"v": 1, "ids": [None]}, {"v": 1, "ids": ["nonsense"]}, "[" * 100_000, _nudge(STRANGER)],
    ids=lambda body: str(body)[:40],
)  # fmt: skip
def test_a_nudge_that_cannot_be_read_or_means_nothing_is_acknowledged_and_its_neighbour_is_heard(
    world: World, dispatch: Callable[..., list[str]], body: Any
) -> None:
    world.add_user()
    asked = world.accept()

    assert dispatch(body, _nudge(asked.notification_id)) == []

    assert len(world.email.accepted) == 1


def test_a_second_copy_and_an_end_in_doubt_are_told_to_cloudwatch(
    world: World, dispatch: Callable[..., list[str]], later: Callable[[timedelta], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_user()
    for expiry in ({}, {"expires_at": (datetime.now(UTC) + timedelta(minutes=5)).isoformat()}):
        world.accept(**expiry)
    world.email.answers.extend([Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "")] * 2)
    dispatch(_nudge(*world.due()))
    later(WINDOW + timedelta(seconds=1))

    dispatch(_nudge(*world.due()))

    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line][-1]
    assert (metrics["DuplicatesSuspected"], metrics["EndedInDoubt"]) == ([1.0], [1.0])


def test_the_installation_says_how_much_one_address_and_one_person_are_told(
    world: World, dispatch: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "OVER_SENDING_LIMIT": 2,
        "OVER_SENDING_WINDOW_SECONDS": 90,
        "EMAILS_PER_USER_PER_HOUR": 3,
        "DAMPENER_WINDOW_SECONDS": 60,
    }
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    settings.settings.cache_clear()
    world.add_user()
    world.add_user("bob")
    world.try_accept(
        *[world.asked(type="auth.code", audience={"kind": "address", "email": "carol@example.com"}) for _ in range(3)],
        *[world.asked() for _ in range(4)],
        *[world.asked(audience={"kind": "users", "user_ids": ["bob"]}, thread={"kind": "pr", "id": "7"}) for _ in range(2)],
    )

    dispatch(_nudge(*world.due()))

    ends = Counter((route["status"], route["reason"].partition(" told by")[0]) for route in world.routes())
    assert ends == {
        ("published", ""): 2 + 3 + 1,
        ("skipped", "over_sending: 2 in 90 s"): 1,
        ("pending", "dampened: hourly"): 1,
        ("skipped", "dampened:"): 1,
        ("pending", ""): 1,
    }
    opens_in = world.one(
        "SELECT due_at - tocsin_now() FROM outbox JOIN records USING (notification_id) WHERE audience_kind = 'digest'"
    )
    assert opens_in <= timedelta(seconds=60)
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line][-1]
    assert metrics["OverSendingSkipped"] == [1.0]


def test_what_the_code_does_without_being_told_is_what_the_settings_say() -> None:
    usual, config = Limits(), settings.Settings()

    assert usual.thread_window.total_seconds() == config.dampener_window_seconds
    assert usual.hourly_limit == config.emails_per_user_per_hour
    assert usual.guard == Guard(config.over_sending_limit, timedelta(seconds=config.over_sending_window_seconds))


def test_while_the_database_is_down_the_nudges_stay_on_the_queue(
    world: World, dispatch: Callable[..., list[str]], database_down: None
) -> None:
    assert dispatch(_nudge(STRANGER), _nudge(STRANGER)) == ["message-1", "message-2"]


def test_a_retry_is_recorded_and_the_nudge_is_acknowledged(world: World, dispatch: Callable[..., list[str]]) -> None:
    world.add_user()
    asked = world.accept()
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", ""))

    assert dispatch(_nudge(asked.notification_id)) == []

    assert world.route()["status"] == "failed"
    assert world.nudges()[-1].delay_seconds > 0


def test_an_invocation_about_to_end_nudges_what_it_leaves(world: World, dispatch: Callable[..., list[str]]) -> None:
    world.add_user()
    asked = world.accept()
    assert world.work_queue is not None
    world.work_queue.clear()

    assert dispatch(_nudge(asked.notification_id), remaining=9_000) == []

    assert (world.email.calls, [nudge.ids for nudge in world.nudges()]) == (0, [[asked.notification_id]])


def test_a_nudge_of_another_tenants_work_serves_that_tenant(world: World, dispatch: Callable[..., list[str]]) -> None:
    world.add_tenant()
    world.add_user(tenant=OTHER_TENANT, email="theirs@example.com")
    asked = world.accept(tenant=OTHER_TENANT)

    dispatch(_nudge(asked.notification_id))

    assert [message.email for message in world.email.accepted] == ["theirs@example.com"]
    assert world.route()["tenant_id"] == OTHER_TENANT
