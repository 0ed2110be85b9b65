"""Every door in front of a frozen Postgres: it answers or gives the work back before its function's own time is up."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from devstack.postgres import Postgres
from tests.frozen import backend, frozen, whole
from tests.functions.doors import Api, Context, handler_of, intent, module_of, sqs_event
from tests.functions.test_problems import assert_problem
from tests.ses_events import event, through_sns
from tests.world import World
from tocsin.foundation import database, deadlines
from tocsin.foundation.outages import DatabaseUnavailable

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


@dataclass
class Running:
    """An invocation whose time the test steers."""

    remaining: int

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining


@pytest.fixture
def frozen_as(world: World, run_as: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Connect the doors as this role, and then stop the process that serves them."""
    stopped: list[int] = []

    def freeze(role: str) -> None:
        run_as(role)
        stopped.append(backend())
        os.kill(stopped[-1], signal.SIGSTOP)

    yield freeze
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/intents"),
        ("POST", "/v1/intents/batch"),
        ("GET", "/ready"),
        ("GET", "/v1/notifications"),
        ("GET", "/v1/inbox/live"),
        ("GET", "/v1/users"),
    ],
)
def test_every_http_door_is_503_and_says_when_to_come_back(
    world: World, api: Api, frozen_as: Callable[[str], None], method: str, path: str
) -> None:
    world.add_user()
    frozen_as("tocsin_app")
    query = {"user_id": "alice"} if path in {"/v1/notifications", "/v1/inbox/live"} else ""
    body = {"/v1/intents": intent(), "/v1/intents/batch": {"intents": [intent() | {"idempotency_key": "k"}]}}.get(path)

    with deadlines.within(0.5):
        answer = api.call(method, path, body, headers={"idempotency-key": "k"}, query=query)

    assert_problem(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    assert "127.0.0.1" not in answer.text


def test_the_deadline_is_the_functions_own_less_the_time_to_answer(
    world: World, api: Api, frozen_as: Callable[[str], None], ears: Callable[[], str]
) -> None:
    frozen_as("tocsin_app")
    route = {"routeKey": "GET /ready", "requestContext": {"requestId": "r-1", "http": {"method": "GET"}}}

    answer = handler_of("intake")(route, Context(1_500))

    assert answer["statusCode"] == 503
    assert '"reason": "timeout"' in ears()


def test_a_request_after_it_finds_another_connection(world: World, api: Api, frozen_as: Callable[[str], None]) -> None:
    world.add_user()
    frozen_as("tocsin_app")
    with deadlines.within(0.5):
        api.send(idempotency_key="k-1")

    assert api.send(idempotency_key="k-1").status == 202


def test_nudges_stay_on_the_queue(world: World, frozen_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user()
    asked = world.accept()
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)
    nudge = {"v": 1, "ids": [str(asked.notification_id)]}
    frozen_as("tocsin_worker")

    with deadlines.within(0.5):
        left = handler_of("dispatch")(sqs_event(nudge, nudge | {"fanout": True}), Context())

    assert [one["itemIdentifier"] for one in left["batchItemFailures"]] == ["message-1", "message-2"]
    assert (world.email.calls, handler_of("dispatch")(sqs_event(nudge), Context())) == (0, {"batchItemFailures": []})
    assert len(world.email.accepted) == 1


def test_what_a_provider_answered_is_recorded_although_the_server_froze_meanwhile(
    world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    asked = world.accept()
    run_as("tocsin_worker")
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)
    monkeypatch.setattr(database, "_INSISTS_FOR", 1.0)
    freezing = frozen(backend())

    with ExitStack() as stack:
        world.email.answers.append(lambda message: stack.enter_context(freezing))  # type: ignore[arg-type]
        left = handler_of("dispatch")(sqs_event({"v": 1, "ids": [str(asked.notification_id)]}), Context())

    assert left == {"batchItemFailures": []}
    assert (world.route()["status"], len(world.email.accepted)) == ("published", 1)


def test_an_answer_that_cannot_be_recorded_in_time_leaves_the_nudge_and_is_not_sent_again(
    world: World, server: Postgres, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    asked = world.accept()
    run_as("tocsin_worker")
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)
    monkeypatch.setattr(database, "_INSISTS_FOR", 0.5)
    backend()
    nudge = sqs_event({"v": 1, "ids": [str(asked.notification_id)]})
    invocation = Running(30_000)

    with ExitStack() as stack:

        def freeze(message: object) -> None:
            stack.enter_context(frozen(*whole(server)))
            invocation.remaining = 1_000

        world.email.answers.append(freeze)  # type: ignore[arg-type]
        left = handler_of("dispatch")(nudge, invocation)
    while world.count("outbox"):  # what the server had been sent it carries out when it comes round
        world.one("SELECT 1 FROM pg_sleep(0.01)")
    handler_of("dispatch")(nudge, Context())

    assert left == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert (len(world.email.accepted), world.route()["status"]) == (1, "published")


@pytest.mark.parametrize(
    ("door", "role", "body"),
    [
        ("intake_queue", "tocsin_app", intent()),
        ("feedback", "tocsin_worker", through_sns(event("delivery", {}, message_id="m"))),
    ],
)
def test_messages_stay_on_their_queue(world: World, frozen_as: Callable[[str], None], door: str, role: str, body: Any) -> None:
    world.add_user()
    frozen_as(role)

    with deadlines.within(0.5):
        left = handler_of(door)(sqs_event(body, body), Context())

    assert [one["itemIdentifier"] for one in left["batchItemFailures"]] == ["message-1", "message-2"]


@pytest.mark.parametrize(("door", "role"), [("sweep", "tocsin_worker"), ("retention", "tocsin_retention")])
def test_the_doors_of_the_clock_fail_in_time_and_log_why(
    world: World, frozen_as: Callable[[str], None], ears: Callable[[], str], door: str, role: str
) -> None:
    frozen_as(role)

    with deadlines.within(0.5), pytest.raises(DatabaseUnavailable):
        handler_of(door)({}, Context(300_000))

    assert '"reason": "timeout"' in ears()
