"""What an SDK error means for the message. Ambiguous unless it is on the list of what is sure."""

from datetime import timedelta
from typing import Any

from tocsin.channels.http_errors import retry_after
from tocsin.channels.outcomes import Failure, FailureClass

_QUOTA_PAUSE = timedelta(minutes=10)

T, H, P, C, A = (
    FailureClass.TRANSIENT,
    FailureClass.THROTTLED,
    FailureClass.PERMANENT,
    FailureClass.CONFIGURATION,
    FailureClass.AMBIGUOUS,
)

# Credentials that expired or a clock that is off: refused before anything was done, and mended by the next try.
_ANY_SERVICE = {
    "ExpiredToken": T,
    "ExpiredTokenException": T,
    "RequestExpired": T,
    "RequestTimeTooSkewed": T,
    "InvalidSignatureException": T,
    "SignatureDoesNotMatch": T,
    "ServiceUnavailable": T,
    "ServiceUnavailableException": T,
    "Throttling": H,
    "ThrottlingException": H,
    "ThrottledException": H,
    "TooManyRequestsException": H,
    "RequestThrottled": H,
    "RequestLimitExceeded": H,
    "SlowDown": H,
    "AccessDenied": C,
    "AccessDeniedException": C,
    "UnrecognizedClientException": C,
    "InvalidClientTokenId": C,
    "MissingAuthenticationToken": C,
    "OptInRequired": C,
    "InternalFailure": A,
    "InternalServerError": A,
    "InternalServerErrorException": A,
}

SES = _ANY_SERVICE | {
    "LimitExceededException": H,
    "AccountSuspendedException": C,
    "SendingPausedException": C,
    "MailFromDomainNotVerifiedException": C,
    "NotFoundException": C,
    "MessageRejected": P,
    "BadRequestException": P,
}

SNS = _ANY_SERVICE | {
    "Throttled": H,
    "EndpointDisabled": P,
    "EndpointDisabledException": P,
    "NotFound": P,
    "NotFoundException": P,
    "PlatformApplicationDisabled": C,
    "PlatformApplicationDisabledException": C,
    "AuthorizationError": C,
    "AuthorizationErrorException": C,
    "KMSAccessDenied": C,
    "KMSAccessDeniedException": C,
    "KMSDisabled": C,
    "KMSDisabledException": C,
    "KMSInvalidState": C,
    "KMSInvalidStateException": C,
    "KMSNotFound": C,
    "KMSNotFoundException": C,
    "KMSOptInRequired": C,
    "KMSThrottling": H,
    "KMSThrottlingException": H,
    "InvalidParameter": P,
    "InvalidParameterException": P,
    "ParameterValueInvalid": P,
    "InvalidParameterValueException": P,
    "InvalidSecurity": C,
    "InvalidSecurityException": C,
    "ValidationException": P,
    "ValidationError": P,
    "OptedOut": P,
    "OptedOutException": P,
    "InternalError": A,
    "InternalErrorException": A,
}

_BY_SERVICE = {"ses": SES, "sns": SNS}
_TIMED_OUT = {"ReadTimeoutError", "ConnectTimeoutError"}
_DEVICE_GONE = {"EndpointDisabled", "EndpointDisabledException", "NotFound", "NotFoundException"}
_OPTED_OUT = {"OptedOut", "OptedOutException"}

# Errors of the SDK itself, by class name: before the request left (sure), or after it may have arrived (ambiguous).
_LOCAL = {
    "ParamValidationError": P,
    "NoCredentialsError": C,
    "PartialCredentialsError": C,
    "CredentialRetrievalError": T,
    "NoRegionError": C,
    "EndpointConnectionError": T,
    "ConnectTimeoutError": T,
    "ProxyConnectionError": T,
    "SSLError": A,  # the SDK wraps every TLS error in it, also those after the request was sent
    "ReadTimeoutError": A,
    "ConnectionClosedError": A,
    "IncompleteReadError": A,
    "ResponseStreamingError": A,
    "ResponseParserError": A,
    "HTTPClientError": A,
}


def classify(service: str, error: Exception) -> Failure:
    response: dict[str, Any] | None = getattr(error, "response", None)
    return _from_service(service, response) if isinstance(response, dict) else _from_sdk(error)


def classify_preparation(service: str, error: Exception) -> Failure:
    """An error of a call that sends nothing (making a push endpoint): never ambiguous, and never the device's fault."""
    failure = classify(service, error)
    kind = {A: T}.get(failure.kind, C if failure.device_gone else failure.kind)
    return Failure(kind, failure.code, failure.message, failure.retry_after, failure.pause, timed_out=failure.timed_out)


def _from_service(service: str, response: dict[str, Any]) -> Failure:
    details = response.get("Error", {})
    code, message = str(details.get("Code", "")), str(details.get("Message", ""))
    metadata = response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 0)
    kind = _BY_SERVICE[service].get(code)
    if kind is None:
        kind = {429: H, 503: T}.get(status, A)
    if service == "ses" and kind is P and "not verified" in message:
        kind = C  # SES says MessageRejected for an identity that we have not verified: ours to mend, not the message's fault
    return Failure(
        kind,
        code or f"HTTP {status}",
        message[:500],
        retry_after=retry_after(metadata.get("HTTPHeaders", {})),
        pause=_QUOTA_PAUSE if service == "ses" and code == "LimitExceededException" else None,
        device_gone=service == "sns" and code in _DEVICE_GONE,
        opted_out=code in _OPTED_OUT,
    )


def said(answer: dict[str, Any]) -> str:
    """An answer that accepts, in a line."""
    metadata = answer.get("ResponseMetadata") or {}
    parts = {"HTTP": metadata.get("HTTPStatusCode"), "request": metadata.get("RequestId")}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def _from_sdk(error: Exception) -> Failure:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):  # refused during the handshake
        return Failure(T, type(error).__name__, _safe(error))
    for cls in type(error).__mro__:
        if cls.__name__ in _LOCAL:
            timed_out = cls.__name__ in _TIMED_OUT
            return Failure(_LOCAL[cls.__name__], type(error).__name__, _safe(error), timed_out=timed_out)
    return Failure(A, type(error).__name__, _safe(error))


def _safe(error: Exception) -> str:
    """An SDK's own words without parameters: a validation report may quote the address."""
    return str(error).split("\n", 1)[0][:200] if type(error).__name__ != "ParamValidationError" else "invalid parameters"
