"""The post office as the stack runs it: its events go where the template says that SES publishes them."""

import argparse
import json
import signal
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from devstack.declared import EmailEvents
from devstack.intrinsics import REGION
from devstack.post_office import PostOffice


def publisher(destinations: Sequence[EmailEvents], aws_url: str) -> Callable[[dict[str, Any]], None]:
    """A function that passes an event on to every topic that asked for its kind."""

    @cache
    def sns() -> Any:
        import boto3  # a quarter of a second that nobody waits for before the first email

        session = boto3.Session(region_name=REGION, aws_access_key_id="test", aws_secret_access_key="test")
        return session.client("sns", endpoint_url=aws_url)

    def publish(event: dict[str, Any]) -> None:
        sets = event["mail"]["tags"]["ses:configuration-set"]
        for each in destinations:
            wanted = {kind.lower() for kind in each.types}
            if each.configuration_set in sets and event["eventType"].lower() in wanted:
                subject = "Amazon SES Email Event Notification"
                sns().publish(TopicArn=each.topic_arn, Subject=subject, Message=json.dumps(event))

    return publish


def main() -> None:
    parser = argparse.ArgumentParser(prog="devstack.post_counter")
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--aws", required=True, help="the endpoint with the topics")
    parser.add_argument("--events", type=json.loads, default=[], help="JSON: [[configuration set, topic, [types]]]")
    options = parser.parse_args()
    told_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told_to_end.set())
    destinations = [EmailEvents(name, topic, tuple(types)) for name, topic, types in options.events]
    events = publisher(destinations, options.aws)
    with PostOffice(options.ledger, host=options.host, port=options.port, events=events) as office:
        print(office.url, flush=True)
        told_to_end.wait()


if __name__ == "__main__":
    main()
