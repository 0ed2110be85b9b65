"""One call of the API: what is asked of whom, and what every action needs to read it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from devstack.intrinsics import ACCOUNT
from devstack.sqs.queues import Queues

Asked = dict[str, Any]  # as the API's model describes it
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """All queues, the address they are reached at, and whether the caller has hung up meanwhile."""

    queues: Queues
    base_url: str
    is_gone: Callable[[], bool] = lambda: False

    def url(self, name: str) -> str:
        return f"{self.base_url}/{ACCOUNT}/{name}"


def queue_name(asked: Asked) -> str:
    """A queue URL ends with it; the name alone is accepted too."""
    name: str = asked["QueueUrl"].rpartition("/")[2]
    return name
