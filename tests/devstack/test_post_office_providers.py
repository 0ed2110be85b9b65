"""The post office as SendGrid, Twilio and FCM: what it takes and what it refuses, seen as bare HTTP."""

import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devstack.mailbox import mailbox_html
from devstack.post_office import PostOffice
from tests.devstack.bare_http import LOGIN, MAIL, SENDS, TEXTS, bearer, login, mail, push, text
from tests.devstack.sdk import client
from tests.unit.messages import a_message
from tocsin.channels.outcomes import Accepted
from tocsin.channels.ses import SesEmail


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def test_an_email_for_sendgrid_is_kept_with_everything_in_it(office: PostOffice) -> None:
    answer = mail(office)

    [row] = office.ledger()
    assert (answer.status, answer.body, answer.headers["X-Message-Id"]) == (202, None, row["message_id"])
    assert row.pop("accepted_at").endswith("Z")
    assert row == {
        "id": 1,
        "channel": "email",
        "provider": "sendgrid",
        "from": "Tocsin <tocsin@example.com>",
        "to": ["ada@example.com"],
        "subject": "Grüße",
        "text": "text",
        "html": "<p>html",
        "headers": {"List-Unsubscribe": "<https://example.com/u>"},
        "tags": {"tocsin_attempt": "1-1"},
        "configuration_set": None,
        "attachments": [],
        "message_id": answer.headers["X-Message-Id"],
    }


def test_an_sms_for_twilio_is_kept_under_its_sid(office: PostOffice) -> None:
    answer = text(office)

    [row] = office.ledger()
    assert (answer.status, answer.body["sid"], answer.body["status"]) == (201, row["message_id"], "queued")
    assert (row["channel"], row["provider"], row["from"]) == ("sms", "twilio", "Tocsin")
    assert (row["to"], row["text"]) == (["+4915112345678"], "Größe & <Maß>")


def test_a_push_for_fcm_is_kept_under_its_device_token_and_named_after_the_project(office: PostOffice) -> None:
    answer = push(office)

    [row] = office.ledger()
    assert (answer.status, answer.body) == (200, {"name": row["message_id"]})
    assert row["message_id"].startswith("projects/ours/messages/")
    assert (row["channel"], row["provider"], row["to"]) == ("push", "fcm", ["device-1"])
    assert (row["subject"], row["text"], row["tags"]) == ("T", "B", {"tocsin_attempt": "1-1"})


def test_the_mailbox_shows_them_all(office: PostOffice) -> None:
    for send in SENDS.values():
        send(office)

    page = mailbox_html(office.ledger())

    assert all(f"<dd>{provider}</dd>" in page for provider in SENDS)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"from": {"email": "nobody"}}, "from.email"),
        ({"personalizations": [{"to": [{"email": "nobody"}]}]}, "personalizations.0.to.0.email"),
        ({"personalizations": [{"to": []}]}, "personalizations.0.to.0.email"),
        ({"personalizations": []}, None),
        ({"subject": ""}, "subject"),
        ({"content": []}, "content"),
        ({"content": [{"type": "text/html", "value": ""}]}, "content"),
        ({"content": [{"type": "text/pdf", "value": "x"}]}, "content"),
        ({"content": MAIL["content"][::-1]}, "content"),
        ({"headers": {"Subject": "other"}}, "headers"),
        ({"headers": {"X-Note": "a\r\nBcc: b@example.com"}}, "headers"),
        ({"custom_args": {"number": 1}}, "custom_args"),
        ({"custom_args": {"much": "x" * 10_001}}, "custom_args"),
    ],
)
def test_what_sendgrid_refuses_is_refused_with_the_field_at_fault(
    office: PostOffice, changes: dict[str, Any], field: str | None
) -> None:
    answer = mail(office, **changes)

    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert office.ledger() == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"To": "0151"}, 21211),
        ({"From": ""}, 21603),
        ({"From": "<Tocsin>"}, 21212),
        ({"MessagingServiceSid": "XX1"}, 21701),
        ({"Body": ""}, 21602),
        ({"Body": "x" * 1601}, 21617),
    ],
)
def test_what_twilio_refuses_is_refused_with_its_code(office: PostOffice, changes: dict[str, str], code: int) -> None:
    answer = text(office, **changes)

    assert (answer.status, answer.body["code"]) == (400, code)
    assert office.ledger() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"token": ""},
        {"data": {"number": 1}},
        {"data": {"from": "x"}},
        {"notification": {"body": "x" * 4096}},
        {"notification": 1},
    ],
)
def test_what_fcm_refuses_is_an_invalid_argument(office: PostOffice, changes: dict[str, Any]) -> None:
    answer = push(office, **changes)

    assert (answer.status, answer.body["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert office.ledger() == []


def test_nobody_sends_without_showing_who_they_are(office: PostOffice) -> None:
    expired = f"Bearer ya29.{int(time.time()) - 1}.x"
    answers = [mail(office, ""), mail(office, "Bearer "), mail(office, LOGIN), text(office, ""), text(office, "Basic ???")]
    answers += [text(office, f"Basic {b64encode(b'AC1:').decode()}"), push(office, "Bearer made-up"), push(office, expired)]

    assert [answer.status for answer in answers] == [401] * 8
    assert text(office, path=TEXTS.replace("AC1", "XX1")).status == 404
    assert office.ledger() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"grant": "password"},
        {"alg": "none"},
        {"signature": b""},
        {"scope": "everything"},
        {"aud": "https://example.com"},
        {"iat": 0, "exp": 3600},
        {"exp": int(time.time()) + 100_000},
        {"iat": "now"},
    ],
)
def test_a_claim_that_google_would_not_take_gets_no_token(office: PostOffice, changes: dict[str, Any]) -> None:
    answer = login(office, **changes)

    assert answer.status == 400
    assert "access_token" not in answer.body


def test_a_token_outlives_a_restart(office: PostOffice) -> None:
    token = bearer(office)

    office.stop()
    office.start()

    assert push(office, f"Bearer {token}").status == 200


def test_on_request_is_told_the_channel(tmp_path: Path) -> None:
    seen: list[str] = []
    with PostOffice(tmp_path / "ledger.sqlite", on_request=seen.append) as office:
        for send in SENDS.values():
            send(office)

    assert seen == ["email", "sms", "token", "push"]


def test_the_headers_of_a_message_reach_ses_too(office: PostOffice) -> None:
    headers = {"List-Unsubscribe": "<https://example.com/u>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    with client(office.url, "sesv2") as ses:
        outcome = SesEmail(ses, "notify@example.com", "events").send(replace(a_message(), headers=headers))

    [row] = office.ledger()
    assert (outcome, row["headers"]) == (Accepted(row["message_id"]), headers)
