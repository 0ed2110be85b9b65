"""Nudges on the work queues: ids only. Losing one costs a minute, never a message: the sweep finds what is due."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger

from tocsin.foundation import aws
from tocsin.foundation.due import Due
from tocsin.foundation.settings import settings

IDS_PER_NUDGE = 50
NUDGES_PER_CALL = 10
LONGEST_DELAY = timedelta(minutes=15)
PATIENCE = (2.0, 5.0)  # seconds to connect and to read, for whom nobody waits

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Nudge:
    """One message: work of one tenant on one queue, due at the same second. SQS is fair between the groups of a queue."""

    queue: str
    group: str
    delay_seconds: int
    due: list[Due]

    @property
    def body(self) -> str:
        """A nudge without ids is for the fan-out, whose cursor knows what waits."""
        said: dict[str, object] = {"v": 1, "ids": [str(one.id) for one in self.due]}
        return json.dumps(said if self.due else said | {"fanout": True}, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Received:
    """What a nudge says to whom it wakes."""

    ids: list[UUID]
    events_wait: bool = False


class UnreadableNudge(ValueError):
    """A message that is no nudge of ours. The worker forgets it."""


def read(body: str) -> Received:
    try:
        said = json.loads(body)
        if said["v"] != 1:
            raise UnreadableNudge("unknown version")
        return Received([UUID(one) for one in said["ids"]], said.get("fanout") is True)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableNudge(type(error).__name__) from error


def nudge(
    due: Iterable[Due], *, delay: timedelta = timedelta(0), most_per_tenant: int | None = None, patient: bool = False
) -> list[Due]:
    """Nudge a worker, now or after a delay the queue can keep. Returns what the queue did not take; that is only logged."""
    return nudge_each([(delay, due)], most_per_tenant=most_per_tenant, patient=patient)


def nudge_each(
    due: Iterable[tuple[timedelta, Iterable[Due]]], *, most_per_tenant: int | None = None, patient: bool = False
) -> list[Due]:
    """Nudge workers for what is due at different times with as few calls as possible.

    `most_per_tenant` nudges are enough to start workers, who go on with the rest of their queue."""
    nudges = list(_nudges(due, most_per_tenant))
    missed: list[Due] = []
    for queue in dict.fromkeys(nudge.queue for nudge in nudges):
        waiting = iter([nudge for nudge in nudges if nudge.queue == queue])
        is_deaf = False
        while call := list(islice(waiting, NUDGES_PER_CALL)):
            refused = call if is_deaf else _send(queue, call, patient=patient)
            is_deaf = is_deaf or len(refused) == len(call)  # it is not asked again: the rest would cost as long each
            missed += [one for nudge in refused for one in nudge.due]
    return missed


def nudge_fan_out(tenant_id: UUID | None = None, *, delay: timedelta = timedelta(0)) -> bool:
    """Say that domain events wait behind the cursor."""
    return not _send("plan", [Nudge("plan", str(tenant_id or "fanout"), math.ceil(delay.total_seconds()), [])], patient=False)


def is_reachable_by_nudge(delay: timedelta) -> bool:
    return delay <= LONGEST_DELAY


def _nudges(due: Iterable[tuple[timedelta, Iterable[Due]]], most_per_tenant: int | None) -> Iterator[Nudge]:
    groups: dict[tuple[str, UUID, int], list[Due]] = {}
    for delay, pieces in due:
        if is_reachable_by_nudge(delay):
            seconds = max(0, math.ceil(delay.total_seconds()))
            for one in pieces:
                groups.setdefault((one.queue, one.tenant_id, seconds), []).append(one)
    for (queue, tenant_id, seconds), group in groups.items():
        most = len(group) if most_per_tenant is None else most_per_tenant * IDS_PER_NUDGE
        for start in range(0, min(len(group), most), IDS_PER_NUDGE):
            yield Nudge(queue, str(tenant_id), seconds, group[start : start + IDS_PER_NUDGE])


def _send(queue: str, nudges: list[Nudge], *, patient: bool) -> list[Nudge]:
    """Hand these to SQS; returns what it did not take."""
    try:
        url = settings().queue_url(queue)
        client = aws.client("sqs", PATIENCE) if patient else aws.client("sqs")
        if len(nudges) == 1:
            client.send_message(QueueUrl=url, **_message(nudges[0]))
            return []
        entries = [{"Id": str(n), **_message(nudge)} for n, nudge in enumerate(nudges)]
        failed = client.send_message_batch(QueueUrl=url, Entries=entries).get("Failed", [])
        return [nudges[int(one["Id"])] for one in failed]
    except Exception as error:
        log.warning("nudge failed; the sweep will find the work", extra={"queue": queue, "error": type(error).__name__})
        return nudges


def _message(nudge: Nudge) -> dict[str, Any]:
    return {"MessageBody": nudge.body, "DelaySeconds": nudge.delay_seconds, "MessageGroupId": nudge.group}
