"""The OpenAPI document, made from the endpoints that serve."""

import re
from typing import Any

from pydantic.json_schema import models_json_schema

from tocsin.http import Endpoint

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


def document(endpoints: list[Endpoint]) -> dict[str, Any]:
    models = sorted({endpoint.body for endpoint in endpoints if endpoint.body}, key=lambda model: model.__name__)
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        method, path = endpoint.route.split(" ", 1)
        paths.setdefault(path, {})[method.lower()] = _operation(endpoint, path)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tocsin", "version": "1", "description": "Notifications from your own AWS account."},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}) | {"Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, path: str) -> dict[str, Any]:
    answers = {str(endpoint.success): {"description": "Done", "content": {"application/json": {}}}}
    problems = endpoint.answers | ({401: "No valid key", 403: "The key lacks the scope"} if endpoint.scope else {})
    for status, description in sorted(problems.items()):
        is_problem = status >= 400
        content: dict[str, Any] = (
            {"application/problem+json": {"schema": {"$ref": _REF.format(model="Problem")}}}
            if is_problem
            else {"application/json": {}}
        )
        answers[str(status)] = {"description": description, "content": content}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": endpoint.run.__name__,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"\{(\w+)\}", path)
        ]
        + endpoint.parameters,
        "responses": answers,
        "security": [{"key": []}] if endpoint.scope else [],
    }
    if endpoint.scope:
        token = ", or a user's token" if endpoint.is_personal else ""
        operation["description"] = f"Needs the scope `{endpoint.scope}`{token}."
    if endpoint.body:
        schema = {"$ref": _REF.format(model=endpoint.body.__name__)}
        bodies: dict[str, Any] = {endpoint.media_type: {"schema": schema}}
        if endpoint.batch_media_type:
            bodies[endpoint.batch_media_type] = {"schema": {"type": "array", "items": schema}}
        operation["requestBody"] = {"required": True, "content": bodies}
    return operation
