"""HTTP: calls with the key and the person's name, retries of what may be repeated, pages to the end, problems as exceptions."""

import email.utils
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from tocsin_cli import __version__
from tocsin_cli.config import Target, travels_in_clear
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused, unreachable

TRIES = 5
LONGEST_WAIT = 60.0  # seconds for which a Retry-After is obeyed; a longer one is told instead
_FIRST_WAIT, _WAITS_DOUBLE_UP_TO = 0.5, 15.0
_SECONDS = 35.0  # above the 30 that API Gateway gives a function
_PAGE = 200
_ADMIN = ("/v1/api-keys", "/v1/tenants", "/v1/audit-log", "/v1/providers")
_IN_DOUBT = (500, 502, 503, 504)  # it may have been done: said again only where that does no harm


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any


class Client:
    def __init__(self, target: Target, *, say: Callable[[str], object], pause: Callable[[float], object]) -> None:
        self._target = target
        self._say = say
        self._pause = pause
        self._http = httpx.Client(base_url=target.url, timeout=httpx.Timeout(_SECONDS, connect=10), transport=transport())
        self._key = ""
        if travels_in_clear(target.url):
            say(f"{target.url} is not encrypted: the key can be read on its way.")

    def get(self, path: str, **params: Any) -> Any:
        return self.call("GET", path, params=params).body

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        seconds: float = _SECONDS,
        tries: int = TRIES,
        with_key: bool = True,
    ) -> Answer:
        """One call, and its answer if it is a success. `repeatable` says that twice does no more than once, as with an
        idempotency key; reading always is. What was surely not taken (429, no connection) is said again in any case."""
        is_repeatable = method in ("GET", "HEAD") if repeatable is None else repeatable
        sent = self._headers(path, headers, with_key=with_key)
        query = {name: _word(value) for name, value in (params or {}).items() if value is not None}
        for trial in range(1, tries + 1):
            wait, failure = self._try(method, path, body, query, sent, seconds, is_repeatable=is_repeatable, trial=trial)
            if isinstance(failure, Answer):
                return failure
            if wait is None or trial == tries:
                raise failure
            if wait > 3:
                self._say(f"{failure.message} Trying again in {wait:.0f} s.")
            self._pause(wait)
        raise AssertionError("unreachable")

    def pages(self, path: str, *, limit: int | None = None, **params: Any) -> Iterator[list[dict[str, Any]]]:
        """The rows of a list, page by page, to its end or to the limit."""
        left, cursor = limit, None
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            page = self.get(path, **params, limit=size, cursor=cursor)
            rows = page.get("data") or []
            yield rows
            left = None if left is None else left - len(rows)
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def rows(self, path: str, *, limit: int | None = None, **params: Any) -> list[dict[str, Any]]:
        return [row for page in self.pages(path, limit=limit, **params) for row in page]

    def _headers(self, path: str, more: Mapping[str, str] | None, *, with_key: bool) -> dict[str, str]:
        headers = {"User-Agent": f"tocsin-cli/{__version__}", "Accept": "application/json, application/problem+json"}
        if with_key:
            headers["Authorization"] = f"Bearer {self._key_for(path)}"
            if self._target.person:
                headers["Tocsin-Person"] = quote(self._target.person, safe="")
        return headers | dict(more or {})

    def _key_for(self, path: str) -> str:
        if self._target.admin_key and path.startswith(_ADMIN):
            return self._target.admin_key
        self._key = self._key or self._target.key()
        return self._key

    def _try(
        self,
        method: str,
        path: str,
        body: Any,
        query: dict[str, str],
        headers: dict[str, str],
        seconds: float,
        *,
        is_repeatable: bool,
        trial: int,
    ) -> tuple[float | None, Any]:
        """The answer, or what went wrong with how long to wait before the next try; None: there is no use in another."""
        usual = min(_FIRST_WAIT * 2 ** (trial - 1), _WAITS_DOUBLE_UP_TO) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads
        try:
            response = self._http.request(
                method,
                path,
                json=body if body is not None else None,
                params=query or None,  # an empty one would take away what the path has
                headers=headers,
                timeout=httpx.Timeout(seconds, connect=10),
            )
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeEncodeError) as error:
            raise Failed(f"The call cannot be made: {error}", Exit.USAGE) from None
        except httpx.TransportError as error:
            was_never_sent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
            failure = unreachable(self._target.url, _why(error))
            return (usual if is_repeatable or was_never_sent else None), failure
        if response.is_success:
            return None, Answer(response.status_code, response.headers, _json_of(response, self._target.url))
        refused = Refused(method, path, response.status_code, _problem(response), url=str(response.request.url))
        asked = retry_after(response.headers.get("retry-after", ""), datetime.now(UTC))
        if not _may_pass(response, is_repeatable=is_repeatable) or (asked is not None and asked > LONGEST_WAIT):
            return None, refused
        return max(usual, asked or 0.0), refused


def transport() -> httpx.BaseTransport | None:
    """How bytes travel. Tests put the service's own functions here."""
    return None


def path(pattern: str, *parts: str) -> str:
    """A path with words of the user's in it, each of them one segment: `path("/v1/users/{}", "a/b")`."""
    return pattern.format(*(quote(part, safe="") for part in parts))


def retry_after(text: str, now: datetime) -> float | None:
    """Seconds, or a date."""
    if text.strip().isascii() and text.strip().isdigit():
        return float(text.strip()[:9])
    try:
        return max(0.0, (email.utils.parsedate_to_datetime(text) - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _may_pass(response: httpx.Response, *, is_repeatable: bool) -> bool:
    if response.status_code == 429:
        return True  # it was not taken
    if response.status_code == 409:
        return is_repeatable and "retry-after" in response.headers  # a key in flight
    return is_repeatable and response.status_code in _IN_DOUBT


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _why(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it did not answer in time"
    if isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError)):
        return f"the connection broke ({error or type(error).__name__})"
    return str(error) or type(error).__name__


def _json_of(response: httpx.Response, url: str) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        kind = response.headers.get("content-type", "something of no type")
        raise Failed(f"{url} answered with {kind}, not with JSON. Is a Tocsin stack at this address?", Exit.UNREACHABLE) from None


def _problem(response: httpx.Response) -> dict[str, Any]:
    """The problem; where API Gateway or something on the way answered instead, what there is of it."""
    try:
        found = response.json()
    except ValueError:
        found = None
    if isinstance(found, dict) and ("detail" in found or "title" in found):
        return found
    said = found.get("message") if isinstance(found, dict) else None
    return {"title": response.reason_phrase or "Refused", "detail": str(said or f"It answered {response.status_code}.")}
