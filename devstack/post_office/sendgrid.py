"""The wire of SendGrid's v3 mail/send (JSON in, an empty 202 or a list of errors out)."""

import base64
import json
from secrets import token_urlsafe
from typing import Any

from devstack.post_office.letters import Attached, Letter, RefusedError, Reply

MOST_RECIPIENTS = 1000
LARGEST_ARGUMENTS = 10_000
RESERVED_HEADERS = {"x-sg-id", "x-sg-eid", "received", "dkim-signature", "content-transfer-encoding", "content-type"}
RESERVED_HEADERS |= {"to", "from", "subject", "reply-to", "cc", "bcc"}
KINDS = (["text/plain"], ["text/html"], ["text/plain", "text/html"])
ERRORS = {
    "refuse": (400, "personalizations.0.to.0.email", "Does not contain a valid address."),
    "throttle": (429, None, "too many requests"),
    "quota": (401, None, "Maximum credits exceeded"),
    "suspend": (403, None, "access forbidden"),
    "not_found": (404, None, "not found"),
    "unavailable": (503, None, "The service is not available."),
    "error_before": (500, None, "Internal server error."),
    "error_after": (500, None, "Internal server error."),
}


def new_message_id() -> str:
    return token_urlsafe(16)


def accepted(message_id: str) -> Reply:
    return Reply(202, b"", "text/plain", {"X-Message-Id": message_id})


def failure(mode: str) -> Reply:
    status, field, message = ERRORS[mode]
    return _error(status, field, message, {"Retry-After": "2"} if status == 429 else {})


def read(body: bytes, authorization: str) -> Letter:
    """The letter in a mail/send request, refused for the mistakes that SendGrid refuses too."""
    if not authorization.removeprefix("Bearer ").strip() or not authorization.startswith("Bearer "):
        raise RefusedError(_error(401, None, "The provided authorization grant is invalid, expired, or revoked"))
    try:
        request = json.loads(body)
        [personal] = request["personalizations"]
        letter = _letter(request, personal)
        bodies = [(part["type"], part["value"]) for part in request["content"]]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _bad("", "The request does not have the shape of mail/send with one personalization.") from None
    _check(letter, bodies)
    return letter


def _letter(request: dict[str, Any], personal: dict[str, Any]) -> Letter:
    content = {part["type"]: part["value"] for part in request["content"]}
    sender = request["from"]
    return Letter(
        "email",
        "sendgrid",
        [one["email"] for kind in ("to", "cc", "bcc") for one in personal.get(kind, [])],
        f"{sender['name']} <{sender['email']}>" if sender.get("name") else sender["email"],
        subject=personal.get("subject") or request.get("subject"),
        text=content.get("text/plain"),
        html=content.get("text/html"),
        headers=_addressed(request, personal) | request.get("headers", {}) | personal.get("headers", {}),
        tags=request.get("custom_args", {}) | personal.get("custom_args", {}),
        attachments=[_attached(one) for one in request.get("attachments", [])],
    )


def _attached(one: dict[str, Any]) -> Attached:
    size = len(base64.b64decode(one["content"], validate=True))
    return {"name": one["filename"], "content_type": one.get("type", "application/octet-stream"), "size": size}


def _addressed(request: dict[str, Any], personal: dict[str, Any]) -> dict[str, str]:
    copies = {"Cc": ", ".join(one["email"] for one in personal["cc"])} if personal.get("cc") else {}
    return copies | ({"Reply-To": request["reply_to"]["email"]} if "reply_to" in request else {})


def _check(letter: Letter, bodies: list[tuple[str, str]]) -> None:
    if not letter.sender or "@" not in letter.sender:
        raise _bad("from.email", "The from email does not contain a valid address.")
    if not 1 <= len(letter.to) <= MOST_RECIPIENTS or not all("@" in one for one in letter.to):
        raise _bad("personalizations.0.to.0.email", "Does not contain a valid address.")
    if not letter.subject:
        raise _bad("subject", "The subject is required.")
    if [kind for kind, _ in bodies] not in KINDS or not all(value for _, value in bodies):
        raise _bad("content", "The content is one text and one HTML part, text first, neither empty.")
    if not all(isinstance(value, str) for value in (*letter.tags.values(), *letter.headers.values())):
        raise _bad("custom_args", "Headers and custom arguments are strings.")
    if len(json.dumps(letter.tags)) > LARGEST_ARGUMENTS:
        raise _bad("custom_args", f"At most {LARGEST_ARGUMENTS} bytes of custom arguments.")
    values = [letter.sender, letter.subject, *letter.to, *letter.headers.values()]
    if any("\r" in value or "\n" in value for value in values):
        raise _bad("headers", "Line breaks are not allowed in addresses, subject and headers.")
    if (RESERVED_HEADERS - {"reply-to", "cc"}) & {name.lower() for name in letter.headers}:
        raise _bad("headers", "A reserved header cannot be set.")


def _bad(field: str, message: str) -> RefusedError:
    return RefusedError(_error(400, field or None, message))


def _error(status: int, field: str | None, message: str, headers: dict[str, str] | None = None) -> Reply:
    errors = [{"message": message, "field": field, "help": None}]
    return Reply(status, json.dumps({"errors": errors}).encode(), "application/json", headers or {})
