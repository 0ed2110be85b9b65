"""One Lambda invocation in a process of its own, on the real handler, killed where the test says."""

import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    function: str
    event: Event
    environment: dict[str, str]
    log: Path
    kill_at: int | None = None
    counting: str = ""  # only boundaries with these words in their name
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)  # time limits of SDK clients: (connect, read)
    before: Callable[[], object] | None = None  # changes the process, for tests of what cannot be provoked from outside


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended: killed at a boundary, or with an answer, or with the text of what went wrong."""

    killed_at: str = ""
    answer: Event | None = None
    error: str = ""
    crossed: tuple[str, ...] = ()


class Context:
    """The part of Lambda's context that the handlers read."""

    aws_request_id = "crash"
    function_name = "crash"

    def __init__(self, seconds: float = 30) -> None:
        self._ends = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((self._ends - time.monotonic()) * 1000)


def run(job: Job, report: Connection) -> None:
    """The target of the child process."""
    with job.log.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ.update(job.environment)
    from tests.crash import recovery, warm
    from tests.crash.boundaries import Boundaries
    from tocsin.foundation import aws

    aws._LIMITS.update({"sqs": (5, 5)} | job.limits)  # SQS shares two cores with the tests: 0.3 s would be luck
    boundaries = Boundaries(job.kill_at, job.counting, lambda name: report.send(Ending(killed_at=name)))
    try:
        if job.before:
            job.before()
        if job.function == "recovery":
            answer = recovery.recover(warm.HANDLERS, **job.event)
        else:
            boundaries.install()
            answer = warm.HANDLERS[job.function](job.event, Context())
        report.send(Ending(answer=answer, crossed=tuple(boundaries.crossed)))
    except BaseException:
        report.send(Ending(error=traceback.format_exc(), crossed=tuple(boundaries.crossed)))
