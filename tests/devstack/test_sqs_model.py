"""Whatever is done to a queue of the local SQS, in whatever order, it agrees with a list that is kept the slow way."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from devstack.sqs.drafts import Draft
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.queues import Queues
from tests.devstack.local_sqs import SetClock

MAX_RECEIVES = 3
RETENTION = 3_600
POLICY = '{"deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:dead", "maxReceiveCount": 3}'


@dataclass
class Known:
    sent_at: float
    free_at: float
    receives: int = 0
    handle: str = ""


class TwoAccounts(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "sqs.sqlite3"
        self.clock = SetClock()
        self.known: dict[str, Known] = {}
        self.dead: set[str] = set()
        self.open()

    def open(self) -> None:
        self.file = QueueFile(self.path)
        self.queues = Queues(self.file, self.clock)
        self.queues.create("dead", {}, {})
        self.queues.create("work", {"RedrivePolicy": POLICY, "MessageRetentionPeriod": str(RETENTION)}, {})

    def teardown(self) -> None:
        self.file.close()
        self.folder.cleanup()

    def free(self) -> set[str]:
        return {key for key, each in self.known.items() if each.free_at <= self.clock.at}

    @rule(groups=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=40), delay=st.sampled_from([0, 0, 0, 7]))
    def send(self, groups: list[str | None], delay: int) -> None:
        for message in self.queues.send("work", [Draft("x", {}, group=group, delay=delay) for group in groups]):
            self.known[message.id] = Known(self.clock.at, self.clock.at + delay)

    @rule(limit=st.integers(1, 10), visibility=st.sampled_from([0, 5, 60]))
    def receive(self, limit: int, visibility: int) -> None:
        spent = {key for key in self.free() if self.known[key].receives >= MAX_RECEIVES}
        self.dead |= spent
        for key in spent:
            del self.known[key]

        found = self.queues.receive("work", limit, visibility=visibility, wait=0)

        assert {each.id for each in found} <= self.free()
        assert len({each.id for each in found}) == len(found) == min(limit, len(self.free()))
        for message in found:
            known = self.known[message.id]
            known.receives += 1
            known.free_at, known.handle = self.clock.at + visibility, message.receipt_handle("work")
            assert message.receives == known.receives

    def one(self, which: int) -> str:
        return list(self.known)[which % len(self.known)]

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 1_000))
    def delete(self, which: int) -> None:
        key = self.one(which)
        if handle := self.known[key].handle:
            assert self.queues.delete_messages("work", [handle]) == [None]
            del self.known[key]

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 1_000), seconds=st.sampled_from([0, 3, 30]))
    def change_visibility(self, which: int, seconds: int) -> None:
        known = self.known[self.one(which)]
        if known.handle:
            [refusal] = self.queues.change_visibility("work", [(known.handle, seconds)])
            is_in_flight = known.free_at > self.clock.at
            assert (refusal is None) == is_in_flight
            known.free_at = self.clock.at + seconds if is_in_flight else known.free_at

    @rule(seconds=st.sampled_from([1, 5, 60, 1_000]))
    def let_time_pass(self, seconds: int) -> None:
        self.clock.advance(seconds)
        self.known = {key: each for key, each in self.known.items() if each.sent_at + RETENTION > self.clock.at}

    @rule()
    def restart(self) -> None:
        self.file.close()
        self.open()
        for known in self.known.values():
            known.free_at = min(known.free_at, self.clock.at) if known.receives else known.free_at

    @invariant()
    def both_count_the_same(self) -> None:
        shown = self.queues.attributes("work")
        free = len(self.free())
        held = sum(each.free_at > self.clock.at and each.receives > 0 for each in self.known.values())
        assert int(shown["ApproximateNumberOfMessages"]) == free
        assert int(shown["ApproximateNumberOfMessagesNotVisible"]) == held
        assert int(shown["ApproximateNumberOfMessagesDelayed"]) == len(self.known) - free - held
        assert int(self.queues.attributes("dead")["ApproximateNumberOfMessages"]) == len(self.dead)


TwoAccounts.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestTwoAccounts = TwoAccounts.TestCase
