"""What can go wrong, as exceptions. Pure."""

from http import HTTPStatus
from typing import Any

from tocsin_client.remarks import Remark, remarks


class TocsinError(Exception):
    """Everything that this package raises of its own. `idempotency_keys` are those of the sends that failed (one, or a batch's),
    and `event_id` the event's: with the same ones the caller can go on later. `tries` is how often it was tried."""

    idempotency_keys: tuple[str, ...] = ()
    event_id: str | None = None
    tries: int = 0

    @property
    def idempotency_key(self) -> str | None:
        """The key of a single send."""
        return self.idempotency_keys[0] if len(self.idempotency_keys) == 1 else None


class NotConfigured(TocsinError):
    """No address, no key, or one that cannot be used. Whoever sets the program up acts on it."""


class WebhookRefused(TocsinError):
    """The message is not one that a holder of the secret has just signed. Answer 401, and do nothing else."""


class ConnectionFailed(TocsinError):
    """No answer came, after all tries. `was_surely_not_taken`: no try reached the service; else it may have been done.
    `may_pass` is False where another try would end the same way, as with a certificate that is not valid."""

    was_surely_not_taken: bool = False
    may_pass: bool = True


class UnexpectedAnswer(TocsinError):
    """A success that cannot be read: perhaps something else answers at this address."""


class Problem(TocsinError):
    """The service says no. `kind` is the stable word for why, `errors` are the fields; `retry_after` is in seconds."""

    def __init__(
        self,
        status: int,
        kind: str,
        title: str,
        detail: str = "",
        errors: tuple[Remark, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, kind, title, detail, errors, request_id, retry_after)  # which is what a pickle keeps
        self.status = status
        self.kind = kind
        self.title = title
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        parts = [
            f"{self.title} ({self.status}{' ' if self.kind else ''}{self.kind}).",
            self.detail if self.detail.endswith((".", "?", "!")) or not self.detail else f"{self.detail}.",
            self._first_error(),
            f"[request {self.request_id}]" if self.request_id else "",
        ]
        return " ".join(part for part in parts if part)

    def _first_error(self) -> str:
        """Nothing where the detail says it already."""
        if not self.errors or (self.errors[0].pointer in self.detail and self.errors[0].message in self.detail):
            return ""
        more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
        return f"{self.errors[0]}{more}."


class InvalidRequest(Problem):
    """400, 413, 415, 422: said again it will be refused again. Whoever wrote the call acts on it."""


class Unauthorized(Problem):
    """401: the key is missing, wrong, expired or revoked."""


class Forbidden(Problem):
    """403: the key lacks a scope, or its tenant is suspended."""


class NotFound(Problem):
    """404."""


class Conflict(Problem):
    """409, 412: it does not fit with what is there."""


class RateLimited(Problem):
    """429, still after all tries: nothing was stored. `retry_after` is when to come again."""


class Unavailable(Problem):
    """5xx, still after all tries: it may have been done. Go on later with the same key."""


_CLASSES: dict[int, type[Problem]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def problem_of(status: int, body: Any, *, request_id: str | None = None, retry_after: float | None = None) -> Problem:
    """The problem that a body describes (RFC 9457); where something on the way answered instead, what there is of it."""
    found = body if isinstance(body, dict) else {}
    said = found.get("detail") or found.get("message") or ""
    return _CLASSES.get(status, Unavailable if status >= 500 else Problem)(
        status,
        _kind(found.get("type")),
        str(found.get("title") or _phrase(status)),
        str(said),
        remarks(found.get("errors")),
        str(found.get("request_id") or request_id or "") or None,
        retry_after,
    )


def _kind(type_: Any) -> str:
    """What stands after the `#` of a problem's type; a bare word is taken as it is."""
    text = type_ if isinstance(type_, str) and type_ != "about:blank" else ""
    return text.rpartition("#")[2]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"
