"""What an SDK error means for the message: sure when it is on the list, ambiguous when not."""

import ssl
from datetime import timedelta
from typing import Any

import pytest
from botocore import exceptions as sdk
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from tocsin.channels.aws_errors import classify, classify_preparation
from tocsin.channels.outcomes import Failure, FailureClass

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass
URL = "https://email.us-east-1.amazonaws.com"


def answered(code: str, status: int = 400, message: str = "", headers: dict[str, str] | None = None) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers or {}},
    }
    return ClientError(response, "Send")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("TooManyRequestsException", THROTTLED),
        ("Throttling", THROTTLED),
        ("ThrottlingException", THROTTLED),
        ("LimitExceededException", THROTTLED),
        ("AccountSuspendedException", CONFIGURATION),
        ("SendingPausedException", CONFIGURATION),
        ("MailFromDomainNotVerifiedException", CONFIGURATION),
        ("NotFoundException", CONFIGURATION),
        ("AccessDenied", CONFIGURATION),
        ("AccessDeniedException", CONFIGURATION),
        ("MessageRejected", PERMANENT),
        ("BadRequestException", PERMANENT),
    ],
)
def test_what_ses_says_has_the_class_of_the_specification(code: str, kind: FailureClass) -> None:
    assert classify("ses", answered(code)).kind is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("Throttled", THROTTLED),
        ("KMSThrottling", THROTTLED),
        ("EndpointDisabled", PERMANENT),
        ("NotFound", PERMANENT),
        ("InvalidParameter", PERMANENT),
        ("ParameterValueInvalid", PERMANENT),
        ("OptedOut", PERMANENT),
        ("PlatformApplicationDisabled", CONFIGURATION),
        ("AuthorizationError", CONFIGURATION),
        ("KMSDisabled", CONFIGURATION),
        ("KMSAccessDenied", CONFIGURATION),
        ("KMSNotFound", CONFIGURATION),
        ("KMSInvalidState", CONFIGURATION),
        ("KMSOptInRequired", CONFIGURATION),
        ("InternalError", AMBIGUOUS),
    ],
)
def test_what_sns_says_has_the_class_of_the_specification(code: str, kind: FailureClass) -> None:
    assert classify("sns", answered(code)).kind is kind


@pytest.mark.parametrize("service", ["ses", "sns"])
@pytest.mark.parametrize(
    "code", ["ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestTimeTooSkewed", "InvalidSignatureException"]
)
def test_expired_credentials_and_a_wrong_clock_are_mended_by_the_next_try(service: str, code: str) -> None:
    assert classify(service, answered(code, 403)).kind is TRANSIENT


@pytest.mark.parametrize("service", ["ses", "sns"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [(503, TRANSIENT), (429, THROTTLED), (500, AMBIGUOUS), (502, AMBIGUOUS), (504, AMBIGUOUS), (418, AMBIGUOUS)],
)
def test_an_answer_without_a_known_code_is_judged_by_its_status(service: str, status: int, kind: FailureClass) -> None:
    assert classify(service, answered(str(status), status)).kind is kind
    assert classify(service, answered("", status)).kind is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (sdk.ConnectTimeoutError(endpoint_url=URL), TRANSIENT),
        (sdk.EndpointConnectionError(endpoint_url=URL), TRANSIENT),
        (sdk.ProxyConnectionError(proxy_url=URL), TRANSIENT),
        (sdk.CredentialRetrievalError(provider="x", error_msg="y"), TRANSIENT),
        (sdk.NoCredentialsError(), CONFIGURATION),
        (sdk.PartialCredentialsError(provider="x", cred_var="y"), CONFIGURATION),
        (sdk.NoRegionError(), CONFIGURATION),
        (sdk.ParamValidationError(report="bad"), PERMANENT),
        (sdk.ReadTimeoutError(endpoint_url=URL), AMBIGUOUS),
        (sdk.ConnectionClosedError(endpoint_url=URL), AMBIGUOUS),
        (sdk.HTTPClientError(error="x"), AMBIGUOUS),
        (sdk.IncompleteReadError(actual_bytes=1, expected_bytes=2), AMBIGUOUS),
        (sdk.ResponseStreamingError(error="x"), AMBIGUOUS),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_before_the_request_left_is_sure_and_one_after_is_not(error: Exception, kind: FailureClass) -> None:
    assert classify("ses", error).kind is kind
    assert classify("sns", error).kind is kind


@pytest.mark.parametrize(
    ("error", "timed_out"),
    [
        (sdk.ReadTimeoutError(endpoint_url=URL), True),
        (sdk.ConnectTimeoutError(endpoint_url=URL), True),
        (sdk.EndpointConnectionError(endpoint_url=URL), False),
        (sdk.ConnectionClosedError(endpoint_url=URL), False),
        (answered("ServiceUnavailable", 503), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_a_time_out_is_told_from_a_failure_that_cost_no_time(error: Exception, timed_out: bool) -> None:
    assert classify("ses", error).timed_out is timed_out
    assert classify_preparation("sns", error).timed_out is timed_out


def test_a_connection_that_breaks_in_its_encryption_may_have_carried_the_message() -> None:
    error = sdk.SSLError(endpoint_url=URL, error=ssl.SSLError("record layer failure"))

    assert classify("ses", error).kind is AMBIGUOUS


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("MessageId"), OSError("x"), RuntimeError()])
def test_whatever_nobody_foresaw_is_ambiguous(error: Exception) -> None:
    assert classify("ses", error).kind is AMBIGUOUS


@given(st.sampled_from(["ses", "sns"]), st.text(max_size=30), st.integers(400, 599), st.text(max_size=30))
def test_any_answer_gets_a_class_and_only_the_listed_ones_are_sure(service: str, code: str, status: int, message: str) -> None:
    failure = classify(service, answered(f"new-{code}", status, message))

    assert failure.kind is {429: THROTTLED, 503: TRANSIENT}.get(status, AMBIGUOUS)


def test_the_daily_quota_rests_the_lane_for_ten_minutes_and_other_throttles_do_not_say() -> None:
    assert classify("ses", answered("LimitExceededException")).pause == timedelta(minutes=10)
    assert classify("ses", answered("TooManyRequestsException")).pause is None


def test_an_unverified_identity_is_our_fault_and_not_the_messages() -> None:
    error = answered("MessageRejected", message="Email address is not verified. The following identities failed the check")

    assert classify("ses", error).kind is CONFIGURATION


@pytest.mark.parametrize("code", ["EndpointDisabled", "EndpointDisabledException", "NotFound", "NotFoundException"])
def test_a_device_that_sns_does_not_know_any_more_is_gone(code: str) -> None:
    assert classify("sns", answered(code)).device_gone


def test_a_missing_configuration_set_of_ses_takes_no_device_with_it() -> None:
    assert not classify("ses", answered("NotFoundException")).device_gone


def test_a_recipient_who_opted_out_is_marked() -> None:
    assert classify("sns", answered("OptedOut")).opted_out
    assert not classify("sns", answered("InvalidParameter")).opted_out


@pytest.mark.parametrize(
    ("header", "wait"), [("7", timedelta(seconds=7)), ("", None), ("soon", None), ("-1", None), ("1.5", None)]
)
def test_retry_after_in_seconds_is_passed_on(header: str, wait: timedelta | None) -> None:
    assert classify("ses", answered("Throttling", 429, headers={"retry-after": header})).retry_after == wait


@pytest.mark.parametrize("header", ["9" * 15, "9" * 5000, "²", "٣"])
def test_an_absurd_retry_after_ends_no_worker(header: str) -> None:
    failure = classify("ses", answered("ServiceUnavailable", 503, headers={"retry-after": header}))

    assert failure.kind is TRANSIENT


def test_a_step_that_sends_nothing_leaves_no_doubt() -> None:
    error = sdk.ReadTimeoutError(endpoint_url=URL)

    assert classify("sns", error).kind is AMBIGUOUS
    assert classify_preparation("sns", error).kind is TRANSIENT


def test_a_validation_report_is_not_repeated_for_it_may_quote_the_address() -> None:
    failure = classify("ses", sdk.ParamValidationError(report="Invalid length for parameter: alice@example.com"))

    assert "alice" not in str(failure)


def test_a_message_from_the_provider_is_kept_short() -> None:
    failure: Failure = classify("ses", answered("MessageRejected", message="x" * 10_000))

    assert len(failure.message) == 500
