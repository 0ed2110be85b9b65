"""A work queue in a make-believe AWS account, and a way to read every hint on it, the delayed ones too."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from moto import mock_aws
from moto.core.config import DefaultConfig
from moto.sqs.models import sqs_backends

from tocsin import aws

REGION = "eu-west-1"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": REGION}
ACCOUNT_ID = "123456789012"
NAME = "work"


@dataclass(frozen=True, slots=True)
class Hint:
    ids: list[UUID]
    delay_seconds: int


class WorkQueue:
    def __init__(self, url: str) -> None:
        self.url = url

    def bodies(self) -> list[str]:
        return [message.body for message in self._messages()]

    def hints(self) -> list[Hint]:
        return [
            Hint(
                [UUID(one) for one in json.loads(message.body)["ids"]],
                round(max(0, message.delayed_until - (message.sent_timestamp or 0)) / 1000),
            )
            for message in self._messages()
        ]

    def clear(self) -> None:
        self._messages().clear()

    def _messages(self):  # type: ignore[no-untyped-def]
        # moto's own list: SQS itself shows a delayed message to nobody before its time
        return sqs_backends[ACCOUNT_ID][REGION].queues[NAME]._messages


@contextmanager
def make_believe() -> Iterator[WorkQueue]:
    """The account, empty but for the work queue. The caller has put ACCOUNT into the environment."""
    config: DefaultConfig = {"core": {"reset_boto3_session": False}}
    with mock_aws(config=config):
        yield WorkQueue(aws.client("sqs").create_queue(QueueName=NAME)["QueueUrl"])
