"""The wire of SNS Publish and CreatePlatformEndpoint (the query protocol: form in, XML out)."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5
from xml.sax.saxutils import escape

from devstack.post_office.letters import Letter, RefusedError, Reply

NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/"
PHONE_NUMBER = re.compile(r"\+[1-9][0-9]{0,14}")
LONGEST_SMS = 1600
ERRORS = {
    "refuse": (400, "InvalidParameter", "Invalid parameter: the message or its target is not valid."),
    "throttle": (429, "Throttled", "Rate exceeded."),
    "quota": (429, "Throttled", "The monthly spending quota is used up."),
    "suspend": (403, "AuthorizationError", "The account may not publish."),
    "not_found": (404, "NotFound", "Endpoint does not exist."),
    "disabled": (400, "EndpointDisabled", "Endpoint is disabled."),
    "opted_out": (400, "OptedOut", "The phone number is opted out."),
    "unavailable": (503, "ServiceUnavailable", "The service cannot handle the request."),
    "error_before": (500, "InternalError", "The request processing has failed."),
    "error_after": (500, "InternalError", "The request processing has failed."),
}

Form = dict[str, str]


def new_message_id() -> str:
    return str(uuid4())


def accepted(message_id: str) -> Reply:
    return _result("Publish", f"<MessageId>{message_id}</MessageId>")


def failure(mode: str) -> Reply:
    return _error(*ERRORS[mode])


def endpoint_created(form: Form) -> tuple[Reply, str]:
    """The answer to CreatePlatformEndpoint and the ARN in it, which is the same each time for the same token."""
    application, token = form.get("PlatformApplicationArn", ""), form.get("Token", "")
    if ":app/" not in application or not token:
        raise invalid("PlatformApplicationArn and Token are required.")
    arn = f"{application.replace(':app/', ':endpoint/')}/{uuid5(NAMESPACE_URL, application + token)}"
    return _result("CreatePlatformEndpoint", f"<EndpointArn>{escape(arn)}</EndpointArn>"), arn


def read(form: Form, token_of: Callable[[str], str | None]) -> Letter:
    """The letter in a Publish request, refused for the mistakes that SNS refuses too."""
    if not form.get("Message"):
        raise invalid("Empty message")
    attributes = _attributes(form)
    headers = {name: value for name, value in attributes.items() if name.startswith("AWS.")}
    tags = {name: value for name, value in attributes.items() if name not in headers}
    if "PhoneNumber" in form:
        return _sms(form, headers, tags)
    if ":endpoint/" in form.get("TargetArn", ""):
        return _push(form, headers, tags, token_of(form["TargetArn"]))
    raise invalid("PhoneNumber, or a TargetArn that is a platform endpoint, is required.")


def _sms(form: Form, headers: dict[str, str], tags: dict[str, str]) -> Letter:
    if not PHONE_NUMBER.fullmatch(form["PhoneNumber"]):
        raise invalid("PhoneNumber Reason: not a valid E.164 number.")
    if len(form["Message"]) > LONGEST_SMS:
        raise invalid(f"Message too long: at most {LONGEST_SMS} characters.")
    sender = headers.get("AWS.SNS.SMS.SenderID")
    return Letter("sms", "sns", [form["PhoneNumber"]], sender, text=form["Message"], headers=headers, tags=tags)


def _push(form: Form, headers: dict[str, str], tags: dict[str, str], token: str | None) -> Letter:
    arn, payload = form["TargetArn"], form["Message"]
    if form.get("MessageStructure") == "json":
        payload = _for_platform(form["Message"], platform=arn.split(":endpoint/")[1].split("/")[0])
    title, body = _title_and_body(payload)
    return Letter(
        "push",
        "sns",
        [token or arn],
        subject=title or form.get("Subject"),
        text=body if body is not None else payload,
        headers=headers | {"TargetArn": arn, "Payload": payload},
        tags=tags,
    )


def _for_platform(message: str, platform: str) -> str:
    try:
        payloads = json.loads(message)
    except ValueError:
        raise invalid("Message Structure - JSON message body failed to parse") from None
    if not isinstance(payloads, dict) or "default" not in payloads:
        raise invalid("Message Structure - No default entry in JSON message body")
    if not all(isinstance(payload, str) for payload in payloads.values()):
        raise invalid("Message Structure - every entry must be a string")
    return str(payloads.get(platform, payloads["default"]))


def _title_and_body(payload: str) -> tuple[str | None, str | None]:
    """The alert's title and body in an APNs or FCM payload; nothing in one that is neither."""
    try:
        found: Any = json.loads(payload)
    except ValueError:
        return None, None
    for name in ("fcmV1Message", "message", "notification", "aps", "alert"):
        found = found.get(name, found) if isinstance(found, dict) else found
    if isinstance(found, dict):
        return found.get("title"), found.get("body")
    return None, found if isinstance(found, str) else None


def _attributes(form: Form) -> dict[str, str]:
    prefix = "MessageAttributes.entry."
    numbers = [name[len(prefix) : -len(".Name")] for name in form if name.startswith(prefix) and name.endswith(".Name")]
    return {form[f"{prefix}{n}.Name"]: form.get(f"{prefix}{n}.Value.StringValue", "") for n in numbers}


def invalid(reason: str) -> RefusedError:
    return RefusedError(_error(400, "InvalidParameter", f"Invalid parameter: {reason}"))


def _result(action: str, content: str) -> Reply:
    metadata = f"<ResponseMetadata><RequestId>{uuid4()}</RequestId></ResponseMetadata>"
    xml = f"<{action}Result>{content}</{action}Result>{metadata}"
    return Reply(200, f'<{action}Response xmlns="{NAMESPACE}">{xml}</{action}Response>'.encode(), "text/xml")


def _error(status: int, code: str, message: str) -> Reply:
    fault = "Receiver" if status >= 500 else "Sender"
    error = f"<Error><Type>{fault}</Type><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    xml = f'<ErrorResponse xmlns="{NAMESPACE}">{error}<RequestId>{uuid4()}</RequestId></ErrorResponse>'
    return Reply(status, xml.encode(), "text/xml")
