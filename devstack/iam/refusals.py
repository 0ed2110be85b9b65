"""AccessDenied, as each service says it: the SDK raises what it would raise in AWS."""

import json
from dataclasses import dataclass
from uuid import uuid4
from xml.sax.saxutils import escape


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def denied(service: str, words: str, *, is_form: bool = False) -> Refusal:
    """`is_form` says of a service not known here that it speaks the query protocol."""
    match service:
        case "s3":
            return Refusal(403, "application/xml", _xml(f"<Error><Code>AccessDenied</Code>{_message(words)}{_id()}</Error>"))
        case "sns":
            # SNS calls itself SNS in its refusals.
            return _query("AuthorizationError", words.replace("sns:", "SNS:").replace("arn:aws:SNS:", "arn:aws:sns:"))
        case "ses" | "lambda":
            body = json.dumps({"Message": words, "message": words}).encode()
            return Refusal(403, "application/json", body, (("x-amzn-ErrorType", "AccessDeniedException"),))
        case "kms" | "secretsmanager" | "events":
            if service == "secretsmanager" and "perform: kms:" in words:
                words = "Access to KMS is not allowed"  # all that Secrets Manager tells
            body = json.dumps({"__type": "AccessDeniedException", "Message": words, "message": words}).encode()
            return Refusal(400, "application/x-amz-json-1.1", body, (("x-amzn-ErrorType", "AccessDeniedException"),))
        case _ if is_form:
            return _query("AccessDenied", words)
        case _:
            body = json.dumps({"__type": "AccessDeniedException", "message": words}).encode()
            return Refusal(403, "application/x-amz-json-1.1", body, (("x-amzn-ErrorType", "AccessDeniedException"),))


def _query(code: str, words: str) -> Refusal:
    error = f"<Error><Type>Sender</Type><Code>{code}</Code>{_message(words)}</Error>"
    return Refusal(403, "text/xml", _xml(f"<ErrorResponse>{error}{_id()}</ErrorResponse>"))


def _message(words: str) -> str:
    return f"<Message>{escape(words)}</Message>"


def _id() -> str:
    return f"<RequestId>{uuid4()}</RequestId>"


def _xml(content: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>{content}'.encode()
