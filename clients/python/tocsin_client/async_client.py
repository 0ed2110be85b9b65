"""The client for programs on asyncio."""

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import httpx

from tocsin_client import calls, listings, settings
from tocsin_client.conversation import Outcome, Pause, converse
from tocsin_client.methods import async_method, async_rows
from tocsin_client.request import Call, Request
from tocsin_client.retries import Retries
from tocsin_client.transport import SECONDS, headers_of, timeout_of

T = TypeVar("T")


class AsyncTocsin:
    """`Tocsin` with calls that are awaited, and lists for `async for`."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = SECONDS,
        retries: Retries | None = None,
        allow_http: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        found = settings.resolve(url, key, allow_http=allow_http, env=os.environ)
        self._settings, self._timeout, self._retries = found, timeout, retries or Retries()
        self._sleep, self._clock, self._chance = sleep, clock, chance
        self._http = httpx.AsyncClient(base_url=found.url, headers=headers_of(found.key), transport=transport)
        self.users = AsyncUsers(self)
        self.tokens = AsyncTokens(self)
        self.notifications = AsyncNotifications(self)

    send = async_method(calls.send)
    send_batch = async_method(calls.send_batch)
    event = async_method(calls.event)
    cancel = async_method(calls.cancel)
    explain = async_method(calls.explain)
    request = async_method(calls.request)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.url!r})"

    async def _run(self, call: Call[T]) -> T:
        talk = converse(call, settings=self._settings, retries=self._retries, clock=self._clock, chance=self._chance)
        step = next(talk)
        while True:
            outcome = await self._do(step)
            try:
                step = talk.send(outcome)
            except StopIteration as end:
                answer: T = end.value
                return answer

    async def _do(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            await self._sleep(step.seconds)
            return None
        try:
            return await self._http.request(
                step.method,
                step.path,
                params=step.query or None,  # an empty one would take away what the path has
                headers=step.headers,
                content=step.content,
                timeout=timeout_of(step, self._timeout),
            )
        except httpx.RequestError as error:
            return error


class _AsyncPart:
    """A group of calls of a client."""

    def __init__(self, client: AsyncTocsin) -> None:
        self._client = client

    async def _run(self, call: Call[T]) -> T:
        return await self._client._run(call)


class AsyncUsers(_AsyncPart):
    put = async_method(calls.put_user)
    patch = async_method(calls.patch_user)
    get = async_method(calls.get_user)
    erase = async_method(calls.erase_user)
    list = async_rows(listings.list_users)


class AsyncTokens(_AsyncPart):
    create = async_method(calls.create_token)


class AsyncNotifications(_AsyncPart):
    list = async_rows(listings.list_notifications)
