"""What comes in: one intent for three people over three channels, as each door receives it."""

import json
from typing import Any

PEOPLE = {"alice": "+4915112345601", "bob": "+4915112345602", "carol": None}
INTENT: dict[str, Any] = {
    "type": "order.shipped",
    "audience": {"kind": "users", "user_ids": list(PEOPLE)},
    "channels": ["email", "sms", "in_app"],
    "payload": {"title": "Shipped", "message": "It is on its way."},
}
# What a healthy world makes of it, by channel and person. Carol has no phone.
ENDS = {("email", person): "published" for person in PEOPLE} | {("in_app", person): "published" for person in PEOPLE}
ENDS |= {("sms", "alice"): "published", ("sms", "bob"): "published", ("sms", "carol"): "skipped"}
MESSAGES = 5


def post_intent(api_key: str, key: str = "order-1", intent: dict[str, Any] | None = None) -> dict[str, Any]:
    """The HTTP API's event for POST /v1/intents."""
    return {
        "version": "2.0",
        "routeKey": "POST /v1/intents",
        "rawPath": "/v1/intents",
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {api_key}", "content-type": "application/json", "idempotency-key": key},
        "requestContext": {"requestId": "r-1", "http": {"method": "POST", "path": "/v1/intents", "sourceIp": "127.0.0.1"}},
        "body": json.dumps(intent or INTENT),
        "isBase64Encoded": False,
    }


def queued_intent(key: str = "order-1") -> dict[str, Any]:
    """The SQS event of the intake queue; a redelivery is the same event again."""
    return {"Records": [{"messageId": "m-1", "body": json.dumps(INTENT | {"idempotency_key": key})}]}
