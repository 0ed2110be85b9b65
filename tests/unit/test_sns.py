"""SMS and push by SNS: what goes over the wire, and what comes of the answers."""

import json
from typing import Any

import pytest
from botocore.stub import ANY

from tests.unit.messages import a_message, scripted
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.channels.sns import MAX_SMS, SnsPush, SnsSms
from tocsin.content.plain import Content

APPLICATIONS = {"fcm": "arn:aws:sns:us-east-1:1:app/GCM/ours", "apns": ""}
ENDPOINT = "arn:aws:sns:us-east-1:1:endpoint/GCM/ours/1"
LARGEST_PUSH = 4096  # bytes that APNs and FCM take, notification and all
TRANSACTIONAL = {"AWS.SNS.SMS.SMSType": {"DataType": "String", "StringValue": "Transactional"}}
SENDER = {"AWS.SNS.SMS.SenderID": {"DataType": "String", "StringValue": "Tocsin"}}


class Recorder:
    """A client that accepts everything and remembers it."""

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, **request: Any) -> dict[str, str]:
        self.published.append(request)
        return {"MessageId": "m-1"}


def texted(title: str, text: str) -> str:
    recorder = Recorder()
    SnsSms(recorder, "").send(a_message(Content(title, text, "")))
    return str(recorder.published[0]["Message"])


@pytest.mark.parametrize(("sender_id", "attributes"), [("", TRANSACTIONAL), ("Tocsin", TRANSACTIONAL | SENDER)])
def test_an_sms_goes_to_the_number_under_the_sender_id_if_there_is_one(sender_id: str, attributes: dict[str, Any]) -> None:
    with scripted("sns") as (client, script):
        expected = {"PhoneNumber": "+14155550100", "Message": "Shipped: It is on its way.", "MessageAttributes": attributes}
        script.add_response("publish", {"MessageId": "m-1"}, expected)

        assert SnsSms(client, sender_id).send(a_message()) == Accepted("m-1")


def test_a_title_that_the_text_begins_with_is_not_said_twice() -> None:
    assert texted("Shipped", "Shipped today") == "Shipped today"


def test_an_sms_is_cut_to_what_sns_takes() -> None:
    assert texted("T", "x" * 1597) == "T: " + "x" * 1597
    assert texted("T", "x" * 1598) == "T: " + "x" * 1596 + "…"
    assert len(texted("T", "x" * 20_000)) == MAX_SMS


def test_a_push_to_a_known_endpoint_makes_no_other() -> None:
    with scripted("sns") as (client, script):
        script.add_response("publish", {"MessageId": "m-1"}, {"TargetArn": ENDPOINT, "MessageStructure": "json", "Message": ANY})

        outcome = SnsPush(client, APPLICATIONS).send(a_message(device_endpoint_arn=ENDPOINT))

    assert outcome == Accepted("m-1", endpoint_arn=None)


def test_a_missing_endpoint_is_made_once_and_reported_back() -> None:
    with scripted("sns") as (client, script):
        expected = {"PlatformApplicationArn": APPLICATIONS["fcm"], "Token": "tok"}
        script.add_response("create_platform_endpoint", {"EndpointArn": ENDPOINT}, expected)
        script.add_response("publish", {"MessageId": "m-1"}, {"TargetArn": ENDPOINT, "MessageStructure": "json", "Message": ANY})

        outcome = SnsPush(client, APPLICATIONS).send(a_message())

    assert outcome == Accepted("m-1", endpoint_arn=ENDPOINT)


@pytest.mark.parametrize("platform", ["apns", "", "pager"])
def test_a_platform_without_an_application_is_a_matter_of_configuration(platform: str) -> None:
    outcome = SnsPush(Recorder(), APPLICATIONS).send(a_message(device_platform=platform))

    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.code) == (FailureClass.CONFIGURATION, "NoPlatformApplication")


def test_a_lost_answer_while_making_the_endpoint_is_only_transient_for_nothing_was_sent() -> None:
    with scripted("sns") as (client, script):
        script.add_client_error("create_platform_endpoint", "InternalError", http_status_code=500)

        outcome = SnsPush(client, APPLICATIONS).send(a_message())

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureClass.TRANSIENT


def test_a_lost_answer_to_the_push_itself_is_ambiguous() -> None:
    with scripted("sns") as (client, script):
        script.add_client_error("publish", "InternalError", http_status_code=500)

        outcome = SnsPush(client, APPLICATIONS).send(a_message(device_endpoint_arn=ENDPOINT))

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureClass.AMBIGUOUS


def test_a_disabled_endpoint_means_that_the_device_is_gone() -> None:
    with scripted("sns") as (client, script):
        script.add_client_error("publish", "EndpointDisabled", http_status_code=400)

        outcome = SnsPush(client, APPLICATIONS).send(a_message(device_endpoint_arn=ENDPOINT))

    assert isinstance(outcome, Failure)
    assert outcome.device_gone


def test_a_platform_application_that_does_not_exist_switches_no_device_off() -> None:
    with scripted("sns") as (client, script):
        script.add_client_error("create_platform_endpoint", "NotFound", "PlatformApplication does not exist", 404)

        outcome = SnsPush(client, APPLICATIONS).send(a_message())

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureClass.CONFIGURATION
    assert not outcome.device_gone


def test_a_push_has_a_body_for_every_platform() -> None:
    recorder = Recorder()

    SnsPush(recorder, APPLICATIONS).send(a_message(device_endpoint_arn=ENDPOINT))

    body = json.loads(recorder.published[0]["Message"])
    assert body["default"] == "It is on its way."
    for platform in ("APNS", "APNS_SANDBOX"):
        assert json.loads(body[platform])["aps"]["alert"] == {"title": "Shipped", "body": "It is on its way."}
    shown = json.loads(body["GCM"])["fcmV1Message"]["message"]["notification"]
    assert shown == {"title": "Shipped", "body": "It is on its way."}


@pytest.mark.parametrize("character", ["x", '"', "ü", "漢", "😀"])
def test_no_push_is_larger_than_the_platforms_take(character: str) -> None:
    recorder = Recorder()

    SnsPush(recorder, APPLICATIONS).send(
        a_message(Content(character * 200, character * 20_000, ""), device_endpoint_arn=ENDPOINT)
    )

    body = json.loads(recorder.published[0]["Message"])
    assert {platform: len(words.encode()) for platform, words in body.items() if len(words.encode()) > LARGEST_PUSH} == {}
