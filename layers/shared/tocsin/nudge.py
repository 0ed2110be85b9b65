"""Hints on the work queue: ids only. Losing one costs a minute, never a message: the sweep finds what is due."""

import json
import math
from datetime import timedelta
from uuid import UUID

from aws_lambda_powertools import Logger

from tocsin import aws
from tocsin.settings import settings

IDS_PER_HINT = 50
HINTS_PER_CALL = 10
LONGEST_DELAY = timedelta(minutes=15)

log = Logger(child=True)


def nudge(ids: list[UUID], *, delay: timedelta = timedelta(0)) -> bool:
    """Announce work, now or after a delay the queue can keep. False when the queue did not take it; that is only logged."""
    return nudge_each([(delay, ids)])


def nudge_each(due: list[tuple[timedelta, list[UUID]]]) -> bool:
    """Announce work due at different times with as few calls as possible."""
    hints = [
        (math.ceil(delay.total_seconds()), ids[start : start + IDS_PER_HINT])
        for delay, ids in due
        if delay <= LONGEST_DELAY
        for start in range(0, len(ids), IDS_PER_HINT)
    ]
    taken = True
    for start in range(0, len(hints), HINTS_PER_CALL):
        taken = _send(hints[start : start + HINTS_PER_CALL]) and taken
    return taken


def nudge_fan_out(*, delay: timedelta = timedelta(0)) -> bool:
    """Announce that domain events wait behind the cursor."""
    return _send([(math.ceil(delay.total_seconds()), [])])


def is_reachable_by_hint(delay: timedelta) -> bool:
    return delay <= LONGEST_DELAY


def _send(hints: list[tuple[int, list[UUID]]]) -> bool:
    url = settings().work_queue_url
    try:
        if len(hints) == 1:
            seconds, ids = hints[0]
            aws.client("sqs").send_message(QueueUrl=url, MessageBody=_body(ids), DelaySeconds=max(0, seconds))
            return True
        entries = [
            {"Id": str(n), "MessageBody": _body(ids), "DelaySeconds": max(0, seconds)} for n, (seconds, ids) in enumerate(hints)
        ]
        answer = aws.client("sqs").send_message_batch(QueueUrl=url, Entries=entries)
        return not answer.get("Failed")
    except Exception as error:
        log.warning("nudge failed; the sweep will find the work", extra={"error": type(error).__name__})
        return False


def _body(ids: list[UUID]) -> str:
    """A hint without ids is for the fan-out, whose cursor knows what waits."""
    hint: dict[str, object] = {"v": 1, "ids": [str(one) for one in ids]}
    return json.dumps(hint if ids else hint | {"fanout": True}, separators=(",", ":"))
