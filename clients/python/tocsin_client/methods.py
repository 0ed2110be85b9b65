"""How a call becomes a method: once for those who wait for it, once for those who await it."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from tocsin_client.listings import Listing
from tocsin_client.request import Call

P = ParamSpec("P")
T = TypeVar("T")


class Runs(Protocol):
    def _run(self, call: Call[T]) -> T: ...


class RunsAsync(Protocol):
    async def _run(self, call: Call[T]) -> T: ...


def method(build: Callable[P, Call[T]]) -> Callable[Concatenate[Runs, P], T]:
    @wraps(build)
    def run(self: Runs, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(build(*args, **kwargs))

    return _with_self(run)


def async_method(build: Callable[P, Call[T]]) -> Callable[Concatenate[RunsAsync, P], Coroutine[Any, Any, T]]:
    @wraps(build)
    def run(self: RunsAsync, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._run(build(*args, **kwargs))

    return _with_self(run)


def rows(build: Callable[P, Listing[T]]) -> Callable[Concatenate[Runs, P], Iterator[T]]:
    def walk(self: Runs, listing: Listing[T] | None) -> Iterator[T]:
        while listing is not None:
            page = self._run(listing.call())
            yield from page.rows
            listing = listing.after(page)

    @wraps(build)
    def run(self: Runs, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return walk(self, build(*args, **kwargs))

    return _with_self(run)


def async_rows(build: Callable[P, Listing[T]]) -> Callable[Concatenate[RunsAsync, P], AsyncIterator[T]]:
    async def walk(self: RunsAsync, listing: Listing[T] | None) -> AsyncIterator[T]:
        while listing is not None:
            page = await self._run(listing.call())
            for row in page.rows:
                yield row
            listing = listing.after(page)

    @wraps(build)
    def run(self: RunsAsync, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return walk(self, build(*args, **kwargs))

    return _with_self(run)


F = TypeVar("F", bound=Callable[..., Any])


def _with_self(run: F) -> F:
    """`help()` shows the signature of what it was made of, as that of a method."""
    made_of = inspect.signature(run)
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    run.__signature__ = made_of.replace(  # type: ignore[attr-defined]
        parameters=[me, *made_of.parameters.values()], return_annotation=inspect.Signature.empty
    )
    return run
