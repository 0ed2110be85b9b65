"""What a call of the local SQS costs does not depend on how many messages there are: counted in steps, not in seconds."""

import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest

from devstack.sqs.drafts import Draft
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.queues import Queues
from tests.devstack.local_sqs import SetClock

FEW, MANY = 20, 20_000
ROUNDS = 11
DRAFTS: dict[str, Callable[[int], Draft]] = {
    "without a group": lambda n: Draft("x", {}),
    "of one group": lambda n: Draft("x", {}, group="flood"),
    "each of its own group": lambda n: Draft("x", {}, group=f"tenant-{n}"),
    "of ten groups": lambda n: Draft("x", {}, group=f"tenant-{n % 10}"),
}


class Counted:
    """One queue, and the steps that each action took: lines of ours and instructions of SQLite's."""

    def __init__(self, folder: Path, depth: int, draft: Callable[[int], Draft]) -> None:
        self.draft = draft
        self.clock = SetClock()
        self.file = QueueFile(folder / f"{uuid4()}.sqlite3")
        self.queues = Queues(self.file, self.clock)
        self.queues.create("work", {}, {})
        self.steps: dict[str, list[int]] = {}
        self.queues.send("work", [draft(n) for n in range(depth)])

    def round(self) -> None:
        """Ten messages through the whole life of a message, at an unchanged depth."""
        self.clock.advance(0.01)
        with self.counting("send"):
            self.queues.send("work", [self.draft(n) for n in range(10)])
        with self.counting("receive"):
            messages = self.queues.receive("work", 10, visibility=60, wait=0)
        assert len(messages) == 10
        handles = [each.receipt_handle("work") for each in messages]
        with self.counting("change visibility"):
            assert not any(self.queues.change_visibility("work", [(handle, 90) for handle in handles]))
        with self.counting("count"):
            self.queues.attributes("work")
        with self.counting("delete"):
            assert not any(self.queues.delete_messages("work", handles))

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(counts) for name, counts in self.steps.items()}

    @contextmanager
    def counting(self, name: str) -> Iterator[None]:
        steps = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal steps
            if "/devstack/sqs/" not in frame.f_code.co_filename:
                return None
            steps += event == "line"
            return trace

        def instruction() -> int:
            nonlocal steps
            steps += 1
            return 0

        before = sys.gettrace()
        self.file._conn.set_progress_handler(instruction, 1)
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)
            self.file._conn.set_progress_handler(None, 0)
            self.steps.setdefault(name, []).append(steps)


Fill = Callable[[int, str], Counted]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Fill]:
    with ExitStack() as files:

        def fill(depth: int, kind: str) -> Counted:
            made = Counted(tmp_path, depth, DRAFTS[kind])
            files.callback(made.file.close)
            return made

        yield fill


@pytest.mark.parametrize("kind", DRAFTS)
def test_ten_messages_cost_the_same_among_twenty_thousand_as_among_twenty(filled: Fill, kind: str) -> None:
    few, many = filled(FEW, kind), filled(MANY, kind)

    for _ in range(ROUNDS):
        few.round()
        many.round()

    for name, cost in many.medians().items():
        assert cost <= 1.2 * few.medians()[name], name


@pytest.mark.parametrize("place", ["delayed", "in flight"])
def test_what_cannot_be_received_costs_nothing_either(filled: Fill, place: str) -> None:
    few, many = filled(FEW, "of one group"), filled(MANY, "of one group")
    for each, depth in ((few, FEW), (many, MANY)):
        if place == "in flight":
            each.queues.receive("work", depth, visibility=900, wait=0)
        else:
            each.queues.purge("work")
            each.queues.send("work", [Draft("x", {}, delay=900)] * depth)

    for _ in range(ROUNDS):
        few.round()
        many.round()

    for name, cost in many.medians().items():
        assert cost <= 1.2 * few.medians()[name], name


def test_emptying_a_queue_costs_as_much_for_each_message_however_many_there_are(filled: Fill) -> None:
    """All in all: the sweeps of the heaps, which come now and then, are in it."""
    costs = {}
    for depth in (MANY // 20, MANY // 2):
        each = filled(depth, "of ten groups")
        with each.counting("drain"):
            while messages := each.queues.receive("work", 10, visibility=60, wait=0):
                each.queues.delete_messages("work", [one.receipt_handle("work") for one in messages])
        costs[depth] = each.steps["drain"][0] / depth

    assert costs[MANY // 2] <= 1.2 * costs[MANY // 20]


def test_what_was_changed_again_and_again_leaves_nothing_behind(filled: Fill) -> None:
    each = filled(1, "of one group")
    [message] = each.queues.receive("work", 1, visibility=60, wait=0)
    changes = [(message.receipt_handle("work"), seconds % 100 + 1) for seconds in range(5_000)]

    assert not any(each.queues.change_visibility("work", changes))

    assert len(each.queues.find("work")._wakes) < 100


def noisy_groups(each: Counted, count: int) -> None:
    """Tenants who had 30 messages in flight while the queue was looked at, and of whom two wait still."""
    for n in range(count):
        each.queues.send("work", [Draft("x", {}, group=f"noisy-{n}")] * 32)
        held = [message for _ in range(3) for message in each.queues.receive("work", 10, visibility=60, wait=0)]
        each.queues.send("work", [Draft("x", {})])
        held += each.queues.receive("work", 1, visibility=60, wait=0)
        assert {message.group for message in held} == {f"noisy-{n}", None}
        assert not any(each.queues.delete_messages("work", [message.receipt_handle("work") for message in held]))


def test_a_receive_costs_the_same_however_many_tenants_are_noisy(filled: Fill) -> None:
    few, many = filled(0, "of one group"), filled(0, "of one group")
    noisy_groups(few, 10)
    noisy_groups(many, 300)
    for each in (few, many):
        with each.counting("receive"):
            found = each.queues.receive("work", 10, visibility=60, wait=0)
        assert [message.group for message in found] == [f"noisy-{n}" for n in range(10)], "whoever has the least in flight"

    assert many.steps["receive"][0] <= 1.2 * few.steps["receive"][0]
