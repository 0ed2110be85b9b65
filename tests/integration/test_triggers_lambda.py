"""A trigger whose handler is a Lambda function: invoked asynchronously, and done when Lambda has queued it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.trigger_runs import Triggers
from tests.world import World
from tocsin.foundation import aws, settings

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:restock"
HANDLER = {"kind": "lambda", "function_arn": ARN}
ONCE = {"max_attempts": 1}


class Functions:
    """Lambda's front: keeps what it is asked to invoke, and answers as it is told."""

    def __init__(self) -> None:
        self.invoked: list[dict[str, Any]] = []
        self.answer: Callable[[], dict[str, Any]] = lambda: {"StatusCode": 202}

    def invoke(self, **said: Any) -> dict[str, Any]:
        self.invoked.append(said)
        return self.answer()

    def fail(self, error: Exception) -> None:
        def answer() -> dict[str, Any]:
            raise error

        self.answer = answer


def refusal(status: int, code: str) -> ClientError:
    said = {"Error": {"Code": code, "Message": f"{code}."}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(said, "Invoke")  # type: ignore[arg-type]


@pytest.fixture
def functions(triggers: Triggers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Functions]:
    functions = Functions()
    known = aws.client
    monkeypatch.setattr(aws, "client", lambda service, *rest: functions if service == "lambda" else known(service, *rest))
    monkeypatch.setenv("TRIGGER_FUNCTION_ARNS", f"{ARN}, {ARN}:other")
    settings.settings.cache_clear()
    yield functions
    settings.settings.cache_clear()


def test_the_function_is_handed_the_event_and_is_done_when_it_is_queued(
    world: World, triggers: Triggers, functions: Functions
) -> None:
    trigger = triggers.register("kv", HANDLER)

    triggers.put("A-17", {"left": 3})
    triggers.run()

    (said,) = functions.invoked
    assert (said["FunctionName"], said["InvocationType"]) == (ARN, "Event")
    payload = json.loads(said["Payload"])
    assert payload["type"] == "trigger.kv"
    assert payload["data"] == {
        "event": {"op": "insert", "collection": "stock", "key": "A-17", "value": {"left": 3}, "version": 1},
        "trigger_id": str(trigger.id),
        "handler_id": str(trigger.handler_id),
    }
    assert triggers.depth_in(payload["depth_token"]) == 1
    assert (world.count("outbox"), world.dead_letters()) == (0, [])


@pytest.mark.parametrize(
    "error",
    [
        refusal(429, "TooManyRequestsException"),
        refusal(500, "ServiceException"),
        refusal(502, "EC2ThrottledException"),
        refusal(403, "ExpiredTokenException"),
        EndpointConnectionError(endpoint_url="https://lambda"),
    ],
)
def test_what_may_pass_is_tried_again(error: Exception, world: World, triggers: Triggers, functions: Functions) -> None:
    triggers.register("kv", HANDLER, retry={"max_attempts": 3, "backoff": "constant", "base_ms": 1_000})
    triggers.put()

    functions.fail(error)
    triggers.run()
    assert [one["attempt_count"] for one in triggers.waiting()] == [1]
    functions.answer = lambda: {"StatusCode": 202}
    triggers.later(seconds=1)
    triggers.run()

    assert (len(functions.invoked), triggers.waiting(), world.dead_letters()) == (2, [], [])


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "ResourceNotFoundException"), (403, "AccessDeniedException"), (413, "RequestTooLargeException"), (400, "Bad")],
)
def test_what_lambda_refuses_is_a_dead_letter_at_once(
    status: int, code: str, world: World, triggers: Triggers, functions: Functions
) -> None:
    triggers.register("kv", HANDLER)
    functions.fail(refusal(status, code))

    triggers.put()
    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["provider_code"]) == ("permanent", code)
    assert (len(functions.invoked), letter["final_attempt_count"]) == (1, 1)


def test_anything_but_202_is_no_success(world: World, triggers: Triggers, functions: Functions) -> None:
    triggers.register("kv", HANDLER, retry=ONCE)
    functions.answer = lambda: {"StatusCode": 200}

    triggers.put()
    triggers.run()

    assert [one["failure_classification"] for one in world.dead_letters()] == ["exhausted"]


def test_a_function_that_is_no_longer_on_the_list_is_not_invoked(
    world: World, triggers: Triggers, functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    triggers.register("kv", HANDLER)
    triggers.put()
    monkeypatch.setenv("TRIGGER_FUNCTION_ARNS", f"{ARN}:other")
    settings.settings.cache_clear()

    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], functions.invoked) == ("function_not_allowed", [])
    assert "TriggerFunctionArns" in letter["recovery_hint"]


def test_the_client_tries_nothing_twice_and_does_not_wait_for_ever(work_queue: object) -> None:
    config = aws.client("lambda").meta.config

    assert (config.retries["total_max_attempts"], config.connect_timeout, config.read_timeout) == (1, 2, 8)
