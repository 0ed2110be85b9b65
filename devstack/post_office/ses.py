"""The wire of SESv2 SendEmail (rest-json)."""

import base64
import json
import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import uuid4

from devstack.post_office.letters import Attached, Letter, RefusedError, Reply

TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
HEADER_NAME = re.compile(r"[!-9;-~]{1,126}")
MOST_RECIPIENTS = 50
MOST_HEADERS = 15
USUAL_TYPE = "application/octet-stream"
SHOWN_ELSEWHERE = {"from", "to", "bcc", "subject", "mime-version", "content-type", "content-transfer-encoding"}
ERRORS = {
    "refuse": (400, "MessageRejected", "The content of the message was rejected."),
    "throttle": (429, "TooManyRequestsException", "Maximum sending rate exceeded."),
    "quota": (400, "LimitExceededException", "Daily message quota exceeded."),
    "suspend": (400, "AccountSuspendedException", "The account's ability to send email has been suspended."),
    "not_found": (404, "NotFoundException", "The configuration set does not exist."),
    "unavailable": (503, "ServiceUnavailable", "The service cannot handle the request."),
    "error_before": (500, "InternalFailure", "The request processing has failed."),
    "error_after": (500, "InternalFailure", "The request processing has failed."),
}


def new_message_id() -> str:
    return f"0100{uuid4().hex[:12]}-{uuid4()}-000000"


def accepted(message_id: str) -> Reply:
    return Reply(200, json.dumps({"MessageId": message_id}).encode(), "application/json")


def failure(mode: str) -> Reply:
    status, code, message = ERRORS[mode]
    return _error(status, code, message)


def paused(configuration_set: str) -> RefusedError:
    message = f"Sending is disabled for the configuration set {configuration_set}."
    return RefusedError(_error(400, "SendingPausedException", message))


def read(body: bytes) -> Letter:
    """The letter in a SendEmail request, refused for the mistakes that SES refuses too."""
    try:
        request = json.loads(body)
        content = request.get("Content", {})
        letter = _raw(request, content["Raw"]) if "Raw" in content else _simple(request, content.get("Simple", {}))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _bad_request("The request does not have the shape of SendEmail.") from None
    _check(letter)
    return letter


def _simple(request: dict[str, Any], content: dict[str, Any]) -> Letter:
    body = content.get("Body", {})
    if "Subject" not in content or not ("Text" in body or "Html" in body):
        raise _bad_request("Missing required content: a subject and a text or HTML body (templates are not kept here).")
    if len(content.get("Headers", [])) > MOST_HEADERS:
        raise _bad_request(f"Too many headers: at most {MOST_HEADERS}.")
    return Letter(
        **_envelope(request),
        to=_recipients(request),
        sender=request.get("FromEmailAddress"),
        subject=content["Subject"]["Data"],
        text=body.get("Text", {}).get("Data"),
        html=body.get("Html", {}).get("Data"),
        headers=_addressed(request) | {header["Name"]: header["Value"] for header in content.get("Headers", [])},
        attachments=[_attached(one) for one in content.get("Attachments", [])],
    )


def _raw(request: dict[str, Any], content: dict[str, Any]) -> Letter:
    message = message_from_bytes(base64.b64decode(content["Data"]), policy=policy.default)
    named = [str(one) for name in ("to", "cc", "bcc") for field in message.get_all(name, []) for one in field.addresses]
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    return Letter(
        **_envelope(request),
        to=_recipients(request) or named,
        sender=request.get("FromEmailAddress") or message.get("from"),
        subject=message.get("subject"),
        text=text.get_content() if text else None,
        html=html.get_content() if html else None,
        headers={name: str(value) for name, value in message.items() if name.lower() not in SHOWN_ELSEWHERE},
        attachments=[_part(one) for one in message.iter_attachments()],
    )


def _attached(one: dict[str, Any]) -> Attached:
    size = len(base64.b64decode(one["RawContent"], validate=True))
    return {"name": one["FileName"], "content_type": one.get("ContentType", USUAL_TYPE), "size": size}


def _part(one: EmailMessage) -> Attached:
    content = one.get_payload(decode=True)
    size = len(content) if isinstance(content, bytes) else 0
    return {"name": one.get_filename() or "", "content_type": one.get_content_type(), "size": size}


def _envelope(request: dict[str, Any]) -> dict[str, Any]:
    return {
        "channel": "email",
        "provider": "ses",
        "tags": {tag["Name"]: tag["Value"] for tag in request.get("EmailTags", [])},
        "configuration_set": request.get("ConfigurationSetName"),
    }


def _addressed(request: dict[str, Any]) -> dict[str, str]:
    lists = {"Cc": request.get("Destination", {}).get("CcAddresses"), "Reply-To": request.get("ReplyToAddresses")}
    return {name: ", ".join(addresses) for name, addresses in lists.items() if addresses}


def _recipients(request: dict[str, Any]) -> list[str]:
    destination = request.get("Destination", {})
    return [one for kind in ("ToAddresses", "CcAddresses", "BccAddresses") for one in destination.get(kind, [])]


def _check(letter: Letter) -> None:
    if not letter.sender or "@" not in letter.sender:
        raise _bad_request("Missing or malformed From address.")
    if not letter.sender.isascii():
        raise _bad_request("A name that is not ASCII is written as an encoded word (RFC 2047).")
    if not 1 <= len(letter.to) <= MOST_RECIPIENTS or not all("@" in one for one in letter.to):
        raise _bad_request(f"Between 1 and {MOST_RECIPIENTS} recipients, each with a domain.")
    if not all(TAG.fullmatch(word) for tag in letter.tags.items() for word in tag):
        raise _bad_request("Tags hold only letters, digits, underscores and dashes, at most 256.")
    values = [letter.sender, letter.subject or "", *letter.to, *letter.headers.values()]
    if any("\r" in value or "\n" in value for value in values):
        raise _bad_request("Line breaks are not allowed in addresses, subject and headers.")
    if not all(HEADER_NAME.fullmatch(name) for name in letter.headers):
        raise _bad_request("Malformed header name.")


def _bad_request(message: str) -> RefusedError:
    return RefusedError(_error(400, "BadRequestException", message))


def _error(status: int, code: str, message: str) -> Reply:
    return Reply(status, json.dumps({"message": message}).encode(), "application/json", {"x-amzn-ErrorType": code})
