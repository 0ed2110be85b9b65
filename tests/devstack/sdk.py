"""The real SDK, pointed at a post office, and the post office's back door."""

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

APNS = "arn:aws:sns:eu-central-1:000000000000:app/APNS/tocsin"
FCM = "arn:aws:sns:eu-central-1:000000000000:app/GCM/tocsin"
DEVICE = "device-1"


@contextmanager
def client(url: str, service: str, *, read_timeout: float = 10) -> Iterator[Any]:
    """A client that never retries: each call is one request."""
    config = Config(retries={"mode": "standard", "total_max_attempts": 1}, read_timeout=read_timeout)
    client = _session(threading.get_ident()).client(service, endpoint_url=url, config=config)
    try:
        yield client
    finally:
        client.close()


@cache
def _session(thread: int) -> Any:
    # One for each thread, because a session is not safe to share; kept, because it is slow to make.
    return boto3.Session("test", "test", region_name="eu-central-1")


def mail(url: str, to: str = "ada@example.com", *, read_timeout: float = 10, **changes: Any) -> str:
    simple = {"Subject": {"Data": "Hello"}, "Body": {"Text": {"Data": "Hi"}, "Html": {"Data": "<p>Hi"}}}
    request: dict[str, Any] = {
        "FromEmailAddress": "tocsin@example.com",
        "Destination": {"ToAddresses": [to]},
        "Content": {"Simple": simple},
    }
    with client(url, "sesv2", read_timeout=read_timeout) as ses:
        return str(ses.send_email(**request | changes)["MessageId"])


def text(url: str, to: str = "+4915112345678", message: str = "Hi", **changes: Any) -> str:
    with client(url, "sns") as sns:
        return str(sns.publish(PhoneNumber=to, Message=message, **changes)["MessageId"])


def push(url: str, token: str = DEVICE, application: str = APNS, message: str = "Hi", **changes: Any) -> str:
    with client(url, "sns") as sns:
        arn = sns.create_platform_endpoint(PlatformApplicationArn=application, Token=token)["EndpointArn"]
        return str(sns.publish(TargetArn=arn, Message=message, **changes)["MessageId"])


SENDS: dict[str, Callable[[str], str]] = {"email": mail, "sms": text, "push": push}


def control(url: str, method: str, path: str, content: object = None) -> Any:
    request = urllib.request.Request(url + path, json.dumps(content).encode() if content else None, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
