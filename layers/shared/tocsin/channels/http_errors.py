"""What an HTTP answer means for the message. Ambiguous unless it is on the list of what is sure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import http_client
from tocsin.foundation.http_client import Reply

QUOTA_PAUSE = timedelta(minutes=10)
_REQUEST_IDS = ("x-request-id", "twilio-request-id", "x-message-id")

T, H, P, C, A = (
    FailureClass.TRANSIENT,
    FailureClass.THROTTLED,
    FailureClass.PERMANENT,
    FailureClass.CONFIGURATION,
    FailureClass.AMBIGUOUS,
)

# Where the provider's own code says nothing better. 500, 502, 504 and whatever is not here: it may have been accepted.
BY_STATUS = {
    301: C,  # a redirect that keeps the method: there is nobody at this address to accept anything
    307: C,
    308: C,
    400: P,
    401: C,
    403: C,
    404: C,
    405: C,
    406: C,
    413: P,
    415: C,
    422: P,
    429: H,
    503: T,
}


def ask(url: str, *, headers: dict[str, str], body: bytes, timeout: float, allow_private: bool) -> Reply | Failure:
    """The provider's answer, or what its absence means."""
    try:
        return http_client.post(url, headers=headers, body=body, timeout=timeout, allow_private=allow_private)
    except http_client.WebFailure as failure:
        if failure.code == "denied_url":
            return _bad_configuration()
        kind = A if failure.phase == "sent" else T
        return Failure(kind, failure.code, failure.message, timed_out=failure.code == "timeout")
    except ValueError:
        return _bad_configuration()
    except Exception as error:  # every way to fail has a class
        return Failure(A, type(error).__name__, "")


def _bad_configuration() -> Failure:
    # Everything but the configuration was made by us, and can be written.
    return Failure(C, "BadConfiguration", "the credentials or the address cannot be part of a request")


def failure(reply: Reply, code: str, words: str, by_code: Mapping[str, FailureClass], *, recipient: str) -> Failure:
    """The class of an answer that accepts nothing. The recipient's address does not get into the message."""
    return Failure(
        by_code.get(code) or BY_STATUS.get(reply.status, A),
        code or f"HTTP {reply.status}",
        (words.replace(recipient, "[recipient]") if recipient else words)[:500],
        retry_after=retry_after(reply.headers),
    )


def of_preparation(failure: Failure) -> Failure:
    """A failure of a step that sends nothing (getting a token): never ambiguous, and never the message's fault."""
    return replace(failure, kind={A: T, P: C}.get(failure.kind, failure.kind))


def not_configured(what: str) -> Failure:
    return Failure(C, "NotConfigured", what)


def answered(reply: Reply) -> dict[str, Any]:
    """The JSON object of an answer, empty when there is none."""
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def said(reply: Reply, *more: str) -> str:
    """An answer that accepts, in a line: nothing of it names the recipient."""
    request_id = next((reply.headers[name] for name in _REQUEST_IDS if name in reply.headers), "")
    parts = (f"HTTP {reply.status}", *more, f"request {request_id}" if request_id else "")
    return ", ".join(part[:200] for part in parts if part)


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    value = headers.get("retry-after", "")
    return timedelta(seconds=int(value)) if value.isascii() and value.isdigit() and len(value) <= 6 else None
