"""SMS by Twilio: what goes over the wire, and what comes of the answers."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from devstack.post_office import PostOffice
from devstack.post_office.letters import Reply
from tests.unit.messages import a_message
from tests.unit.web_servers import answering, json_reply, nobody
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.channels.twilio import BY_CODE, MAX_SMS, TwilioSms
from tocsin.channels.ways import Channel, Credentials
from tocsin.content.plain import Content

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass
ACCOUNT = "AC" + "0" * 32
CONFIG = {"from": "+15005550006"}
SPECIFIED = {"21610": PERMANENT, "21211": PERMANENT, "21614": PERMANENT, "20003": CONFIGURATION, "20429": THROTTLED}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def twilio(
    url: str, config: dict[str, Any] = CONFIG, *, timeout: float = 5, user: str = ACCOUNT, secret: str = "hush"
) -> Channel:
    return TwilioSms(Credentials(user, secret), config, url, "lane", timeout, allow_private=True)


def failed(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure)
    return outcome


def error(code: int, status: int = 400, message: str = "no") -> Reply:
    return json_reply(status, {"code": code, "message": message, "more_info": "", "status": status})


def test_an_sms_arrives_with_its_words_under_our_number(office: PostOffice) -> None:
    outcome = twilio(office.url).send(a_message(Content("", "Größe & <Maß> 😀", "")))

    [row] = office.ledger()
    assert outcome == Accepted(row["message_id"])
    assert (row["provider"], row["to"], row["from"]) == ("twilio", ["+14155550100"], "+15005550006")
    assert row["text"] == "Größe & <Maß> 😀"


@pytest.mark.parametrize(
    ("config", "sender"),
    [
        (CONFIG, {"From": ["+15005550006"]}),
        ({"messaging_service_sid": "MG1"}, {"MessagingServiceSid": ["MG1"]}),
        (CONFIG | {"messaging_service_sid": "MG1"}, {"MessagingServiceSid": ["MG1"]}),
    ],
)
def test_the_request_is_what_twilio_documents(config: dict[str, Any], sender: dict[str, list[str]]) -> None:
    with answering(json_reply(201, {"sid": "SM1", "status": "queued"})) as server:
        assert twilio(server.url + "/", config).send(a_message()) == Accepted("SM1")

    [(_, path, body, headers)] = server.asked
    assert path == f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
    assert headers["Authorization"] == f"Basic {b64encode(f'{ACCOUNT}:hush'.encode()).decode()}"
    assert parse_qs(body.decode()) == {"To": ["+14155550100"], "Body": ["Shipped: It is on its way."], **sender}


def test_an_api_key_names_its_account_in_the_configuration_and_no_other_path() -> None:
    with answering(json_reply(201, {"sid": "SM1"})) as server:
        twilio(server.url, CONFIG | {"account_sid": "AC1/../x?"}, user="SK1").send(a_message())

    [(_, path, _, headers)] = server.asked
    assert path == "/2010-04-01/Accounts/AC1%2F..%2Fx%3F/Messages.json"
    assert headers["Authorization"] == f"Basic {b64encode(b'SK1:hush').decode()}"


def test_an_sms_is_cut_to_what_twilio_takes(office: PostOffice) -> None:
    twilio(office.url).send(a_message(Content("", "x" * 20_000, "")))

    assert len(office.ledger()[0]["text"]) == MAX_SMS


@pytest.mark.parametrize(
    ("mode", "kind", "code", "rows"),
    [
        ("refuse", PERMANENT, "21211", 0),
        ("throttle", THROTTLED, "20429", 0),
        ("quota", THROTTLED, "63038", 0),
        ("suspend", CONFIGURATION, "20003", 0),
        ("not_found", CONFIGURATION, "20404", 0),
        ("opted_out", PERMANENT, "21610", 0),
        ("unavailable", TRANSIENT, "20503", 0),
        ("error_before", AMBIGUOUS, "20500", 0),
        ("error_after", AMBIGUOUS, "20500", 1),
        ("drop", AMBIGUOUS, "connection_closed", 0),
        ("accept_then_drop", AMBIGUOUS, "connection_closed", 1),
        ("accept_then_hang", AMBIGUOUS, "timeout", 1),
    ],
)
def test_every_way_to_fail_has_its_class(office: PostOffice, mode: str, kind: FailureClass, code: str, rows: int) -> None:
    office.fail("sms", mode)

    failure = failed(twilio(office.url, timeout=0.6 if mode.endswith("hang") else 5).send(a_message()))

    assert (failure.kind, failure.code) == (kind, code)
    assert failure.opted_out == (mode == "opted_out")
    assert len(office.ledger()) == rows


@pytest.mark.parametrize(("code", "kind"), (BY_CODE | SPECIFIED).items())
def test_every_listed_code_has_its_class_whatever_the_status(code: str, kind: FailureClass) -> None:
    for status in (400, 404, 429):
        with answering(error(int(code), status)) as server:
            failure = failed(twilio(server.url).send(a_message()))

        assert (failure.kind, failure.code) == (kind, code)
        assert failure.opted_out == (code == "21610")
        assert failure.pause == (timedelta(minutes=10) if code == "63038" else None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, PERMANENT) for status in (400, 413, 422)),
        *((status, CONFIGURATION) for status in (401, 403, 404)),
        *((status, AMBIGUOUS) for status in (418, 500, 502, 504)),
        (429, THROTTLED),
        (503, TRANSIENT),
    ],
)
def test_a_code_that_nobody_listed_is_judged_by_its_status(status: int, kind: FailureClass) -> None:
    with answering(error(99999, status)) as server:
        assert failed(twilio(server.url).send(a_message())).kind is kind


@pytest.mark.parametrize("reply", [json_reply(201, {}), json_reply(201, {"sid": None}), Reply(201, b"<html>", "text/html")])
def test_an_answer_without_a_sid_is_ambiguous_and_not_lost(reply: Reply) -> None:
    with answering(reply) as server:
        assert failed(twilio(server.url).send(a_message())).kind is AMBIGUOUS


def test_how_long_to_wait_is_passed_on(office: PostOffice) -> None:
    office.fail("sms", "throttle")

    assert failed(twilio(office.url).send(a_message())).retry_after == timedelta(seconds=2)


def test_the_number_that_twilio_quotes_is_not_kept() -> None:
    with answering(error(21211, message="The 'To' number +14155550100 is not a valid phone number.")) as server:
        failure = failed(twilio(server.url).send(a_message()))

    assert failure.message == "The 'To' number [recipient] is not a valid phone number."


def test_no_connection_means_that_nothing_was_sent() -> None:
    assert failed(twilio(nobody()).send(a_message())).kind is TRANSIENT


@pytest.mark.parametrize(("user", "secret", "config"), [("", "s", CONFIG), ("AC1", "", CONFIG), ("AC1", "s", {})])
def test_what_is_not_configured_is_said_without_asking_anybody(user: str, secret: str, config: dict[str, Any]) -> None:
    failure = failed(twilio(nobody(), config, user=user, secret=secret).send(a_message()))

    assert (failure.kind, failure.code) == (CONFIGURATION, "NotConfigured")


def test_the_secret_is_not_shown() -> None:
    assert "hush" not in repr(twilio(nobody()))
