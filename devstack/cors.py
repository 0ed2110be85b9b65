"""What an HTTP API does for pages of other origins, as its template's CorsConfiguration says."""

from devstack.declared import Cors
from devstack.http_event import Answer, Request

PREFIX = "access-control-"


def preflight(cors: Cors, request: Request) -> Answer | None:
    """The gateway's own answer to a browser that asks before it sends; None if this is a request like any other."""
    if request.method != "OPTIONS" or not {"origin", f"{PREFIX}request-method"} <= {name.lower() for name in request.headers}:
        return None
    headers = _allowed_origin(cors, request)
    if headers:  # a browser takes silence for a no
        headers += _listed("allow-methods", cors.methods) + _listed("allow-headers", cors.headers)
        headers += [(f"{PREFIX}max-age", str(cors.max_age))] if cors.max_age is not None else []
    return Answer(204, headers, b"")


def admit(cors: Cors, request: Request, answer: Answer) -> Answer:
    """A function's answer with the headers that let the page read it. What the function itself says of them is dropped."""
    headers = [(name, value) for name, value in answer.headers if not name.startswith(PREFIX)]
    if allowed := _allowed_origin(cors, request):
        headers += allowed + _listed("expose-headers", cors.exposed)
    return Answer(answer.status, headers, answer.body)


def _allowed_origin(cors: Cors, request: Request) -> list[tuple[str, str]]:
    origin = request.headers.get("origin")
    if not origin or not any(_fits(origin, pattern) for pattern in cors.origins):
        return []
    headers = [(f"{PREFIX}allow-origin", "*" if "*" in cors.origins else origin)]
    return headers + ([(f"{PREFIX}allow-credentials", "true")] if cors.with_credentials else [])


def _fits(origin: str, pattern: str) -> bool:
    """`*` is any origin, `https://*` any of that scheme; there is no other wildcard."""
    return pattern in {"*", origin} or (pattern in {"http://*", "https://*"} and origin.startswith(pattern[:-1]))


def _listed(name: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"{PREFIX}{name}", ",".join(values))] if values else []
