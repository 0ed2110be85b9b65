"""Email by SES: what goes over the wire, and what comes of the answers."""

from botocore.stub import ANY

from tests.unit.messages import a_message, scripted
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.channels.ses import SesEmail


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
