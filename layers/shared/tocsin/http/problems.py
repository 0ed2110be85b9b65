"""Answers for what went wrong, as RFC 9457 problem details. Pure."""

from dataclasses import dataclass, field

from tocsin.foundation.field_errors import first_of
from tocsin.http.answers import ShownProblem

PAGE = "/errors"  # where an installation says what each kind means: problem_kinds.py


@dataclass(slots=True)
class Problem(Exception):
    """Raised anywhere in a request; the door turns it into the HTTP answer. `kind` is the stable machine-readable name, of
    those in problem_kinds.py; the answer's `type` leads to it on the error page."""

    status: int
    kind: str
    title: str
    detail: str
    errors: list[dict[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> ShownProblem:
        body: ShownProblem = {
            "type": f"{PAGE}#{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "request_id": request_id,
        }
        if self.errors:
            body["errors"] = [{"pointer": one["pointer"], "message": one["message"]} for one in self.errors]
        return body


def unauthorized() -> Problem:
    """One answer for a missing, malformed, unknown, revoked and expired key or token: it tells an attacker nothing."""
    return Problem(
        401,
        "unauthorized",
        "The API key is missing or not valid",
        "Send a valid key as `Authorization: Bearer tcn_…`.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def user_token() -> Problem:
    """Whatever the token is worth: that it is none of our keys can be seen from outside."""
    return Problem(
        401,
        "user-token",
        "A user's token opens the inbox only",
        "This call is for API keys: make it from your server, with `Authorization: Bearer tcn_…`.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def forbidden(scope: str, *, what: str = "This call") -> Problem:
    return Problem(403, "forbidden", "The API key lacks a scope", f"{what} needs the scope `{scope}`.")


def tenant_suspended() -> Problem:
    return Problem(
        403,
        "tenant-suspended",
        "The tenant is suspended",
        "Nothing is lost meanwhile. Whoever runs the installation can resume it.",
    )


def not_found(what: str) -> Problem:
    return Problem(404, "not-found", "Not found", f"There is no such {what}.")


def invalid(detail: str, errors: list[dict[str, str]] | None = None) -> Problem:
    return Problem(422, "invalid-request", "The request is not valid", detail, errors or [])


def invalid_fields(errors: list[dict[str, str]], detail: str = "") -> Problem:
    """`detail` says what they have in common, if that is more than being wrong; the first one is named after it."""
    return invalid(f"{detail} {first_of(errors)}".lstrip(), errors)


def invalid_field(pointer: str, message: str) -> Problem:
    return invalid_fields([{"pointer": pointer, "message": message}])


def invalid_parameter(name: str, message: str) -> Problem:
    return invalid(f"`{name}` {message}.", [{"pointer": f"?{name}", "message": message}])


def invalid_path(name: str, message: str) -> Problem:
    return invalid(f"`{{{name}}}` in the path {message}.", [{"pointer": f"{{{name}}}", "message": message}])


def invalid_header(name: str, message: str) -> Problem:
    return invalid(f"`{name}` {message}.", [{"pointer": name, "message": message}])


def unavailable(detail: str, *, retry_after: int = 2) -> Problem:
    return Problem(503, "unavailable", "Temporarily unavailable", detail, headers={"Retry-After": str(retry_after)})
