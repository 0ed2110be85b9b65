"""The clock of the local cloud: fires what the template schedules, and never on top of itself."""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from devstack import cadence
from devstack.declared import Schedule
from devstack.environment import Outcome
from devstack.intrinsics import ACCOUNT, REGION

FIRST_AFTER = timedelta(seconds=2)  # a developer should not wait an hour to see the hourly function work
LOOK_SECONDS = 0.5
logger = logging.getLogger(__name__)

Invoke = Callable[[str, Any], Outcome]


@dataclass(slots=True)
class _Entry:
    schedule: Schedule
    cadence: cadence.Cadence
    due_at: datetime
    running: Future[None] | None = None


class Scheduler:
    """Looks at the clock twice a second; `tick` is the whole of it, for a clock of one's own."""

    def __init__(
        self,
        schedules: Iterable[Schedule],
        invoke: Invoke,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._clock = clock
        self._invoke = invoke
        first = clock() + FIRST_AFTER
        self._entries = [_Entry(each, cadence.read(each.expression), first) for each in schedules]
        self._workers = ThreadPoolExecutor(max_workers=max(1, len(self._entries)), thread_name_prefix="schedule")
        self._stopping = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="scheduler", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def tick(self) -> list[str]:
        """Fire what is due; returns the names of the schedules that fired."""
        now = self._clock()
        fired = []
        for entry in self._entries:
            if now < entry.due_at:
                continue
            entry.due_at = entry.cadence.next_after(now)
            # One that still runs misses its turn: the next one finds what this one would have found.
            if entry.running is None or entry.running.done():
                entry.running = self._workers.submit(self._fire, entry.schedule, now)
                fired.append(entry.schedule.name)
        return fired

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            self.tick()

    def _fire(self, schedule: Schedule, now: datetime) -> None:
        try:
            outcome = self._invoke(schedule.function, _event(schedule, now))
        except Exception:
            logger.exception("%s could not be invoked", schedule.function)
            return
        if outcome.error and not self._stopping.is_set():
            logger.warning("%s failed: %s", schedule.function, outcome.error.get("errorMessage"))


def _event(schedule: Schedule, now: datetime) -> dict[str, Any]:
    """What EventBridge Scheduler sends, unless the template says something else."""
    return schedule.event or {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{schedule.name}"],
        "detail": "{}",
    }
