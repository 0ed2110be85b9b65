"""The work queues in a make-believe AWS account, and a way to read every nudge on them, the delayed ones too."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch
from uuid import UUID

from moto import backend_index, mock_aws
from moto.core.config import DefaultConfig
from moto.kms import models as kms
from moto.sqs.models import sqs_backends

from tocsin.foundation.settings import QUEUES

REGION = "eu-west-1"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": REGION}
ACCOUNT_ID = "123456789012"
# moto makes an RSA key for every KMS key, also for one that never signs: a tenth of a second of every test that has one.
_private_key = cache(kms.generate_private_key)


@dataclass(frozen=True, slots=True)
class Nudge:
    ids: list[UUID]
    delay_seconds: int
    queue: str
    group: str


def arn_of(queue: str) -> str:
    """What the event source of this queue calls it."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:work-{queue}"


class WorkQueue:
    """All of them together; what is said of one queue names it."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    @property
    def variables(self) -> dict[str, str]:
        """What the template tells a function of them."""
        return {f"{queue.upper()}_QUEUE_URL": url for queue, url in self.urls.items()}

    def bodies(self, *queues: str) -> list[str]:
        return [message.body for queue in queues or QUEUES for message in self._messages(queue)]

    def nudges(self) -> list[Nudge]:
        return [
            Nudge(
                [UUID(one) for one in json.loads(message.body)["ids"]],
                round(max(0, message.delayed_until - (message.sent_timestamp or 0)) / 1000),
                queue,
                message.group_id or "",
            )
            for queue in QUEUES
            for message in self._messages(queue)
        ]

    def clear(self) -> None:
        for queue in QUEUES:
            self._messages(queue).clear()

    def _messages(self, queue: str) -> Any:
        # moto's own list: SQS itself shows a delayed message to nobody before its time
        return sqs_backends[ACCOUNT_ID][REGION].queues[f"work-{queue}"]._messages


@contextmanager
def make_believe() -> Iterator[WorkQueue]:
    """The account, empty but for the work queues. The caller has put ACCOUNT into the environment."""
    config: DefaultConfig = {"core": {"reset_boto3_session": False}}
    account = mock_aws(config=config)
    # Nothing here speaks to AWS with `requests`, for which moto would lay out 1,300 patterns anew in every test.
    with patch.object(backend_index, "backend_url_patterns", []):
        account.start()
    try:
        sqs = sqs_backends[ACCOUNT_ID][REGION]
        names = {queue: sqs.create_queue(f"work-{queue}").name for queue in QUEUES}
        with patch.object(kms, "generate_private_key", _private_key):
            yield WorkQueue({queue: f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT_ID}/{name}" for queue, name in names.items()})
    finally:
        account.stop()
