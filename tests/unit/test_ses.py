"""Email by SES: what goes over the wire, and what comes of the answers."""

from dataclasses import replace
from email.header import decode_header, make_header

import pytest
from botocore.stub import ANY

from tests.unit.messages import a_message, scripted
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.channels.ses import SesEmail, named
from tocsin.content.attachments import AttachedFile


def test_an_email_carries_its_words_its_tags_and_the_configuration_set() -> None:
    with scripted("sesv2") as (client, script):
        script.add_response(
            "send_email",
            {"MessageId": "m-1"},
            {
                "FromEmailAddress": "notify@example.com",
                "Destination": {"ToAddresses": ["alice@example.com"]},
                "Content": {
                    "Simple": {
                        "Subject": {"Data": "Shipped", "Charset": "UTF-8"},
                        "Body": {
                            "Text": {"Data": "It is on its way.", "Charset": "UTF-8"},
                            "Html": {"Data": "<p>It is on its way.</p>", "Charset": "UTF-8"},
                        },
                    }
                },
                "EmailTags": [
                    {"Name": "tocsin_route", "Value": "n_email-alice"},
                    {"Name": "tocsin_attempt", "Value": "1-2"},
                ],
                "ConfigurationSetName": "events",
            },
        )

        outcome = SesEmail(client, "notify@example.com", "events").send(a_message())

    assert outcome == Accepted("m-1")


@pytest.mark.parametrize(
    ("name", "sender"),
    [
        ("Example Shop", "Example Shop <notify@example.com>"),
        ('Shop, "Ltd" <x@evil.example>', '"Shop, \\"Ltd\\" <x@evil.example>" <notify@example.com>'),
        ("Müller & Söhne", "=?utf-8?b?TcO8bGxlciAmIFPDtmhuZQ==?= <notify@example.com>"),
    ],
)
def test_the_brands_name_stands_before_the_address_and_answers_go_where_it_says(name: str, sender: str) -> None:
    with scripted("sesv2") as (client, script):
        asked = ANY_EMAIL | {"FromEmailAddress": sender, "ReplyToAddresses": ["help@example.com"]}
        script.add_response("send_email", {"MessageId": "m-1"}, asked)

        channel = SesEmail(client, "notify@example.com", "events")

        assert channel.send(a_message(from_name=name, reply_to="help@example.com")) == Accepted("m-1")


def test_a_long_name_is_one_line_of_short_encoded_words_and_replaces_another_name() -> None:
    sender = named("Tocsin <notify@example.com>", "ü" * 100)

    words, address = sender.rsplit(" ", 1)
    assert address == "<notify@example.com>"
    assert "\n" not in sender
    assert all(len(word) <= 75 for word in words.split(" "))
    assert str(make_header(decode_header(words))) == "ü" * 100


def test_a_refusal_is_an_outcome_and_not_an_exception() -> None:
    with scripted("sesv2") as (client, script):
        script.add_client_error("send_email", "MessageRejected", "no", 400)

        outcome = SesEmail(client, "notify@example.com", "events").send(a_message())

    assert outcome == Failure(FailureClass.PERMANENT, "MessageRejected", "no")


def test_an_answer_without_a_message_id_is_ambiguous_and_not_lost() -> None:
    with scripted("sesv2") as (client, script):
        script.add_response("send_email", {}, ANY_EMAIL)

        outcome = SesEmail(client, "notify@example.com", "events").send(a_message())

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureClass.AMBIGUOUS


ANY_EMAIL = dict.fromkeys(("FromEmailAddress", "Destination", "Content", "EmailTags", "ConfigurationSetName"), ANY)


def test_copies_files_and_where_answers_to_this_one_go_are_part_of_it() -> None:
    file = {
        "FileName": "invoice.pdf",
        "ContentType": "application/pdf",
        "ContentDisposition": "ATTACHMENT",
        "ContentTransferEncoding": "BASE64",
        "RawContent": b"%PDF",
    }
    simple = {"Subject": ANY, "Body": ANY, "Attachments": [file]}
    with scripted("sesv2") as (client, script):
        asked = ANY_EMAIL | {
            "Destination": {"ToAddresses": ["alice@example.com"], "CcAddresses": ["bob@example.com"]},
            "ReplyToAddresses": ["billing@example.com"],
            "Content": {"Simple": simple},
        }
        script.add_response("send_email", {"MessageId": "m-1"}, asked)
        message = replace(
            a_message(reply_to="help@example.com", asked_reply_to="billing@example.com"),
            cc=("bob@example.com",),
            attachments=(AttachedFile("invoice.pdf", "application/pdf", b"%PDF"),),
        )

        assert SesEmail(client, "notify@example.com", "events").send(message) == Accepted("m-1")
