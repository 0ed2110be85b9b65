"""What pages of other origins rely on: the browser lets them call the API as far as this says so, and no further."""

from typing import Any

from tests.template.reading import Template, of_type

FOR_PEOPLE = "/v1/inbox"
SENT = {"authorization", "content-type", "if-none-match", "traceparent"}
READ = {"etag", "retry-after", "x-request-id"}


def pages_may_do_what_people_may(template: Template) -> list[str]:
    """Every method of the endpoints for people."""
    missing = []
    for name, body in _apis(template).items():
        allowed = set(_cors(body).get("allowMethods", []))
        used = {method.upper() for path, each in body["paths"].items() if path.startswith(FOR_PEOPLE) for method in each}
        missing += [f"{name}: {method}" for method in sorted(used - allowed)]
    return missing


def pages_may_send_and_read_the_headers_they_need(template: Template) -> list[str]:
    return [
        f"{name}: {header}"
        for name, body in _apis(template).items()
        for property_name, wanted in (("allowHeaders", SENT), ("exposeHeaders", READ))
        for header in sorted(wanted - set(_cors(body).get(property_name, [])))
    ]


def pages_ask_once_and_not_before_every_request(template: Template) -> list[str]:
    return [name for name, body in _apis(template).items() if not _cors(body).get("maxAge")]


def pages_come_without_cookies(template: Template) -> list[str]:
    """With them, `*` would let any page act as whoever looks at it."""
    return [name for name, body in _apis(template).items() if _cors(body).get("allowCredentials")]


def _apis(template: Template) -> dict[str, dict[str, Any]]:
    return {name: each["Body"] for name, each in of_type(template, "AWS::ApiGatewayV2::Api").items()}


def _cors(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body.get("x-amazon-apigateway-cors", {})
    return found
