"""The local stack's SQS: ten messages through a queue where 20,000 of the same group wait, against one where ten do."""

import tempfile
import time
from pathlib import Path
from typing import Any

from bench.ground import ROOT, Ground
from bench.report import Result, compared
from bench.rounds import Contestant, interleaved
from devstack.aws import LocalAws
from devstack.state import State

DEEP, SHALLOW = 20_000, 10
ROUNDS = 60
BATCH = [{"Id": str(n), "MessageBody": "x" * 200, "MessageGroupId": "acme"} for n in range(10)]
QUEUE = {"VisibilityTimeout": "900"}


def measure(ground: Ground) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / ".local") as folder:
        state = State(Path(folder))
        state.open()
        aws = LocalAws(state)
        try:
            aws.start()
            seen = interleaved({str(depth): _cycle_at(aws, depth) for depth in (SHALLOW, DEEP)}, rounds=ROUNDS)
        finally:
            aws.stop()
            state.close()
    name = f"local SQS: send, receive, delete ten, {DEEP:,} waiting"
    return [compared(name, seen[str(DEEP)], "ms", f"{SHALLOW} waiting", seen[str(SHALLOW)], "<= 1.3")]


def _cycle_at(aws: LocalAws, depth: int) -> Contestant:
    sqs: Any = aws.client("sqs")
    url = sqs.create_queue(QueueName=f"depth-{depth}", Attributes=QUEUE)["QueueUrl"]
    for _ in range(depth // len(BATCH)):
        sqs.send_message_batch(QueueUrl=url, Entries=BATCH)

    def cycle() -> float:
        started = time.perf_counter()
        sqs.send_message_batch(QueueUrl=url, Entries=BATCH)
        messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=len(BATCH))["Messages"]
        handles = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
        sqs.delete_message_batch(QueueUrl=url, Entries=handles)
        assert len(messages) == len(BATCH)
        return (time.perf_counter() - started) * 1000

    return cycle
