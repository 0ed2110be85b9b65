"""One call, from its first try to its answer or its end. It says what to do next and is told what came of it. Pure."""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import httpx

from tocsin_client.problems import ConnectionFailed, Problem, TocsinError, UnexpectedAnswer, problem_of
from tocsin_client.request import Answer, Call, Request
from tocsin_client.retries import Retries, retry_after
from tocsin_client.settings import Settings

T = TypeVar("T")

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_FOR_GOOD = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Outcome: TypeAlias = httpx.Response | httpx.RequestError | None
Conversation: TypeAlias = Generator[Request | Pause, Outcome, T]


def converse(
    call: Call[T], *, settings: Settings, retries: Retries, clock: Callable[[], float], chance: Callable[[], float]
) -> Conversation[T]:
    """Yields the request, or how long to wait; is sent the response, or why there is none. The key is in no message."""
    request, began, tried, is_in_doubt = call.request, clock(), 0, False
    while True:
        outcome = yield request
        tried += 1
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            return _read(call, outcome, tried)
        fault = _signed(_fault(request, outcome, settings), request, tried)
        wait = retries.pause(fault, is_repeatable=request.is_repeatable, tried=tried, elapsed=clock() - began, chance=chance())
        is_in_doubt = is_in_doubt or _leaves_doubt(fault)
        if wait is None:
            if isinstance(fault, ConnectionFailed):
                fault.was_surely_not_taken = not is_in_doubt
            raise fault from (outcome if isinstance(outcome, Exception) else None)
        yield Pause(wait)


def _read(call: Call[T], response: httpx.Response, tried: int) -> T:
    answer = Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content)
    try:
        return call.read(answer)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        kind = answer.headers.get("content-type", "something of no type")
        message = (
            f"{call.request.method} {call.request.path} was answered with {response.status_code} and {kind}, "
            "which cannot be read. Is a Tocsin stack at this address?"
        )
        raise _signed(UnexpectedAnswer(message), call.request, tried) from error


def _fault(request: Request, outcome: Outcome, settings: Settings) -> TocsinError:
    if not isinstance(outcome, httpx.Response):
        return _no_connection(request, outcome)
    headers = {name.lower(): value for name, value in outcome.headers.items()}
    if outcome.has_redirect_location:
        return _redirect(outcome.status_code, headers)
    request_id = headers.get("x-request-id") or headers.get("apigw-requestid")
    body = _json(settings.without_key(outcome.content))
    return problem_of(outcome.status_code, body, request_id=request_id, retry_after=retry_after(headers))


def _redirect(status: int, headers: dict[str, str]) -> Problem:
    where = headers["location"].split("?")[0]
    detail = f"It leads to {where}. Redirects are not followed, because the key would go along. Is the address right?"
    return Problem(status, "redirected", "The answer is a redirect", detail)


def _no_connection(request: Request, error: httpx.RequestError | None) -> ConnectionFailed:
    fault = ConnectionFailed(f"{request.method} {request.path}: {_why(error)}")
    fault.was_surely_not_taken = isinstance(error, _NEVER_SENT)
    fault.may_pass = not isinstance(error, _FOR_GOOD) and "CERTIFICATE_VERIFY_FAILED" not in str(error)
    return fault


def _why(error: httpx.RequestError | None) -> str:
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        return f"no connection was made ({error or type(error).__name__})"
    if isinstance(error, httpx.TimeoutException):
        return f"there was no answer in time ({type(error).__name__})"
    return f"the connection broke ({str(error) or type(error).__name__})"


def _leaves_doubt(fault: TocsinError) -> bool:
    if isinstance(fault, ConnectionFailed):
        return not fault.was_surely_not_taken
    return isinstance(fault, Problem) and fault.status >= 500


def _signed(fault: TocsinError, request: Request, tried: int) -> TocsinError:
    """With what its reader needs to go on."""
    fault.idempotency_keys, fault.event_id, fault.tries = request.idempotency_keys, request.event_id, tried
    return fault


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
