"""How much of the SES quota is used: asked every five minutes, and never in the way of the sweep."""

from collections.abc import Iterator

import pytest
from botocore.stub import Stubber

from tocsin.channels import ses_quota
from tocsin.foundation import aws

ANSWER = {"Max24HourSend": 50_000.0, "MaxSendRate": 14.0, "SentLast24Hours": 41_000.0}


@pytest.fixture
def ses(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(ses_quota, "_next_at", 0.0)
    aws.client.cache_clear()
    with Stubber(aws.client("sesv2")) as stub:
        yield stub
    aws.client.cache_clear()


def test_it_is_the_share_of_what_may_be_sent_in_24_hours(ses: Stubber) -> None:
    ses.add_response("get_account", {"SendQuota": ANSWER})

    assert ses_quota.used_percent() == 82.0


def test_it_is_asked_once_in_five_minutes(ses: Stubber, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(ses_quota.time, "monotonic", lambda: now)
    ses.add_response("get_account", {"SendQuota": ANSWER})
    ses.add_response("get_account", {"SendQuota": ANSWER | {"SentLast24Hours": 0.0}})

    first, second = ses_quota.used_percent(), ses_quota.used_percent()
    now += ses_quota.EVERY_SECONDS
    third = ses_quota.used_percent()

    assert (first, second, third) == (82.0, None, 0.0)


def test_an_environment_that_has_just_started_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ses_quota, "_next_at", ses_quota.time.monotonic() + ses_quota.EVERY_SECONDS)
    monkeypatch.setattr(aws, "client", lambda _: pytest.fail("it asked"))

    assert ses_quota.used_percent() is None


def test_an_account_without_a_limit_uses_nothing_of_it(ses: Stubber) -> None:
    ses.add_response("get_account", {"SendQuota": ANSWER | {"Max24HourSend": -1.0}})

    assert ses_quota.used_percent() == 0.0


def test_when_ses_does_not_say_nobody_fails(ses: Stubber) -> None:
    ses.add_client_error("get_account", service_error_code="TooManyRequestsException")

    assert ses_quota.used_percent() is None
