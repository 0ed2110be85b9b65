"""Answers for what went wrong, as RFC 9457 problem details. Pure."""

from dataclasses import dataclass, field

from tocsin.http.answers import ShownProblem


@dataclass(slots=True)
class Problem(Exception):
    """Raised anywhere in a request; the door turns it into the HTTP answer. `kind` is the stable machine-readable type."""

    status: int
    kind: str
    title: str
    detail: str
    errors: list[dict[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> ShownProblem:
        body: ShownProblem = {
            "type": self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "request_id": request_id,
        }
        if self.errors:
            body["errors"] = [{"pointer": one["pointer"], "message": one["message"]} for one in self.errors]
        return body


def unauthorized() -> Problem:
    """One answer for a missing, malformed, unknown, revoked and expired key: it tells an attacker nothing."""
    return Problem(
        401,
        "unauthorized",
        "The API key is missing or not valid",
        "Send a valid key as `Authorization: Bearer tcn_…`.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def forbidden(scope: str) -> Problem:
    return Problem(403, "forbidden", "The API key lacks a scope", f"This call needs the scope `{scope}`.")


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


def invalid_field(pointer: str, message: str) -> Problem:
    return invalid("One field is not valid.", [{"pointer": pointer, "message": message}])


def invalid_parameter(name: str, message: str) -> Problem:
    return invalid(f"`{name}` {message}.", [{"pointer": f"?{name}", "message": message}])


def invalid_header(name: str, message: str) -> Problem:
    return invalid(f"`{name}` {message}.", [{"pointer": name, "message": message}])


def unavailable(detail: str, *, retry_after: int = 2) -> Problem:
    return Problem(503, "unavailable", "Temporarily unavailable", detail, headers={"Retry-After": str(retry_after)})
