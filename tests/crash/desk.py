"""A provider in this process whose hand the test can hold: it keeps a ledger, and may be stopped in the middle of a send."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

from psycopg import Connection

from tests.crash.waiting import wait_until
from tocsin.channels import Channel, Message, Ways
from tocsin.channels.sandbox import Sandbox
from tocsin.outcomes import Accepted, Outcome

Answer = Callable[[Message], Outcome | None]


class Desk:
    """A way out that writes down what it accepts, like the post office; `answer` may delay a send or fail it."""

    def __init__(self, channel: str = "email", answer: Answer | None = None) -> None:
        self.provider, self.lane = ("ses", "ses:email") if channel == "email" else ("sns", f"sns:{channel}")
        self.channel = channel
        self.answer = answer
        self.ledger: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def send(self, message: Message) -> Outcome:
        outcome = self.answer(message) if self.answer else None
        if outcome is not None and not isinstance(outcome, Accepted):
            return outcome
        with self._lock:
            message_id = f"{self.channel}-{len(self.ledger) + 1}"
            to = message.phone if self.channel == "sms" else message.email
            self.ledger.append({"channel": self.channel, "to": [to], "tags": message.tags, "message_id": message_id})
        return Accepted(message_id)


class Desks(Ways):
    """Ways out by channel. With a `pause`, the worker stops when it has claimed, and looked at nothing."""

    def __init__(self, *desks: Channel, pause: "Pause | None" = None) -> None:
        super().__init__({desk.lane.partition(":")[2]: desk for desk in desks}, Sandbox())
        self._pause = pause

    def prepare(self, conn: Connection[Any], tenant_ids: set[UUID]) -> None:
        if self._pause:
            self._pause()


class Pause:
    """Where one thread stops, once, until another lets it go on."""

    def __init__(self) -> None:
        self._reached, self._over = threading.Event(), threading.Event()

    def __call__(self, *_: Any) -> None:
        self._reached.set()
        assert self._over.wait(30), "nobody ended the pause"

    def wait_until_reached(self) -> None:
        assert self._reached.wait(30), "the worker did not come this far"

    def wait_until_reached_or(self, other: Callable[[], bool]) -> None:
        """Until the worker is here, or stands before something else."""
        wait_until(lambda: self._reached.is_set() or other())

    def end(self) -> None:
        self._over.set()


class Crew:
    """Workers on threads of their own; what one raises is raised again when it is joined."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._errors: list[BaseException] = []

    def start(self, work: Callable[[], object]) -> threading.Thread:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                self._errors.append(error)

        thread = threading.Thread(target=guarded, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def join(self) -> None:
        for thread in self._threads:
            wait_until(lambda thread=thread: not thread.is_alive(), 60)  # type: ignore[misc]
        if self._errors:
            raise self._errors[0]
