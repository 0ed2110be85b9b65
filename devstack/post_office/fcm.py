"""The wire of FCM's HTTP v1 messages:send (JSON in and out)."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from devstack.post_office import oauth
from devstack.post_office.letters import Letter, RefusedError, Reply

LARGEST = 4096
DETAIL = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
# Status, Google's name for it, FCM's own code if it has one, message.
ERRORS = {
    "refuse": (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token"),
    "throttle": (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded for the device message rate."),
    "quota": (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded for messages per minute."),
    "suspend": (403, "PERMISSION_DENIED", None, "Permission 'cloudmessaging.messages.create' denied."),
    "not_found": (404, "NOT_FOUND", None, "Project not found."),
    "disabled": (404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found."),
    "unavailable": (503, "UNAVAILABLE", "UNAVAILABLE", "The service is currently unavailable."),
    "error_before": (500, "INTERNAL", "INTERNAL", "Internal error encountered."),
    "error_after": (500, "INTERNAL", "INTERNAL", "Internal error encountered."),
}


@dataclass(frozen=True, slots=True)
class Project:
    """FCM as one project sees it: its name is part of every message's."""

    name: str

    def new_message_id(self) -> str:
        return f"projects/{self.name}/messages/0:{uuid4().int % 10**16}%{uuid4().hex[:16]}"

    def accepted(self, message_id: str) -> Reply:
        return Reply(200, json.dumps({"name": message_id}).encode(), "application/json")

    def failure(self, mode: str) -> Reply:
        return _error(*ERRORS[mode])


def read(body: bytes, authorization: str) -> Letter:
    """The letter in a messages:send request, refused for the mistakes that FCM refuses too."""
    if not oauth.is_good(authorization):
        raise RefusedError(_error(401, "UNAUTHENTICATED", None, "Request had invalid authentication credentials."))
    try:
        message = json.loads(body)["message"]
        token, shown, data = message["token"], message.get("notification", {}), message.get("data", {})
        title, text = shown.get("title"), shown.get("body")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _bad("Invalid JSON payload received.") from None
    if not isinstance(token, str) or not token:
        raise _bad("Recipient of the message is not set.")
    _check(shown, data)
    return Letter("push", "fcm", [token], subject=title, text=text, headers={"Payload": json.dumps(message)}, tags=data)


def _check(shown: dict[str, Any], data: dict[str, Any]) -> None:
    if not all(isinstance(value, str) for value in (*shown.values(), *data.values())):
        raise _bad("Invalid value at 'message.data[0].value' (TYPE_STRING)")
    if any(name in ("from", "gcm", "message_type") or name.startswith("google") for name in data):
        raise _bad("Invalid data payload key.")
    if len(json.dumps([shown, data], ensure_ascii=False).encode()) > LARGEST:
        raise _bad("Android message is too big")


def _bad(message: str) -> RefusedError:
    return RefusedError(_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message))


def _error(status: int, name: str, code: str | None, message: str) -> Reply:
    details = [{"@type": DETAIL, "errorCode": code}] if code else []
    error = {"code": status, "message": message, "status": name, "details": details}
    headers = {"Retry-After": "2"} if status == 429 else {}
    return Reply(status, json.dumps({"error": error}).encode(), "application/json", headers)
