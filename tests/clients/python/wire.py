"""A line on which answers of ours come back, and a clock that nobody waits for."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import httpx

from tocsin_client import AsyncTocsin, Tocsin

URL = "https://tocsin.example"
KEY = "tcn_live_very-secret"
ACCEPTED = {"notification_id": "n-1", "status": "accepted", "accepted_at": "2026-11-17T10:00:00Z"}


@dataclass
class Clock:
    """Time passes by sleeping, and while an answer is waited for (`lag`)."""

    now: float = 1000.0
    lag: float = 0.0
    chance: float = 1.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@dataclass
class Wire:
    """Answers in the order given, the last one for ever. `calls` is what came."""

    clock: Clock = field(default_factory=Clock)
    answers: deque[Any] = field(default_factory=deque)
    calls: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request)
        self.clock.now += self.clock.lag
        answer = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        found: httpx.Response = answer() if callable(answer) else answer
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)

    def then(self, *answers: Any) -> "Wire":
        self.answers.extend(answers)
        return self


@dataclass
class Asker:
    """Either client, called by the name of a method: `ask("users.get", "ada")`. Lists are read to their end."""

    handler: Callable[[httpx.Request], httpx.Response]
    clock: Clock
    is_async: bool
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, name: str, *args: Any, **named: Any) -> Any:
        if self.is_async:
            return asyncio.run(self._awaited(name, args, named))
        with self.client() as client:
            found = attrgetter(name)(client)(*args, **named)
            return list(found) if name.endswith(".list") else found

    def client(self) -> Tocsin:
        return Tocsin(**self._given(), sleep=self.clock.sleep)

    async def _awaited(self, name: str, args: Any, named: Any) -> Any:
        async with AsyncTocsin(**self._given(), sleep=self.clock.sleep_async) as client:
            found = attrgetter(name)(client)(*args, **named)
            return [row async for row in found] if name.endswith(".list") else await found

    def _given(self) -> dict[str, Any]:
        clock = {"clock": lambda: self.clock.now, "chance": lambda: self.clock.chance}
        return {"url": URL, "key": KEY, "transport": httpx.MockTransport(self.handler)} | clock | self.options


def accepted(**more: Any) -> httpx.Response:
    return httpx.Response(202, json=ACCEPTED | more)


def problem(status: int, kind: str = "some-problem", headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    body = {"type": f"/errors#{kind}", "title": "It is so", "status": status, "detail": "Because.", "request_id": "r-1"} | more
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json"} | (headers or {}))
