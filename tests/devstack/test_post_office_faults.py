"""Every way in which the post office fails on request, as the real SDK reports it."""

import urllib.error
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from devstack.post_office import PostOffice
from tests.devstack.sdk import SENDS, client, control, mail, text, wait_until


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


@pytest.mark.parametrize(
    ("channel", "mode", "status", "error"),
    [
        ("email", "refuse", 400, ("MessageRejected", "MessageRejected")),
        ("email", "throttle", 429, ("TooManyRequestsException", "TooManyRequestsException")),
        ("email", "quota", 400, ("LimitExceededException", "LimitExceededException")),
        ("email", "suspend", 400, ("AccountSuspendedException", "AccountSuspendedException")),
        ("email", "not_found", 404, ("NotFoundException", "NotFoundException")),
        ("email", "unavailable", 503, ("ServiceUnavailable", "ClientError")),
        ("email", "error_before", 500, ("InternalFailure", "ClientError")),
        ("sms", "refuse", 400, ("InvalidParameter", "InvalidParameterException")),
        ("sms", "throttle", 429, ("Throttled", "ThrottledException")),
        ("sms", "quota", 429, ("Throttled", "ThrottledException")),
        ("sms", "suspend", 403, ("AuthorizationError", "AuthorizationErrorException")),
        ("sms", "opted_out", 400, ("OptedOut", "OptedOutException")),
        ("sms", "unavailable", 503, ("ServiceUnavailable", "ClientError")),
        ("sms", "error_before", 500, ("InternalError", "InternalErrorException")),
        ("push", "refuse", 400, ("InvalidParameter", "InvalidParameterException")),
        ("push", "disabled", 400, ("EndpointDisabled", "EndpointDisabledException")),
        ("push", "not_found", 404, ("NotFound", "NotFoundException")),
        ("push", "suspend", 403, ("AuthorizationError", "AuthorizationErrorException")),
    ],
)
def test_a_fault_before_acceptance_is_the_sdks_own_exception_and_leaves_no_row(
    office: PostOffice, channel: str, mode: str, status: int, error: tuple[str, str]
) -> None:
    office.fail(channel, mode)

    with pytest.raises(ClientError) as failed:
        SENDS[channel](office.url)

    assert (failed.value.response["Error"]["Code"], type(failed.value).__name__) == error
    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert office.ledger() == []


@pytest.mark.parametrize("channel", SENDS)
def test_an_error_after_acceptance_leaves_the_row(office: PostOffice, channel: str) -> None:
    office.fail(channel, "error_after")

    with pytest.raises(ClientError) as failed:
        SENDS[channel](office.url)

    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert [row["channel"] for row in office.ledger()] == [channel]


@pytest.mark.parametrize("channel", SENDS)
@pytest.mark.parametrize(("mode", "rows"), [("drop", 0), ("accept_then_drop", 1)])
def test_a_dropped_connection_is_a_closed_connection(office: PostOffice, channel: str, mode: str, rows: int) -> None:
    office.fail(channel, mode)

    with pytest.raises(ConnectionClosedError):
        SENDS[channel](office.url)

    assert len(office.ledger()) == rows


def test_a_hanging_answer_lasts_until_the_client_gives_up_and_the_row_is_there_meanwhile(office: PostOffice) -> None:
    office.fail("email", "accept_then_hang", times=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mail, office.url, read_timeout=1)
        wait_until(lambda: len(office.ledger()) == 1)
        assert not waiting.done()

        assert isinstance(waiting.exception(10), ReadTimeoutError)

    mail(office.url)
    assert len(office.ledger()) == 2


def test_stopping_ends_a_hanging_answer_and_connections_that_clients_keep(tmp_path: Path) -> None:
    with PostOffice(tmp_path / "ledger.sqlite") as office, client(office.url, "sns") as sns:
        sns.publish(PhoneNumber="+1", Message="one")
        office.fail("email", "accept_then_hang")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(mail, office.url)
            wait_until(lambda: len(office.ledger()) == 2)

            office.stop()

            assert isinstance(waiting.exception(10), ConnectionClosedError)
        with pytest.raises(Exception, match=r"connect|Connection"):
            sns.publish(PhoneNumber="+1", Message="two")

    assert len(office.ledger()) == 2


def test_faults_come_in_the_order_they_were_set_and_as_often_as_asked(office: PostOffice) -> None:
    office.fail("email", "throttle", times=2)
    office.fail("*", "refuse", times=1)
    seen = []

    for _ in range(5):
        try:
            seen.append("accepted" if mail(office.url) else "")
        except ClientError as failed:
            seen.append(failed.response["Error"]["Code"])

    assert seen == [*["TooManyRequestsException"] * 2, "MessageRejected", "accepted", "accepted"]


def test_a_fault_hits_only_its_channel_and_the_recipients_it_matches(office: PostOffice) -> None:
    office.fail("email", "refuse", match="bob@")

    text(office.url)
    mail(office.url, "ada@example.com")
    with pytest.raises(ClientError):
        mail(office.url, "bob@example.com")
    office.heal()
    mail(office.url, "bob@example.com")

    assert [row["to"][0] for row in office.ledger()] == ["+4915112345678", "ada@example.com", "bob@example.com"]


def test_a_fault_for_three_hits_exactly_three_of_twenty_threads(office: PostOffice) -> None:
    office.fail("sms", "throttle", times=3)

    def accepted(_: int) -> bool:
        try:
            return bool(text(office.url))
        except ClientError:
            return False

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(accepted, range(20)))

    assert outcomes.count(False) == 3
    assert len(office.ledger()) == 17


def test_faults_and_the_ledger_are_steered_over_http(office: PostOffice) -> None:
    control(office.url, "PUT", "/_faults", {"channel": "email", "mode": "refuse", "times": 2, "match": "ada"})
    expected = [{"channel": "email", "mode": "refuse", "times": 2, "match": "ada"}]
    assert control(office.url, "GET", "/_faults") == {"data": expected}

    assert control(office.url, "DELETE", "/_faults") == {"data": []}
    mail(office.url)
    assert control(office.url, "GET", "/_ledger") == {"data": office.ledger()}
    assert control(office.url, "DELETE", "/_ledger") == {"data": []}


@pytest.mark.parametrize(
    "fault",
    [
        {"channel": "fax", "mode": "refuse"},
        {"channel": "email", "mode": "explode"},
        {"channel": "email", "mode": "opted_out"},
        {"channel": "email", "mode": "refuse", "times": 0},
        {"channel": "email"},
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(office: PostOffice, fault: dict[str, Any]) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        control(office.url, "PUT", "/_faults", fault)

    assert refused.value.code == 400
    refused.value.close()
