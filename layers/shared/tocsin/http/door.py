"""The HTTP door: from an API Gateway event to an endpoint and back, with every failure as a problem document."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection, errors
from pydantic import BaseModel, ValidationError

from tocsin.access import authenticate, key_format, standing, user_tokens
from tocsin.access import rate_limits as limits
from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal
from tocsin.access.standing import Standing
from tocsin.access.user_tokens import Person
from tocsin.foundation import database, deadlines, fields, strict_json
from tocsin.foundation.field_errors import errors_of
from tocsin.foundation.ids import as_uuid
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.http import parameters, person_header, problems, rate_limits
from tocsin.http.problems import Problem
from tocsin.store import users

LambdaEvent = dict[str, Any]
ANY_KEY = "any key"  # the scope of what every valid key opens, whatever its own scopes are
_GZIP = b"\x1f\x8b"  # how such a body begins; no JSON does
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

log = Logger()


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    path_parameters: dict[str, str]
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    request_id: str
    source_ip: str
    raw_query: str = ""

    @property
    def trace_id(self) -> str:
        match = _TRACEPARENT.match(self.headers.get("traceparent", ""))
        return match[1] if match else ""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def _charset(self) -> str:
        told = [part.strip().lower() for part in self.headers.get("content-type", "").split(";")[1:]]
        return ",".join(part.removeprefix("charset=").strip('"') for part in told if part.startswith("charset="))

    @property
    def _is_compressed(self) -> bool:
        return self.headers.get("content-encoding", "identity").strip().lower() != "identity" or self.body.startswith(_GZIP)

    def json(self, *media_types: str) -> Any:
        """The body, strictly read. Size first, then type, then syntax, so that the first thing wrong is what is told."""
        if len(self.body) > fields.MAX_BODY:
            raise Problem(413, "too-large", "The body is too large", f"A body may have at most {fields.MAX_BODY} bytes.")
        if self._is_compressed:
            raise problems.compressed()
        known = media_types or ("application/json",)
        if self.body and (self.media_type not in known or self._charset not in ("", "utf-8")):
            raise problems.media_type("The body is not JSON", f"must be {' or '.join(f'`{one}`' for one in known)}, in UTF-8")
        try:
            return strict_json.parse(self.body)
        except strict_json.InvalidJson as error:
            raise Problem(400, "invalid-json", "The body is not valid JSON", f"{error}.") from None
        except strict_json.UnsafeJson as error:
            raise problems.invalid(f"The JSON is refused: {error}.", [{"pointer": "", "message": str(error)}]) from None

    def parsed(self, model: type[BaseModel]) -> Any:
        return parse(model, self.json())


def parse(model: type[BaseModel], value: Any, *, context: dict[str, Any] | None = None) -> Any:
    """`context`: what a validator asks of the installation."""
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        raise problems.invalid_fields(errors_of(error, model)) from None


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in: with its caller and the database."""

    request: Request
    principal: Principal
    conn: Connection[Any]
    person_name: str | None = None  # who sits before the key, as the caller says

    @property
    def tenant_id(self) -> UUID:
        return self.principal.tenant_id

    @property
    def actor(self) -> Actor:
        user_agent = self.request.headers.get("user-agent", "")
        name = f"key:{self.principal.key_id}"
        return Actor(self.tenant_id, name, self.request.source_ip, user_agent, self.principal.user_id, self.person_name)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request to one person's inbox: by their browser, or by a server that names them."""

    request: Request
    tenant_id: UUID
    user_id: UUID
    conn: Connection[Any]
    actor: Actor


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One line of the API: where, who may, what it does, and what its documentation says.

    With a scope, `run` gets a Call, or if it is personal a Visit (a user token opens it too, and `recognise` tells whose it is);
    with ANY_KEY for a scope every valid key opens it; without one it is open to everyone and gets the Request. A query parameter
    that `parameters` does not list is refused. `answer` is the TypedDict of what is answered with `success`, and with every other
    2xx and 3xx that `other_answers` does not name."""

    route: str
    scope: str | None
    run: Callable[[Any], Response]
    summary: str
    success: int = 200
    body: type[BaseModel] | None = None
    answers: dict[int, str] = field(default_factory=dict)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    recognise: Callable[[str], Person | None] | None = None
    is_link: bool = False  # followed from mails and pages: whatever others hang onto the address is passed over
    media_type: str = "application/json"
    other_media_types: tuple[str, ...] = ()  # what the same body may be called, too
    batch_media_type: str | None = None  # what a list of such bodies is called, where one is taken
    body_is_optional: bool = False
    answer_types: tuple[str, ...] = ("application/json",)
    answer: Any = None
    other_answers: dict[int, Any] = field(default_factory=dict)
    page_answers: tuple[int, ...] = ()  # refusals that are pages of `answer_types`: people read them

    @property
    def is_personal(self) -> bool:
        return self.recognise is not None


def nowhere(request: Request) -> Response:
    raise problems.not_found("resource")


def door(
    endpoints: list[Endpoint], *, otherwise: Callable[[Request], Response] = nowhere
) -> Callable[[LambdaEvent, Any], LambdaEvent]:
    """The Lambda handler that serves these endpoints. `otherwise` takes what no route matches."""
    by_route = {endpoint.route: endpoint for endpoint in endpoints}

    @deadlines.keeping_time
    def handler(event: LambdaEvent, context: Any) -> LambdaEvent:
        answer = _answered(event, by_route, otherwise)
        if event.get("requestContext", {}).get("http", {}).get("method") == "HEAD":
            answer.pop("body", None)
        return answer

    return handler


def _answered(event: LambdaEvent, by_route: dict[str, Endpoint], otherwise: Callable[[Request], Response]) -> LambdaEvent:
    request_id = event.get("requestContext", {}).get("requestId", "")
    route = event.get("routeKey", "")
    try:
        request = _request(event, request_id)
        # API Gateway has no route for HEAD: it comes by the catch-all, whose door answers it where it serves the GET.
        endpoint = by_route.get(f"GET {request.path}" if request.method == "HEAD" else route)
        return _answer(_serve(endpoint, request, otherwise) if endpoint else otherwise(request), request_id)
    except Problem as problem:
        return _problem(problem, request_id)
    except SecretUnavailable as error:
        log.error("the token secret cannot be read", extra={"request_id": request_id, "error": str(error)})
        return _problem(problems.unavailable("Tokens cannot be checked just now."), request_id)
    except DatabaseUnavailable as error:
        log.error("database unavailable", extra={"request_id": request_id} | error.said)
        return _problem(problems.unavailable("The database cannot be reached just now."), request_id)
    except Exception:
        log.exception("request failed", extra={"request_id": request_id, "route": route})
        return _problem(
            Problem(500, "internal", "Something went wrong", "The request id finds the cause in the log."), request_id
        )


def _serve(endpoint: Endpoint, request: Request, otherwise: Callable[[Request], Response]) -> Response:
    try:
        return _run(endpoint, request)
    except Problem as problem:
        raise _more_exactly(problem, request, otherwise) from None


def _more_exactly(problem: Problem, request: Request, otherwise: Callable[[Request], Response]) -> Problem:
    """405 instead of 404 where a variable caught the name of another path, which may be another door's."""
    names = request.path_parameters.values()
    if problem.status == 404 and names and not any(as_uuid(name) for name in names):
        try:
            otherwise(request)
        except Problem as other:
            return other if other.status == 405 else problem
    return problem


def _run(endpoint: Endpoint, request: Request) -> Response:
    if endpoint.scope is None:
        return endpoint.run(_read(endpoint, request))
    presented = _bearer(request)
    if endpoint.recognise and user_tokens.looks_like(presented):
        return _visit(endpoint, request, endpoint.recognise(presented))
    if user_tokens.looks_like(presented):
        raise problems.user_token()
    if not key_format.is_well_formed(presented):
        raise problems.unauthorized(to_inbox=endpoint.is_personal)

    def work(conn: Connection[Any]) -> Response:
        principal = authenticate.authenticate(conn, presented)
        if principal is None:
            raise problems.unauthorized(to_inbox=endpoint.is_personal)
        if principal.is_suspended:
            raise problems.tenant_suspended()
        calls = limits.calls_of_key(principal)
        if not limits.admits_call(conn, principal.tenant_id, limits.subject_of(principal), calls):
            raise rate_limits.too_many_calls(calls, of="key")
        if endpoint.scope not in (ANY_KEY, *principal.scopes):
            raise problems.forbidden(str(endpoint.scope))
        read = _read(endpoint, request)
        call = Call(read, principal, conn, person_header.read(request.headers))
        if endpoint.is_personal:
            return endpoint.run(Visit(read, principal.tenant_id, _named_person(conn, read, principal), conn, call.actor))
        return endpoint.run(call)

    return database.run(work)


def _read(endpoint: Endpoint, request: Request) -> Request:
    """The request with its parameters, once it is known who asks."""
    if endpoint.is_link:
        return request
    for name, text in request.path_parameters.items():
        if not parameters.is_text(text):
            raise problems.invalid_path(name, "must be text in UTF-8, without U+0000")
    known = (one["name"] for one in endpoint.parameters if one["in"] == "query")
    return replace(request, query=parameters.read_query(request.raw_query, known)) if request.raw_query else request


def _visit(endpoint: Endpoint, request: Request, person: Person | None) -> Response:
    """A browser with a user token, which said who is there without asking the database."""
    if person is None:
        raise problems.unauthorized(to_inbox=True)
    actor = Actor.person(person.tenant_id, person.user_id, request.source_ip, request.headers.get("user-agent", ""))
    read, calls = _read(endpoint, request), limits.calls_of_user()

    def work(conn: Connection[Any]) -> Response:
        match standing.of(conn, person):
            case Standing.UNKNOWN:
                raise problems.unauthorized(to_inbox=True)
            case Standing.SUSPENDED:
                raise problems.tenant_suspended()
        if not limits.admits_call(conn, person.tenant_id, limits.subject_of_user(person.user_id), calls):
            raise rate_limits.too_many_calls(calls, of="user")
        return endpoint.run(Visit(read, person.tenant_id, person.user_id, conn, actor))

    try:
        return database.run(work)
    except errors.ForeignKeyViolation:
        raise problems.unauthorized(to_inbox=True) from None  # the user was erased since


def _named_person(conn: Connection[Any], request: Request, principal: Principal) -> UUID:
    external_id = request.query.get("user_id")
    if not external_id:
        raise problems.invalid_parameter("user_id", "is required: a server key says whose inbox it means")
    with database.tenant_transaction(conn, principal.tenant_id):
        user = users.find(conn, principal.tenant_id, external_id)
    if user is None:
        raise problems.not_found("user")
    return user.id


def _bearer(request: Request) -> str:
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    return presented.strip() if scheme.lower() == "bearer" else ""


def _request(event: LambdaEvent, request_id: str) -> Request:
    http = event.get("requestContext", {}).get("http", {})
    body = event.get("body") or ""
    raw = _decoded(body) if event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")
    return Request(
        method=http.get("method", ""),
        path=event.get("rawPath", ""),
        path_parameters=event.get("pathParameters") or {},
        query={},
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        body=raw,
        request_id=request_id,
        source_ip=http.get("sourceIp", ""),
        raw_query=event.get("rawQueryString", ""),
    )


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        raise Problem(400, "invalid-body", "The body cannot be read", "It is not valid Base64.") from None


def conditional(request: Request, response: Response, *, tag: str | None = None) -> Response:
    """The answer with its ETag, made of its words unless there is one; 304 without a body when the caller has it already."""
    written = _dumped(response.body)
    tag = tag or f'"{hashlib.sha256(written.encode()).hexdigest()[:32]}"'
    headers = response.headers | {"ETag": tag, "Cache-Control": "private, no-cache"}
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    return Response(304, None, headers) if tag in known or "*" in known else Response(response.status, written, headers)


def _problem(problem: Problem, request_id: str) -> LambdaEvent:
    headers = problem.headers | {"Content-Type": "application/problem+json"}
    return _answer(Response(problem.status, problem.body(request_id), headers), request_id)


def _answer(response: Response, request_id: str) -> LambdaEvent:
    """Nothing is kept by a cache or guessed at by a browser, unless the endpoint says so itself."""
    headers = {"X-Request-Id": request_id, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} | response.headers
    if response.body is not None:
        headers = {"Content-Type": "application/json"} | headers
    answer: LambdaEvent = {"statusCode": response.status, "headers": headers}
    if isinstance(response.body, bytes):
        answer |= {"body": base64.b64encode(response.body).decode(), "isBase64Encoded": True}
    elif isinstance(response.body, str):
        answer["body"] = response.body
    elif response.body is not None:
        answer["body"] = _dumped(response.body)
    return answer


def _dumped(body: Any) -> str:
    return json.dumps(body, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"cannot answer with a {type(value).__name__}")
