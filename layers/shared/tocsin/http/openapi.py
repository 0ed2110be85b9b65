"""The OpenAPI document, made from the endpoints that serve: also what the door itself refuses is read off them."""

import re
from typing import Any

from pydantic.json_schema import models_json_schema

from tocsin.http import person_header
from tocsin.http.door import ANY_KEY, Endpoint

_REF = "#/components/schemas/{model}"
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}

_PROBLEM_CONTENT = {"application/problem+json": {"schema": {"$ref": _REF.format(model="Problem")}}}


def document(endpoints: list[Endpoint]) -> dict[str, Any]:
    models = sorted({endpoint.body for endpoint in endpoints if endpoint.body}, key=lambda model: model.__name__)
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    paths: dict[str, Any] = {}
    names = [endpoint.route.split(" ", 1)[1] for endpoint in endpoints]
    for endpoint, path in zip(endpoints, names, strict=True):
        method = endpoint.route.split(" ", 1)[0]
        is_shared = any(_catches(path, other) for other in names)
        paths.setdefault(path, {})[method.lower()] = _operation(endpoint, path, is_shared=is_shared)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tocsin", "version": "1", "description": "Notifications from your own AWS account."},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}) | {"Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _catches(path: str, other: str) -> bool:
    """Whether a variable of this path takes the other path's name, as in /v1/inbox/{id} and /v1/inbox/live."""
    ours, theirs = path.split("/"), other.split("/")
    return path != other and len(ours) == len(theirs) and all(a == b or "{" in a for a, b in zip(ours, theirs, strict=True))


def _refusals(endpoint: Endpoint, *, is_shared: bool) -> dict[int, str]:
    """What the door answers by itself, before or instead of the endpoint."""
    found: dict[int, str] = {}
    if endpoint.scope:
        found |= {401: "No valid key", 403: "The key lacks the scope", 429: "Too many calls; see Retry-After"}
        if endpoint.scope == ANY_KEY:
            found[403] = "The tenant is suspended"
        found[503] = "Cannot be reached just now; see Retry-After"
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


def _response(status: int, description: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    if status in (204, 304):
        return {"description": description}
    if status >= 400:
        return {"description": description, "content": _PROBLEM_CONTENT}
    return {"description": description, "content": {kind: {} for kind in kinds}}


def _operation(endpoint: Endpoint, path: str, *, is_shared: bool) -> dict[str, Any]:
    told = {endpoint.success: "Done"} | _refusals(endpoint, is_shared=is_shared) | endpoint.answers
    answers = {str(status): _response(status, words, endpoint.answer_types) for status, words in sorted(told.items())}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": endpoint.run.__name__,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"\{(\w+)\}", path)
        ]
        + endpoint.parameters
        + ([person_header.PARAMETER] if endpoint.scope and not endpoint.route.startswith("GET ") else []),
        "responses": answers,
        "security": [{"key": []}] if endpoint.scope else [],
    }
    if endpoint.scope:
        token = ", or a user's token" if endpoint.is_personal else ""
        needed = "a valid key, whatever its scopes" if endpoint.scope == ANY_KEY else f"the scope `{endpoint.scope}`{token}"
        operation["description"] = f"Needs {needed}."
    if endpoint.body:
        schema = {"$ref": _REF.format(model=endpoint.body.__name__)}
        bodies: dict[str, Any] = {endpoint.media_type: {"schema": schema}}
        if endpoint.batch_media_type:
            bodies[endpoint.batch_media_type] = {"schema": {"type": "array", "items": schema}}
        operation["requestBody"] = {"required": not endpoint.body_is_optional, "content": bodies}
    return operation
