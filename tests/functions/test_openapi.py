"""GET /v1/openapi.json: made from the endpoints that serve, and open to everyone."""

import re

import pytest

from tests.functions.doors import ENDPOINTS, Api
from tocsin.http import openapi
from tocsin.http.door import Endpoint

EVERY: list[Endpoint] = [endpoint for endpoints in ENDPOINTS.values() for endpoint in endpoints]


def test_every_endpoint_is_described_with_its_scope(api: Api) -> None:
    document = api.get("/v1/openapi.json", key="").json

    described = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert described == {endpoint.route for endpoint in EVERY}
    assert document["openapi"] == "3.1.0"
    for endpoint in EVERY:
        method, path = endpoint.route.split(" ", 1)
        operation = document["paths"][path][method.lower()]
        token = [{"user_token": []}] if endpoint.is_personal else []
        assert operation["security"] == ([{"key": []}, *token] if endpoint.scope else [])
        assert str(endpoint.success) in operation["responses"]
        assert ("401" in operation["responses"]) == bool(endpoint.scope)
        named = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path))


def test_every_reference_in_the_document_leads_somewhere(api: Api) -> None:
    answer = api.get("/v1/openapi.json", key="")

    schemas = answer.json["components"]["schemas"]
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', answer.text))
    assert referred <= set(schemas)
    assert {"Intent", "Problem"} <= referred
    assert schemas["Intent"]["additionalProperties"] is False


def test_operation_ids_are_unique(api: Api) -> None:
    document = api.get("/v1/openapi.json", key="").json

    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))


def test_it_is_made_once_for_whoever_asks(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    first = api.get("/v1/openapi.json", key="").text
    monkeypatch.setattr(openapi, "document", lambda endpoints: {"made": "again"})

    assert api.get("/v1/openapi.json", key="").text == first
