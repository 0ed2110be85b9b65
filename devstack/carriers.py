"""Topics and rules carry messages into queues that admit them; what a queue refuses goes to their dead letters, or nowhere."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from moto.events.models import Rule
from moto.sns.models import Subscription

from devstack.iam import asks
from devstack.iam.callers import Caller, service
from devstack.iam.guard import Judge, Refused

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Carrier:
    """A service that acts for a topic or a rule, and the dead-letter queue for each queue it carries to, by their names."""

    caller: Caller
    dead_letters: dict[str, str]


class Carriers:
    """Notices in whose name moto sends to a queue, and asks whether that may be."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._now: ContextVar[Carrier | None] = ContextVar("carrier", default=None)

    def install(self) -> None:
        publish, send = Subscription.publish, Rule.send_to_targets

        def published(subscription: Subscription, *args: Any, **kwargs: Any) -> None:
            with self._carrying(_of_subscription(subscription)):
                publish(subscription, *args, **kwargs)

        def sent(rule: Rule, *args: Any, **kwargs: Any) -> None:
            if rule.state == "DISABLED":
                return
            with self._carrying(_of_rule(rule)):
                send(rule, *args, **kwargs)

        Subscription.publish = published  # type: ignore[method-assign,assignment]
        Rule.send_to_targets = sent  # type: ignore[method-assign,assignment]

    def admitted(self, queue: str) -> str | None:
        """Where a message for this queue may go: there, to the dead letters, or nowhere."""
        carrier = self._now.get()
        if carrier is None:
            return queue
        for where in (queue, carrier.dead_letters.get(queue)):
            if where and self._admits(where, carrier.caller):
                return where
        logger.warning("a message of %s for %s is lost: the queue's policy does not admit it", carrier.caller.source_arn, queue)
        return None

    def _admits(self, queue: str, caller: Caller) -> bool:
        try:
            self._judge.check(caller, asks.of_sqs("SendMessage", queue))
        except Refused:
            return False
        return True

    @contextmanager
    def _carrying(self, carrier: Carrier) -> Iterator[None]:
        before = self._now.set(carrier)
        try:
            yield
        finally:
            self._now.reset(before)


def _of_subscription(subscription: Subscription) -> Carrier:
    redrive = json.loads(subscription.attributes.get("RedrivePolicy") or "{}")
    dead = {_name(subscription.endpoint): _name(redrive["deadLetterTargetArn"])} if redrive else {}
    return Carrier(service("sns.amazonaws.com", subscription.topic.arn), dead)


def _of_rule(rule: Rule) -> Carrier:
    dead = {_name(each["Arn"]): _name(each["DeadLetterConfig"]["Arn"]) for each in rule.targets if "DeadLetterConfig" in each}
    return Carrier(service("events.amazonaws.com", rule.arn), dead)


def _name(arn: str) -> str:
    return arn.rpartition(":")[2]
