"""The bus of the template, alive: every event reaches the intake queue, once, whatever its kind."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from devstack import template
from devstack.aws import LocalAws
from devstack.state import State

TEMPLATE = Path(__file__).parents[2] / "template.yaml"


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[LocalAws]:
    state = State(tmp_path)
    with ExitStack() as cleanup:
        state.open()
        cleanup.callback(state.close)
        made = LocalAws(state)
        cleanup.callback(made.stop)
        made.start()
        made.create(template.read(TEMPLATE, {"EmailFrom": "us@example.com"}, {}, endpoint=made.url))
        yield made


def put(aws: LocalAws, *kinds: str) -> None:
    entries = [
        {"EventBusName": "tocsin-local", "Source": "shop", "DetailType": kind, "Detail": json.dumps({"kind": kind})}
        for kind in kinds
    ]
    assert aws.client("events").put_events(Entries=entries)["FailedEntryCount"] == 0


def received(aws: LocalAws) -> list[dict[str, Any]]:
    """Everything in the intake queue, oldest first."""
    sqs = aws.client("sqs")
    url = sqs.get_queue_url(QueueName="tocsin-local-intake")["QueueUrl"]
    found: list[dict[str, Any]] = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        found += [json.loads(each["Body"]) for each in messages]
    return found


def test_an_intent_and_a_domain_event_each_reach_the_intake_queue_once(aws: LocalAws) -> None:
    put(aws, "tocsin.intent", "issue.commented", "tocsin.intents", "Tocsin.Intent")

    events = received(aws)

    assert sorted(each["detail-type"] for each in events) == [
        "Tocsin.Intent",
        "issue.commented",
        "tocsin.intent",
        "tocsin.intents",
    ]
    assert all(each["detail"] == {"kind": each["detail-type"]} for each in events)
    assert {"id", "source", "time", "detail-type", "detail"} <= set(events[0])
