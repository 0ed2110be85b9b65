"""A worker, and the hold it has on what one claim of its brought."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from tocsin.channels.ways import PROVIDER_TIMEOUT, Ways
from tocsin.delivery.counting import Count, uncounted
from tocsin.delivery.prepare import Policy
from tocsin.foundation.calls import Calls
from tocsin.foundation.database import Insist
from tocsin.store.rows import Lane

BATCH_SIZE = 100
CALLING = frozenset({"webhook", "trigger"})  # the queues whose work is calls to others
SETTLE_TIME = timedelta(seconds=5)  # kept free at the end of an invocation for recording what was answered


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker brings along. `remaining` says how much of the invocation is left, `insist` records answers even if the
    connection dies (without it they are recorded on the connection at hand), `count` adds to a metric.

    With a `queue` it goes on with whatever is due there, and leaves to others what follows for their queues. Without one it
    serves what it is asked to, with all that follows from it, and nothing else.

    Without `ways` and `policy` it delivers nothing. `longest_call` is how long one call to somebody else may take: nothing is
    begun for which that time is not left."""

    ways: Ways | None
    lease: timedelta
    policy: Policy | None
    remaining: Callable[[], timedelta]
    batch_size: int = BATCH_SIZE
    insist: Insist | None = None
    queue: str | None = None
    count: Count = uncounted
    calls: Calls = field(default_factory=Calls)
    longest_call: timedelta = PROVIDER_TIMEOUT
    cursor_token: UUID = field(default_factory=uuid4)  # of the fan-out: the same if the work is repeated on another connection

    @property
    def next_size(self) -> int:
        """How much to take on next: no more than there is room for, where each piece is a call."""
        return min(self.batch_size, self.calls.room) if self.queue in CALLING else self.batch_size

    def has_time(self) -> bool:
        return self.remaining() >= self.longest_call + SETTLE_TIME

    def take_hold(self) -> "Hold":
        now = time.monotonic()
        time_to_send = min(self.lease, self.remaining()) - self.longest_call - SETTLE_TIME
        return Hold(self, uuid4(), now, now + time_to_send.total_seconds())


@dataclass(frozen=True, slots=True)
class Hold:
    """One claim: the token that fences all that is written under it, when it began and until when something may be sent, on this
    process's monotonic clock, and the lanes that were in trouble then."""

    worker: Worker
    lease_token: UUID
    since: float
    send_until: float
    troubled: dict[str, Lane] = field(default_factory=dict)
