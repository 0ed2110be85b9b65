"""The wire of Twilio's Messages resource (form in, JSON out)."""

import json
import re
from base64 import b64decode
from urllib.parse import parse_qsl
from uuid import uuid4

from devstack.post_office.letters import Letter, RefusedError, Reply

PHONE_NUMBER = re.compile(r"\+[1-9][0-9]{0,14}")
SENDER = re.compile(r"\+?[0-9]{3,15}|[A-Za-z0-9 ]{1,11}")
LONGEST_SMS = 1600
ERRORS = {
    "refuse": (400, 21211, "Invalid 'To' Phone Number"),
    "throttle": (429, 20429, "Too Many Requests"),
    "quota": (429, 63038, "Account exceeded the daily messages limit"),
    "suspend": (401, 20003, "Authenticate"),
    "not_found": (404, 20404, "The requested resource was not found"),
    "opted_out": (400, 21610, "Attempt to send to unsubscribed recipient"),
    "unavailable": (503, 20503, "Service unavailable"),
    "error_before": (500, 20500, "Internal server error"),
    "error_after": (500, 20500, "Internal server error"),
}


def new_message_id() -> str:
    return f"SM{uuid4().hex}"


def accepted(message_id: str) -> Reply:
    message = {"sid": message_id, "status": "queued", "error_code": None, "error_message": None}
    return Reply(201, json.dumps(message).encode(), "application/json")


def failure(mode: str) -> Reply:
    return _error(*ERRORS[mode])


def read(body: bytes, authorization: str, account: str) -> Letter:
    """The letter in a request for a new message, refused for the mistakes that Twilio refuses too."""
    if not _is_logged_in(authorization):
        raise RefusedError(_error(401, 20003, "Authenticate"))
    if not account.startswith("AC"):
        raise RefusedError(_error(404, 20404, f"The requested resource /2010-04-01/Accounts/{account} was not found"))
    form = dict(parse_qsl(body.decode(), keep_blank_values=True))
    to, sender, service = form.get("To", ""), form.get("From", ""), form.get("MessagingServiceSid", "")
    if not PHONE_NUMBER.fullmatch(to):
        raise _bad(21211, f"Invalid 'To' Phone Number: {to}")
    if not sender and not service:
        raise _bad(21603, "A 'From' phone number is required.")
    if service and not service.startswith("MG"):
        raise _bad(21701, "The Messaging Service does not exist")
    if sender and not SENDER.fullmatch(sender):
        raise _bad(21212, f"The 'From' number {sender} is not a valid phone number")
    if not form.get("Body"):
        raise _bad(21602, "Message body is required.")
    if len(form["Body"]) > LONGEST_SMS:
        raise _bad(21617, f"The concatenated message body exceeds the {LONGEST_SMS} character limit.")
    return Letter("sms", "twilio", [to], sender or service, text=form["Body"], headers={"Account": account})


def _is_logged_in(authorization: str) -> bool:
    try:
        user, _, secret = b64decode(authorization.removeprefix("Basic "), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(authorization.startswith("Basic ") and user and secret)


def _bad(code: int, message: str) -> RefusedError:
    return RefusedError(_error(400, code, message))


def _error(status: int, code: int, message: str) -> Reply:
    error = {"code": code, "message": message, "more_info": f"https://www.twilio.com/docs/errors/{code}", "status": status}
    return Reply(status, json.dumps(error).encode(), "application/json", {"Retry-After": "2"} if status == 429 else {})
