"""Email by SendGrid: what goes over the wire, and what comes of the answers."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from devstack.post_office import PostOffice
from devstack.post_office.letters import Reply
from tests.unit.messages import TAGS, a_message
from tests.unit.web_servers import answering, json_reply, nobody
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.channels.sendgrid import BY_FIELD, SendGridEmail
from tocsin.channels.ways import Channel, Credentials
from tocsin.content.attachments import AttachedFile
from tocsin.content.plain import Content

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass
CONFIG = {"from_email": "notify@example.com"}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def sendgrid(url: str, config: dict[str, Any] = CONFIG, *, timeout: float = 5, api_key: str = "SG.key") -> Channel:
    return SendGridEmail(Credentials(api_key), config, url, "lane", timeout, allow_private=True)


def failed(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure)
    return outcome


def test_an_email_arrives_with_its_words_its_tags_and_its_headers(office: PostOffice) -> None:
    config = CONFIG | {"from_name": "Tocsin", "reply_to": "help@example.com"}
    headers = {"List-Unsubscribe": "<https://example.com/u>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}

    outcome = sendgrid(office.url, config).send(replace(a_message(), headers=headers))

    [row] = office.ledger()
    assert outcome == Accepted(row["message_id"])
    assert (row["provider"], row["to"], row["from"]) == ("sendgrid", ["alice@example.com"], "Tocsin <notify@example.com>")
    assert (row["subject"], row["text"], row["html"]) == ("Shipped", "It is on its way.", "<p>It is on its way.</p>")
    assert (row["tags"], row["headers"]) == (TAGS, headers | {"Reply-To": "help@example.com"})


def test_the_brand_says_what_the_providers_own_configuration_does_not(office: PostOffice) -> None:
    branded = a_message(from_name="Example Shop", reply_to="shop@example.com")

    sendgrid(office.url).send(branded)
    sendgrid(office.url, CONFIG | {"from_name": "Tocsin", "reply_to": "help@example.com"}).send(branded)

    brands, own = office.ledger()
    assert (brands["from"], brands["headers"]["Reply-To"]) == ("Example Shop <notify@example.com>", "shop@example.com")
    assert (own["from"], own["headers"]["Reply-To"]) == ("Tocsin <notify@example.com>", "help@example.com")


def test_the_request_is_what_sendgrid_documents() -> None:
    with answering(Reply(202, b"", "text/plain", {"X-Message-Id": "m-1"})) as server:
        assert sendgrid(server.url + "/").send(a_message()) == Accepted("m-1")

    [(_, path, body, headers)] = server.asked
    assert (path, headers["Authorization"]) == ("/v3/mail/send", "Bearer SG.key")
    assert json.loads(body) == {
        "personalizations": [{"to": [{"email": "alice@example.com"}]}],
        "from": {"email": "notify@example.com"},
        "subject": "Shipped",
        "content": [
            {"type": "text/plain", "value": "It is on its way."},
            {"type": "text/html", "value": "<p>It is on its way.</p>"},
        ],
        "custom_args": TAGS,
    }


def test_a_part_without_words_is_left_out_for_sendgrid_takes_no_empty_one(office: PostOffice) -> None:
    assert isinstance(sendgrid(office.url).send(a_message(Content("Only text", "text", ""))), Accepted)

    assert office.ledger()[0]["html"] is None


@pytest.mark.parametrize(
    ("mode", "kind", "code", "rows"),
    [
        ("refuse", PERMANENT, "personalizations", 0),
        ("throttle", THROTTLED, "HTTP 429", 0),
        ("quota", THROTTLED, "OutOfCredits", 0),
        ("suspend", CONFIGURATION, "HTTP 403", 0),
        ("not_found", CONFIGURATION, "HTTP 404", 0),
        ("unavailable", TRANSIENT, "HTTP 503", 0),
        ("error_before", AMBIGUOUS, "HTTP 500", 0),
        ("error_after", AMBIGUOUS, "HTTP 500", 1),
        ("drop", AMBIGUOUS, "connection_closed", 0),
        ("accept_then_drop", AMBIGUOUS, "connection_closed", 1),
        ("accept_then_hang", AMBIGUOUS, "timeout", 1),
    ],
)
def test_every_way_to_fail_has_its_class(office: PostOffice, mode: str, kind: FailureClass, code: str, rows: int) -> None:
    office.fail("email", mode)

    failure = failed(sendgrid(office.url, timeout=0.6 if mode.endswith("hang") else 5).send(a_message()))

    assert (failure.kind, failure.code) == (kind, code)
    assert len(office.ledger()) == rows


@pytest.mark.parametrize(("field", "kind"), BY_FIELD.items())
def test_a_fault_in_a_field_of_our_configuration_is_not_the_messages(field: str, kind: FailureClass) -> None:
    errors = {"errors": [{"message": "Does not contain a valid address.", "field": f"{field}.email", "help": None}]}

    with answering(json_reply(400, errors)) as server:
        failure = failed(sendgrid(server.url).send(a_message()))

    assert (failure.kind, failure.code, kind) == (CONFIGURATION, field, CONFIGURATION)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(202, b"", "text/plain"),
        Reply(200, b"", "text/plain", {"X-Message-Id": "only-checked"}),
        json_reply(500, {"errors": "none"}),
        json_reply(502, {"errors": [1]}),
        json_reply(504, []),
    ],
)
def test_an_answer_that_is_neither_yes_nor_a_listed_no_is_ambiguous(reply: Reply) -> None:
    with answering(reply) as server:
        assert failed(sendgrid(server.url).send(a_message())).kind is AMBIGUOUS


def test_how_long_to_wait_is_passed_on_and_used_up_credits_rest_the_lane(office: PostOffice) -> None:
    office.fail("email", "throttle", times=1)
    office.fail("email", "quota", times=1)

    throttled, out_of_credits = (failed(sendgrid(office.url).send(a_message())) for _ in range(2))

    assert (throttled.retry_after, throttled.pause) == (timedelta(seconds=2), None)
    assert out_of_credits.pause == timedelta(minutes=10)


def test_no_connection_means_that_nothing_was_sent() -> None:
    assert failed(sendgrid(nobody()).send(a_message())).kind is TRANSIENT


@pytest.mark.parametrize(
    ("api_key", "config"), [("", CONFIG), ("SG.key", {}), ("SG.key", {"from_email": None}), ("a\nb", CONFIG)]
)
def test_what_is_not_configured_is_said_without_asking_anybody(api_key: str, config: dict[str, Any]) -> None:
    failure = failed(sendgrid(nobody(), config, api_key=api_key).send(a_message()))

    assert failure.kind is CONFIGURATION


def test_the_key_is_not_shown() -> None:
    assert "SG.key" not in repr(sendgrid(nobody()))


def test_copies_files_and_where_answers_to_this_one_go_are_part_of_it() -> None:
    message = replace(
        a_message(reply_to="help@example.com", asked_reply_to="billing@example.com"),
        cc=("bob@example.com",),
        attachments=(AttachedFile("invoice.pdf", "application/pdf", b"%PDF"),),
    )
    with answering(Reply(202, b"", "text/plain", {"X-Message-Id": "m-1"})) as server:
        outcome = sendgrid(server.url, CONFIG | {"reply_to": "usual@example.com"}).send(message)

    [(_, _, body, _)] = server.asked
    mail = json.loads(body)
    assert outcome == Accepted("m-1")
    assert mail["personalizations"] == [{"to": [{"email": "alice@example.com"}], "cc": [{"email": "bob@example.com"}]}]
    assert mail["reply_to"] == {"email": "billing@example.com"}
    assert mail["attachments"] == [
        {"filename": "invoice.pdf", "type": "application/pdf", "disposition": "attachment", "content": "JVBERg=="}
    ]


def test_a_refused_address_for_answers_that_the_intent_gave_stops_nobody_else() -> None:
    wrong = json_reply(400, {"errors": [{"message": "no", "field": "reply_to.email"}]})
    with answering(wrong) as server:
        own = failed(sendgrid(server.url).send(a_message(asked_reply_to="billing@example.com")))
        usual = failed(sendgrid(server.url).send(a_message(reply_to="help@example.com")))

    assert (own.kind, usual.kind) == (PERMANENT, CONFIGURATION)
