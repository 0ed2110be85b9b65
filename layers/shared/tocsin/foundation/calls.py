"""Calls to other people's servers: each in a thread, settled when its answer comes, so that a slow one keeps nobody waiting."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.foundation.database import Insist
from tocsin.foundation.due import Due

MOST_CALLS = 32  # under way in one worker
MOST_PER_ENDPOINT = 5  # of them to one endpoint
MOST_PER_OWNER = 24  # of them for one tenant, however many endpoints of its own hang

log = Logger(child=True)

Answered = list[tuple[Any, Any]]  # what each call was about, and its answer
Settle = Callable[[Connection[Any], Answered], list[Due]]


@dataclass(frozen=True, slots=True)
class OutboundCall:
    """`ask` is run in a thread, bounds its own time and returns an answer whatever happens; `settle` records the answers to calls
    of its kind, on the worker's connection, and returns what is due after them."""

    endpoint: str
    about: Any
    ask: Callable[[], Any]
    settle: Settle
    owner: UUID | None = None  # the tenant for whom it is made


class Calls:
    """Of one worker, for one invocation. What is under way when that ends badly comes back when its lease has lapsed."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._under_way: dict[Future[Any], OutboundCall] = {}

    @property
    def are_under_way(self) -> bool:
        return bool(self._under_way)

    @property
    def room(self) -> int:
        return MOST_CALLS - len(self._under_way)

    def has_room_for(self, endpoint: str, most: int = MOST_PER_ENDPOINT, *, owner: UUID | None = None) -> bool:
        busy = Counter(call.endpoint for call in self._under_way.values())
        owned = sum(call.owner == owner for call in self._under_way.values()) if owner else 0
        return self.room > 0 and busy[endpoint] < most and owned < MOST_PER_OWNER

    def start(self, call: OutboundCall) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="call")
        self._under_way[self._threads.submit(call.ask)] = call

    def settle(self, conn: Connection[Any], *, patience: float, insist: Insist | None = None) -> list[Due]:
        """Record the answers that are there, or the first that come within so many seconds; through `insist`, if given, even if
        the connection dies. Returns what is due after them. What could not be recorded is kept for the next time."""
        done, _ = wait(self._under_way, timeout=patience, return_when=FIRST_COMPLETED)
        answered: dict[Settle, list[Future[Any]]] = {}
        for future in done:
            if error := future.exception():
                log.error("a call failed for a reason of our own", exc_info=error)  # the lease brings its work back
                del self._under_way[future]
            else:
                answered.setdefault(self._under_way[future].settle, []).append(future)
        due: list[Due] = []
        for settle, futures in answered.items():
            answers = [(self._under_way[one].about, one.result()) for one in futures]
            made: list[list[Due]] = []
            (insist or (lambda record: record(conn)))(lambda conn: made.append(settle(conn, answers)))  # noqa: B023 - run at once
            due += made[-1]
            for one in futures:
                del self._under_way[one]
        return due
