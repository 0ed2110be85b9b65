"""A message to send, and SDK clients that answer from a script."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.stub import Stubber

from tocsin.channels.ways import Message
from tocsin.content.plain import Content

CONTENT = Content("Shipped", "It is on its way.", "<p>It is on its way.</p>")
TAGS = {"tocsin_route": "n_email-alice", "tocsin_attempt": "1-2"}


def a_message(content: Content = CONTENT, **special: str) -> Message:
    ordinary = {
        "email": "alice@example.com",
        "phone": "+14155550100",
        "device_platform": "fcm",
        "device_token": "tok",
        "device_endpoint_arn": "",
    }
    return Message(content=content, tags=TAGS, **(ordinary | special))


@contextmanager
def scripted(service: str) -> Iterator[tuple[Any, Stubber]]:
    """A real client whose requests are checked against the service model and answered by the test."""
    client = boto3.client(  # type: ignore[call-overload]
        service,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()
