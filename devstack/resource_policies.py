"""The policies of queues and topics, as whoever made them set them."""

import json
from functools import lru_cache

from moto.sns.models import sns_backends

from devstack.iam import policies
from devstack.iam.policies import Policy
from devstack.intrinsics import ACCOUNT, REGION
from devstack.sqs.queues import Queues

OF_QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:"
OF_TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:"


class ResourcePolicies:
    def __init__(self, queues: Queues) -> None:
        self._queues = queues

    def find(self, arn: str) -> Policy | None:
        """By ARN; None where there is none."""
        if arn.startswith(OF_QUEUE):
            return _read(self._queues.policy(arn.removeprefix(OF_QUEUE)))
        if arn.startswith(OF_TOPIC):
            topic = sns_backends[ACCOUNT][REGION].topics.get(arn)
            return _read(topic.policy) if topic else None
        return None


@lru_cache(maxsize=256)
def _read(text: str) -> Policy | None:
    return policies.read(json.loads(text)) if text else None
