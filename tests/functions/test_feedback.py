"""The feedback door: events in, truth recorded; what cannot be read is forgotten, what cannot be recorded stays on the queue."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functions.doors import Context, handler_of, sqs_event
from tests.ses_events import event, tags_of, through_sns
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass

LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")
HOSTILE_WORDS = {"a zero byte": "\x00", "half a surrogate pair": "\ud800"}

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@pytest.fixture
def feedback(world: World, run_as: Callable[[str], None]) -> Callable[..., list[str]]:
    """The door as its own role; it returns the ids to be delivered again."""
    run_as("tocsin_worker")

    def tell(*bodies: Any) -> list[str]:
        answer = handler_of("feedback")(sqs_event(*bodies), Context())
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    return tell


def sent(world: World) -> dict[str, Any]:
    world.accept(audience={"kind": "address", "email": "alice@example.com"})
    world.dispatch()
    (attempt,) = world.attempts()
    return attempt


def about(attempt: dict[str, Any], news: str) -> str:
    return through_sns(event(news, tags_of(attempt), message_id="m-proof"))


def counted(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """The metrics of the last invocation, from what it wrote for CloudWatch."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    return {name: lines[-1][name][0] for name in ("ProviderEvents", "OrphanEvents")}


def test_events_raise_the_register_and_suppress(world: World, feedback: Callable[..., list[str]]) -> None:
    attempt = sent(world)

    assert feedback(about(attempt, "send"), about(attempt, "delivery"), about(attempt, "complaint")) == []

    assert (world.route()["feedback"], world.route()["status"]) == ("complained", "published")
    assert world.one("SELECT reason FROM suppressions") == "complaint"


def test_an_event_that_proves_a_send_nudges_it(world: World, feedback: Callable[..., list[str]]) -> None:
    world.email.answers.append(LOST)
    attempt = sent(world)
    assert world.work_queue is not None
    world.work_queue.clear()

    assert feedback(about(attempt, "send")) == []

    assert [nudge.ids for nudge in world.nudges()] == [world.due()]
    world.dispatch()
    assert (world.route()["status"], world.route()["provider_message_id"], world.email.calls) == ("published", "m-proof", 1)


def test_raw_delivery_is_understood_too(world: World, feedback: Callable[..., list[str]]) -> None:
    attempt = sent(world)

    assert feedback(event("delivery", tags_of(attempt))) == []

    assert world.route()["feedback"] == "delivered"


@pytest.mark.parametrize(
    "body",
    ["", "{", "null", "[]", "7", {}, {"Type": "Notification"}, {"Type": "Notification", "Message": "{"}, "[" * 100_000,
     {"Type": "SubscriptionConfirmation"}, {"eventType": "Bounce", "mail": {}},
     {"eventType": "", "notificationType": "", "mail": {}},
     "Successfully validated SNS topic for Amazon SES event publishing.", through_sns(event("hard bounce", {}))],
    ids=lambda body: str(body)[:40],
)  # fmt: skip
def test_what_is_not_about_us_is_acknowledged_and_its_neighbours_are_heard(
    body: Any, world: World, feedback: Callable[..., list[str]]
) -> None:
    attempt = sent(world)

    assert feedback(body, about(attempt, "delivery"), body) == []

    assert (world.route()["feedback"], world.count("suppressions")) == ("delivered", 0)


@pytest.mark.parametrize("words", HOSTILE_WORDS)
def test_words_that_postgres_refuses_do_not_bring_the_batch_back_for_ever(
    words: str, world: World, feedback: Callable[..., list[str]]
) -> None:
    attempt = sent(world)
    hostile = event("hard bounce", {}, message_id="m-hostile")
    hostile["bounce"]["bounceSubType"] = HOSTILE_WORDS[words]

    assert feedback(through_sns(hostile), about(attempt, "delivery")) == []

    assert world.route()["feedback"] == "delivered"


def test_a_redelivered_batch_changes_nothing_more(world: World, feedback: Callable[..., list[str]]) -> None:
    attempt = sent(world)
    batch = [about(attempt, news) for news in ("complaint", "send", "hard bounce")]
    feedback(*batch)
    before = {table: world.rows(f"SELECT * FROM {table}") for table in ("routes", "attempts", "suppressions", "provider_events")}

    for again in (batch, batch[::-1], batch[:1] * 3):
        assert feedback(*again) == []

    assert {table: world.rows(f"SELECT * FROM {table}") for table in before} == before


def test_without_a_database_every_event_stays_on_the_queue_and_it_is_counted(
    feedback: Callable[..., list[str]], database_down: None, outages: Callable[[], list[str]]
) -> None:
    assert feedback(through_sns(event("send", {})), "garbage") == ["message-1", "message-2"]
    assert outages() == ["refused"]


def test_only_events_of_nobody_are_counted_as_orphans(
    world: World, feedback: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    attempt = sent(world)

    feedback(about(attempt, "send"), through_sns(event("send", {})), "garbage")
    assert counted(capsys) == {"ProviderEvents": 2, "OrphanEvents": 1}


def test_a_repeated_event_is_not_counted_as_an_orphan(
    world: World, feedback: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    attempt = sent(world)
    feedback(about(attempt, "send"))

    feedback(about(attempt, "send"))

    assert counted(capsys) == {"ProviderEvents": 1, "OrphanEvents": 0}


def test_no_address_and_no_words_of_a_provider_are_logged(
    world: World, feedback: Callable[..., list[str]], ears: Callable[[], str]
) -> None:
    attempt = sent(world)

    feedback(about(attempt, "hard bounce"), '{"canary@example.com": ', through_sns(event("complaint", {})))

    written = ears()
    assert "not a provider's event" in written
    assert "alice@example.com" not in written and "canary" not in written
