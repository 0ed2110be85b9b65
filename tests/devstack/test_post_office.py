"""The post office as the real SDK sees it: what it accepts, what it refuses, and what it has kept after a crash."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from devstack.post_office import PostOffice
from tests.devstack.sdk import APNS, DEVICE, FCM, client, control, mail, push, text


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def test_an_email_is_kept_with_everything_the_sdk_sent(office: PostOffice) -> None:
    content = {
        "Subject": {"Data": "Grüße"},
        "Body": {"Text": {"Data": "text"}, "Html": {"Data": "<p>html</p>"}},
        "Headers": [{"Name": "List-Unsubscribe", "Value": "<https://example.com/u>"}],
        "Attachments": [{"FileName": "r-7.pdf", "ContentType": "application/pdf", "RawContent": b"%PDF-1.7"}],
    }
    message_id = mail(
        office.url,
        Destination={"ToAddresses": ["Ada <ada@example.com>"], "CcAddresses": ["bob@example.com"]},
        Content={"Simple": content},
        EmailTags=[{"Name": "tocsin_route", "Value": "r-1"}, {"Name": "tocsin_attempt", "Value": "a_1"}],
        ConfigurationSetName="tocsin",
    )

    [row] = office.ledger()

    assert row.pop("accepted_at").endswith("Z")
    assert row == {
        "id": 1,
        "channel": "email",
        "provider": "ses",
        "from": "tocsin@example.com",
        "to": ["Ada <ada@example.com>", "bob@example.com"],
        "subject": "Grüße",
        "text": "text",
        "html": "<p>html</p>",
        "headers": {"Cc": "bob@example.com", "List-Unsubscribe": "<https://example.com/u>"},
        "tags": {"tocsin_route": "r-1", "tocsin_attempt": "a_1"},
        "configuration_set": "tocsin",
        "message_id": message_id,
        "attachments": [{"name": "r-7.pdf", "content_type": "application/pdf", "size": 8}],
    }


def test_the_account_says_what_was_sent_of_its_quota(office: PostOffice) -> None:
    mail(office.url)
    text(office.url)

    with client(office.url, "sesv2") as ses:
        quota = ses.get_account()["SendQuota"]

    assert (quota["SentLast24Hours"], quota["Max24HourSend"]) == (1, 50_000)


def test_the_account_and_every_sender_stand_well_until_somebody_says_otherwise(office: PostOffice) -> None:
    with client(office.url, "sesv2") as ses:
        account, identity = ses.get_account(), ses.get_email_identity(EmailIdentity="ada@example.com")
        domain = ses.get_email_identity(EmailIdentity="example.com")

    assert (account["ProductionAccessEnabled"], account["SendingEnabled"]) == (True, True)
    assert account["EnforcementStatus"] == "HEALTHY"
    assert (identity["IdentityType"], domain["IdentityType"]) == ("EMAIL_ADDRESS", "DOMAIN")
    assert (domain["VerifiedForSendingStatus"], domain["VerificationStatus"]) == (True, "SUCCESS")
    assert domain["DkimAttributes"] == {"SigningEnabled": True, "Status": "SUCCESS"}


def test_the_account_and_its_identities_stand_as_they_are_told_to(office: PostOffice) -> None:
    control(office.url, "PUT", "/_ses", {"production_access": False, "enforcement": "PROBATION", "daily_quota": 200})
    control(office.url, "PUT", "/_ses", {"identities": {"ada@example.com": None, "example.com": {"status": "PENDING"}}})

    with client(office.url, "sesv2") as ses:
        account, domain = ses.get_account(), ses.get_email_identity(EmailIdentity="example.com")
        with pytest.raises(ses.exceptions.NotFoundException):
            ses.get_email_identity(EmailIdentity="ada@example.com")
        control(office.url, "DELETE", "/_ses")
        healed = ses.get_account()

    assert (account["ProductionAccessEnabled"], account["EnforcementStatus"]) == (False, "PROBATION")
    assert account["SendQuota"]["Max24HourSend"] == 200
    assert (domain["VerifiedForSendingStatus"], domain["VerificationStatus"]) == (False, "PENDING")
    assert healed["ProductionAccessEnabled"] is True


def test_a_standing_that_ses_does_not_know_is_refused(office: PostOffice) -> None:
    for mistake in ({"enforcement": "TIRED"}, {"identities": {"example.com": {"status": "MAYBE"}}}, {"mood": 1}):
        with pytest.raises(HTTPError, match="400"):
            control(office.url, "PUT", "/_ses", mistake)


def test_a_raw_email_is_read_into_the_same_row(office: PostOffice) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "tocsin@example.com",
        '"Lovelace, Ada" <ada@example.com>',
        "Grüße",
    )
    message["X-Note"] = "kept"
    message.set_content("text\n")
    message.add_alternative("<p>html</p>\n", subtype="html")

    with client(office.url, "sesv2") as ses:
        ses.send_email(Content={"Raw": {"Data": message.as_bytes()}})

    [row] = office.ledger()
    assert (row["to"], row["subject"]) == (['"Lovelace, Ada" <ada@example.com>'], "Grüße")
    assert (row["text"], row["html"]) == ("text\n", "<p>html</p>\n")
    assert row["headers"] == {"X-Note": "kept"}


def test_a_text_message_is_kept_with_its_sender_and_tags(office: PostOffice) -> None:
    words = {"AWS.SNS.SMS.SenderID": "Tocsin", "AWS.SNS.SMS.SMSType": "Transactional", "tocsin_attempt": "a-1"}
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in words.items()}

    message_id = text(office.url, message="Größe & <Maß>", MessageAttributes=attributes)

    [row] = office.ledger()
    assert (row["channel"], row["provider"], row["to"]) == ("sms", "sns", ["+4915112345678"])
    assert (row["text"], row["from"], row["message_id"]) == ("Größe & <Maß>", "Tocsin", message_id)
    assert row["tags"] == {"tocsin_attempt": "a-1"}
    assert row["headers"]["AWS.SNS.SMS.SMSType"] == "Transactional"


@pytest.mark.parametrize(
    ("application", "platform", "payload"),
    [
        (APNS, "APNS", {"aps": {"alert": {"title": "Title", "body": "Body"}}, "id": "1"}),
        (FCM, "GCM", {"notification": {"title": "Title", "body": "Body"}}),
        (FCM, "GCM", {"fcmV1Message": {"message": {"notification": {"title": "Title", "body": "Body"}}}}),
    ],
)
def test_a_push_is_kept_under_its_device_token(
    office: PostOffice, application: str, platform: str, payload: dict[str, Any]
) -> None:
    message = json.dumps({"default": "Body", platform: json.dumps(payload)})

    push(office.url, application=application, message=message, MessageStructure="json")

    [row] = office.ledger()
    assert (row["channel"], row["to"], row["subject"], row["text"]) == ("push", [DEVICE], "Title", "Body")
    assert json.loads(row["headers"]["Payload"]) == payload


def test_the_same_token_always_gets_the_same_endpoint(office: PostOffice) -> None:
    with client(office.url, "sns") as sns:
        arns = [sns.create_platform_endpoint(PlatformApplicationArn=APNS, Token=token)["EndpointArn"] for token in "aab"]

    assert arns[0] == arns[1] != arns[2]
    assert arns[0].startswith("arn:aws:sns:eu-central-1:000000000000:endpoint/APNS/tocsin/")


@pytest.mark.parametrize(
    ("send", "code"),
    [
        (lambda url: mail(url, "no domain"), "BadRequestException"),
        (lambda url: mail(url, Destination={}), "BadRequestException"),
        (lambda url: mail(url, FromEmailAddress=""), "BadRequestException"),
        (lambda url: mail(url, EmailTags=[{"Name": "a b", "Value": "c"}]), "BadRequestException"),
        (lambda url: mail(url, "ada@example.com\r\nBcc: eve@example.com"), "BadRequestException"),
        (lambda url: mail(url, Content={"Template": {"TemplateName": "t"}}), "BadRequestException"),
        (lambda url: text(url, "0151"), "InvalidParameter"),
        (lambda url: text(url, message="x" * 1601), "InvalidParameter"),
        (lambda url: push(url, message="no json", MessageStructure="json"), "InvalidParameter"),
        (lambda url: push(url, message='{"APNS": "{}"}', MessageStructure="json"), "InvalidParameter"),
    ],
)
def test_what_the_real_service_would_refuse_is_refused(office: PostOffice, send: Callable[[str], str], code: str) -> None:
    with pytest.raises(ClientError) as refused:
        send(office.url)

    assert refused.value.response["Error"]["Code"] == code
    assert office.ledger() == []


def test_every_request_is_noticed_before_it_is_decided(tmp_path: Path) -> None:
    noticed: list[tuple[str, int]] = []
    file = tmp_path / "ledger.sqlite"
    with PostOffice(file, on_request=lambda channel: noticed.append((channel, len(office.ledger())))) as office:
        mail(office.url)
        push(office.url)
        text(office.url)

    assert noticed == [("email", 0), ("endpoint", 1), ("push", 1), ("sms", 2)]


def test_eight_threads_with_fifty_messages_each_leave_four_hundred_rows(office: PostOffice) -> None:
    def send_fifty(thread: int) -> list[str]:
        with client(office.url, "sns") as sns:
            return [sns.publish(PhoneNumber=f"+{thread}", Message=str(n))["MessageId"] for n in range(50)]

    with ThreadPoolExecutor(8) as pool:
        answered = {message_id for ids in pool.map(send_fifty, range(1, 9)) for message_id in ids}

    rows = office.ledger()
    assert len(rows) == len(answered) == 400
    assert {row["message_id"] for row in rows} == answered
    assert [row["id"] for row in rows] == list(range(1, 401))


def test_a_restart_keeps_the_ledger_the_endpoints_and_the_address(tmp_path: Path) -> None:
    office = PostOffice(tmp_path / "ledger.sqlite")
    with office:
        push(office.url)
        url = office.url
    with office:
        assert office.url == url
        mail(url)

    assert [(row["id"], row["channel"]) for row in PostOffice(tmp_path / "ledger.sqlite").ledger()] == [
        (1, "push"),
        (2, "email"),
    ]


def test_a_killed_post_office_has_kept_every_message_it_answered_for(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with own_process(file) as (process, url):
        answered = [text(url, f"+{number}") for number in range(1, 6)]
        process.kill()
        process.wait()

    assert [row["message_id"] for row in PostOffice(file).ledger()] == answered


def test_alone_as_a_process_it_takes_faults_and_ends_when_told(tmp_path: Path) -> None:
    with own_process(tmp_path / "ledger.sqlite") as (process, url):
        control(url, "PUT", "/_faults", {"channel": "sms", "mode": "accept_then_drop", "times": 1})
        with pytest.raises(ConnectionClosedError):
            text(url)
        assert len(control(url, "GET", "/_ledger")["data"]) == 1

        process.send_signal(signal.SIGTERM)

        assert process.wait(10) == 0


@contextmanager
def own_process(file: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "devstack.post_office", "--ledger", str(file)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
