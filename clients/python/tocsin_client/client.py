"""The client for programs that wait for each call."""

import os
import random
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

import httpx

from tocsin_client import calls, listings, settings
from tocsin_client.conversation import Outcome, Pause, converse
from tocsin_client.methods import method, rows
from tocsin_client.request import Call, Request
from tocsin_client.retries import Retries
from tocsin_client.transport import SECONDS, headers_of, timeout_of

T = TypeVar("T")


class Tocsin:
    """Calls a Tocsin stack. Make one for the whole program and share it: it keeps connections, and threads may use it at once.

    `url` and `key` are those given, else TOCSIN_URL and TOCSIN_KEY. `timeout` is how many seconds one try may take to answer,
    `retries` how often and how long is tried. `transport` is httpx's: for a proxy, a certificate of one's own, or a test.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = SECONDS,
        retries: Retries | None = None,
        allow_http: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        found = settings.resolve(url, key, allow_http=allow_http, env=os.environ)
        self._settings, self._timeout, self._retries = found, timeout, retries or Retries()
        self._sleep, self._clock, self._chance = sleep, clock, chance
        self._http = httpx.Client(base_url=found.url, headers=headers_of(found.key), transport=transport)
        self.users = Users(self)
        self.tokens = Tokens(self)
        self.notifications = Notifications(self)

    send = method(calls.send)
    send_batch = method(calls.send_batch)
    event = method(calls.event)
    cancel = method(calls.cancel)
    explain = method(calls.explain)
    request = method(calls.request)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.url!r})"

    def _run(self, call: Call[T]) -> T:
        talk = converse(call, settings=self._settings, retries=self._retries, clock=self._clock, chance=self._chance)
        step = next(talk)
        while True:
            outcome = self._do(step)
            try:
                step = talk.send(outcome)
            except StopIteration as end:
                answer: T = end.value
                return answer

    def _do(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            self._sleep(step.seconds)
            return None
        try:
            return self._http.request(
                step.method,
                step.path,
                params=step.query or None,  # an empty one would take away what the path has
                headers=step.headers,
                content=step.content,
                timeout=timeout_of(step, self._timeout),
            )
        except httpx.RequestError as error:
            return error


class _Part:
    """A group of calls of a client."""

    def __init__(self, client: Tocsin) -> None:
        self._client = client

    def _run(self, call: Call[T]) -> T:
        return self._client._run(call)


class Users(_Part):
    put = method(calls.put_user)
    patch = method(calls.patch_user)
    get = method(calls.get_user)
    erase = method(calls.erase_user)
    list = rows(listings.list_users)


class Tokens(_Part):
    create = method(calls.create_token)


class Notifications(_Part):
    list = rows(listings.list_notifications)
