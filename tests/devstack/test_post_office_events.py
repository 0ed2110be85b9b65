"""What the post office tells about an email after it accepted it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from devstack.post_office import PostOffice
from tests.devstack.sdk import control, mail, text, wait_until


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def test_an_accepted_email_is_followed_by_send_and_delivery_with_its_tags(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    with PostOffice(tmp_path / "ledger.sqlite", events=events.append) as office:
        tags = [{"Name": "tocsin_attempt", "Value": "a-1"}]
        message_id = mail(office.url, EmailTags=tags, ConfigurationSetName="tocsin")
        wait_until(lambda: len(events) == 2)

    assert [event["eventType"] for event in events] == ["Send", "Delivery"]
    for event in events:
        assert event["mail"]["messageId"] == message_id
        assert event["mail"]["destination"] == ["ada@example.com"]
        assert event["mail"]["tags"] == {"ses:configuration-set": ["tocsin"], "tocsin_attempt": ["a-1"]}
    assert events[1]["delivery"]["recipients"] == ["ada@example.com"]


@pytest.mark.parametrize(
    ("to", "kinds"),
    [
        ("bounce+1@example.com", ["Send", "Bounce"]),
        ("Ada <complaint@example.com>", ["Send", "Delivery", "Complaint"]),
    ],
)
def test_the_recipients_name_decides_what_its_mailbox_does(office: PostOffice, to: str, kinds: list[str]) -> None:
    mail(office.url, to, ConfigurationSetName="tocsin")

    wait_until(lambda: [event["eventType"] for event in control(office.url, "GET", "/_events")["data"]] == kinds)


def test_an_email_whose_answer_was_lost_has_events_and_one_without_configuration_set_has_none(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    with PostOffice(tmp_path / "ledger.sqlite", events=events.append) as office:
        mail(office.url)
        text(office.url)
        office.fail("email", "accept_then_drop")
        with pytest.raises(ConnectionClosedError):
            mail(office.url, ConfigurationSetName="tocsin")

    assert [event["mail"]["messageId"] for event in events] == [office.ledger()[-1]["message_id"]] * 2


def test_events_can_be_dropped_doubled_and_held_back(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []

    def told() -> list[str]:
        return [f"{event['mail']['destination'][0]} {event['eventType']}" for event in events]

    with PostOffice(tmp_path / "ledger.sqlite", events=events.append) as office:
        for mode, to in (("drop", "one@x.org"), ("hold", "two@x.org"), ("dup", "three@x.org"), ("on", "four@x.org")):
            control(office.url, "PUT", "/_events", {"mode": mode})
            mail(office.url, to, ConfigurationSetName="tocsin")

    two, three = ["two@x.org Send", "two@x.org Delivery"], ["three@x.org Send", "three@x.org Delivery"]
    assert told() == [*two, *two, *three, *three, "four@x.org Send", "four@x.org Delivery"]


def test_a_callback_that_fails_does_not_end_the_events(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []

    def tell(event: dict[str, Any]) -> None:
        events.append(event)
        raise RuntimeError("the queue is down")

    with PostOffice(tmp_path / "ledger.sqlite", events=tell) as office:
        mail(office.url, ConfigurationSetName="tocsin")

    assert len(events) == 2
