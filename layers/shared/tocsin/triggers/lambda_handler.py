"""The handler `lambda`: a function of the installation is invoked asynchronously, and told of the event."""

from typing import Any

from tocsin.foundation import aws
from tocsin.triggers.retry import HandlerFailure

# Credentials that have just run out, or a clock that is off: mended by the next try.
_PASSING = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidSignatureException"}


def invoke(function_arn: str, payload: bytes) -> HandlerFailure | None:
    """Hand the event to Lambda, which has queued it when it says so (202). What the function makes of it is its own affair."""
    try:
        answer = aws.client("lambda").invoke(FunctionName=function_arn, InvocationType="Event", Payload=payload)
    except Exception as error:  # the SDK's, or of the network: told apart by whether, and how, Lambda answered
        return _failure(error)
    status: int = answer["StatusCode"]
    return None if status == 202 else HandlerFailure(str(status), f"Lambda answered {status} instead of 202")


def _failure(error: Exception) -> HandlerFailure:
    said: dict[str, Any] = getattr(error, "response", None) or {}
    status = said.get("ResponseMetadata", {}).get("HTTPStatusCode")
    code = said.get("Error", {}).get("Code") or type(error).__name__
    message = said.get("Error", {}).get("Message") or "there was no answer"
    is_permanent = status is not None and 400 <= status < 500 and status != 429 and code not in _PASSING
    return HandlerFailure(str(code), str(message), is_permanent)
