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
from devstack.iam.callers import Callers
from devstack.iam.guard import Judge
from devstack.intrinsics import ACCOUNT, REGION
from devstack.post_office import PostOffice
from devstack.post_office.rules import Rules


def publisher(destinations: Sequence[EmailEvents], aws_url: str) -> Callable[[dict[str, Any]], None]:
    """A function that passes an event on to every topic that asked for its kind."""

    @cache
    def sns(configuration_set: str) -> Any:
        import boto3  # a quarter of a second that nobody waits for before the first email

        # SES publishes in its own name, for its configuration set: the topic's policy decides. The token says for which.
        token = f"arn:aws:ses:{REGION}:{ACCOUNT}:configuration-set/{configuration_set}"
        session = boto3.Session("ses.amazonaws.com", "any", token, region_name=REGION)
        return session.client("sns", endpoint_url=aws_url)

    def publish(event: dict[str, Any]) -> None:
        sets = event["mail"]["tags"]["ses:configuration-set"]
        for each in destinations:
            wanted = {kind.lower() for kind in each.types}
            if each.configuration_set in sets and event["eventType"].lower() in wanted:
                subject = "Amazon SES Email Event Notification"
                sns(each.configuration_set).publish(TopicArn=each.topic_arn, Subject=subject, Message=json.dumps(event))

    return publish


def main() -> None:
    parser = argparse.ArgumentParser(prog="devstack.post_counter")
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--aws", required=True, help="the endpoint with the topics")
    parser.add_argument("--events", type=json.loads, default=[], help="JSON: [[configuration set, topic, [types]]]")
    parser.add_argument("--rights", type=Path, required=True, help="the file that says what each function may do")
    parser.add_argument("--paused", action="append", default=[], help="a configuration set with which nothing is sent")
    options = parser.parse_args()
    told_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told_to_end.set())
    destinations = [EmailEvents(name, topic, tuple(types)) for name, topic, types in options.events]
    rules = Rules(Judge(Callers(options.rights)), frozenset(options.paused))
    events = publisher(destinations, options.aws)
    with PostOffice(options.ledger, host=options.host, port=options.port, events=events, rules=rules) as office:
        print(office.url, flush=True)
        told_to_end.wait()


if __name__ == "__main__":
    main()
