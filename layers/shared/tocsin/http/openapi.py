"""The OpenAPI document, made from the endpoints that serve: also what the door itself refuses is read off them."""

import re
import sys
from collections.abc import Mapping
from typing import Any

from tocsin.http import person_header
from tocsin.http.answers import ShownProblem, Throttled
from tocsin.http.door import ANY_KEY, Endpoint
from tocsin.http.openapi_schemas import Schemas, schemas_of

_INFO = {
    "title": "Tocsin",
    "version": "1",
    "summary": "Notifications from your own AWS account.",
    "description": "Ask for a notification or tell what happened, and follow what became of it. Every refusal is a `Problem`.",
    "contact": {"name": "Whoever runs this installation"},
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_SERVERS = [{"url": "/", "description": "The installation that this document comes from"}]
_SECURITY = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key of a server, `tcn_…`. Its scopes say what it opens."},
    "user_token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A user's token for their browser, as POST /v1/users/{id}/tokens makes it. It opens their own inbox.",
    },
}
_SUCCESSES = {200: "Done", 201: "Made", 202: "Accepted", 204: "Done; there is nothing to say"}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait before the next try", "schema": {"type": "integer"}}}
_ETAG = {"ETag": {"description": "Names this state; send it back as If-None-Match", "schema": {"type": "string"}}}


def document(endpoints: list[Endpoint], examples: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The whole of it. `examples` are those of bodies and answers, by the names of their schemas."""
    schemas = schemas_of(endpoints)
    paths: dict[str, Any] = {}
    tags: dict[str, str] = {}
    names = [endpoint.route.split(" ", 1)[1] for endpoint in endpoints]
    for endpoint, path in zip(endpoints, names, strict=True):
        method = endpoint.route.split(" ", 1)[0]
        is_shared = any(_catches(path, other) for other in names)
        tags.setdefault(_tag(endpoint), (sys.modules[endpoint.run.__module__].__doc__ or "").strip())
        operation = _operation(endpoint, path, schemas, examples or {}, is_shared=is_shared)
        paths.setdefault(path, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": _SERVERS,
        "tags": [{"name": name, "description": words} for name, words in sorted(tags.items())],
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": _SECURITY},
    }


def _tag(endpoint: Endpoint) -> str:
    """The resource, as its module is called; whose docstring says what it is about."""
    return endpoint.run.__module__.rpartition(".")[2].replace("_", "-")


def _catches(path: str, other: str) -> bool:
    """Whether a variable of this path takes the other path's name, as in /v1/inbox/{id} and /v1/inbox/live."""
    ours, theirs = path.split("/"), other.split("/")
    return path != other and len(ours) == len(theirs) and all(a == b or "{" in a for a, b in zip(ours, theirs, strict=True))


def _refusals(endpoint: Endpoint, *, is_shared: bool) -> dict[int, str]:
    """What the door answers by itself, before or instead of the endpoint."""
    found = {429: "Too many calls; see Retry-After", 500: "Something went wrong; the request id finds the cause in the log"}
    if endpoint.scope:
        found |= {401: "No valid key, or token" if endpoint.is_personal else "No valid key", 403: "The key lacks the scope"}
        if endpoint.scope == ANY_KEY:
            found[403] = "The tenant is suspended"
        found[503] = "Cannot be reached just now; see Retry-After"
    else:
        found[429] = "API Gateway lets no more calls through just now"
    if not endpoint.is_link:
        found[422] = "A parameter is not valid, or not known"
    if any(one["name"] == "cursor" for one in endpoint.parameters):
        found[400] = "The cursor is not valid"
    if endpoint.body:
        found |= {400: "The body is not JSON", 413: "The body is too large", 415: "The body is of another type"}
        found[422] = "The body or a parameter is not valid"
    if is_shared:
        found[405] = "The path is another one's, which does not take this method"
    return found


def _content(schema: dict[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return {"schema": schema} | ({"example": examples[name]} if name in examples else {})


def _response(endpoint: Endpoint, status: int, words: str, schemas: Schemas, examples: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"description": words}
    if status in (429, 503) and endpoint.scope:
        told["headers"] = _RETRY_AFTER
    elif 304 in endpoint.answers and status in (200, 304):
        told["headers"] = _ETAG
    content = _answer(endpoint, status, schemas, examples)
    return told | ({"content": content} if content else {})


def _answer(endpoint: Endpoint, status: int, schemas: Schemas, examples: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer of this status holds, by its media type. API Gateway has words of its own."""
    if status in (204, 303, 304):
        return {}
    pages: dict[str, Any] = {kind: {"schema": {"type": "string"}} for kind in endpoint.answer_types}
    if status == 429 and endpoint.scope is None:
        return {"application/json": _content(schemas.answers[Throttled], {})} | (pages if status in endpoint.page_answers else {})
    if status >= 400:
        problem = {"application/problem+json": _content(schemas.answers[ShownProblem], examples if status == 422 else {})}
        return problem if status not in endpoint.page_answers else pages if status < 500 else pages | problem
    shape = endpoint.other_answers.get(status, endpoint.answer)
    if shape is not None:
        return {"application/json": _content(schemas.answers[shape], examples)}
    return {kind: {"schema": {} if kind == "application/json" else {"type": "string"}} for kind in endpoint.answer_types}


def _operation(
    endpoint: Endpoint, path: str, schemas: Schemas, examples: Mapping[str, Any], *, is_shared: bool
) -> dict[str, Any]:
    success = {endpoint.success: _SUCCESSES[endpoint.success]}
    told = success | _refusals(endpoint, is_shared=is_shared) | endpoint.answers
    operation: dict[str, Any] = {
        "tags": [_tag(endpoint)],
        "summary": endpoint.summary,
        "description": _needs(endpoint),
        "operationId": endpoint.run.__name__,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"\{(\w+)\}", path)
        ]
        + endpoint.parameters
        + ([person_header.PARAMETER] if endpoint.scope and not endpoint.route.startswith("GET ") else []),
        "responses": {
            str(status): _response(endpoint, status, words, schemas, examples) for status, words in sorted(told.items())
        },
        "security": [{"key": []}, *([{"user_token": []}] if endpoint.is_personal else [])] if endpoint.scope else [],
    }
    if endpoint.body:
        one = _content(schemas.bodies[endpoint.body], examples)
        bodies: dict[str, Any] = dict.fromkeys((endpoint.media_type, *endpoint.other_media_types), one)
        if endpoint.batch_media_type:
            many = {"schema": {"type": "array", "items": one["schema"]}}
            bodies[endpoint.batch_media_type] = many | ({"example": [one["example"]]} if "example" in one else {})
        operation["requestBody"] = {"required": not endpoint.body_is_optional, "content": bodies}
    return operation


def _needs(endpoint: Endpoint) -> str:
    if endpoint.scope is None:
        return "Open to everyone."
    if endpoint.scope == ANY_KEY:
        return "Needs a valid key, whatever its scopes."
    token = ", or a user's token" if endpoint.is_personal else ""
    return f"Needs the scope `{endpoint.scope}`{token}."
