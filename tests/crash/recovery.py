"""After the crash: the clock goes on, the sweep nudges, dispatch works, events come in, until nothing is left to do."""

import os
from collections.abc import Callable
from itertools import cycle
from typing import Any

import psycopg
from psycopg import sql

from tests.crash.child import Context
from tests.crash.news import News
from tocsin.foundation import aws, database
from tocsin.foundation.settings import QUEUES

STEP_SECONDS = 301  # longer than a lease, the first nudge after 30 s and the next after 5 min; three pass the evidence window
MOST_ROUNDS = 16
MOST = 10  # messages that SQS gives at once
WORK = """
    SELECT EXISTS (SELECT FROM outbox) OR EXISTS (
        SELECT FROM domain_events JOIN domain_events_processed AS processed
        ON (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id))
"""

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def recover(
    handlers: dict[str, Handler],
    *,
    admin_dsn: str,
    offset: float,
    rounds: int = MOST_ROUNDS,
    copies: int = 1,
    office_url: str = "",
    news: str = "",
) -> dict[str, Any]:
    """Alternate sweep and dispatch until no work and no event is left, and say how often and how far the clock moved.

    `copies` is how often each SQS message is delivered. With `news`, the post office's events come to the feedback door:
    "early", before anybody looks at what the dead worker left, or "late", when its open attempts are known as unknown."""
    told = News(office_url, handlers["feedback"])
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        for number in range(rounds):
            if news == "early":
                told.tell()
            if admin.execute(WORK).fetchone() == (False,):
                if news:
                    told.tell()
                return {"rounds": number, "offset": offset}
            offset += STEP_SECONDS
            move_clock(admin, offset)
            database.disconnect()  # a setting of the database is read by new sessions
            handlers["sweep"]({}, Context())
            _empty_the_queues(handlers["dispatch"], copies)
            if news == "late":
                told.tell()
    return {"rounds": rounds, "offset": offset}


def move_clock(admin: psycopg.Connection[Any], offset: float) -> None:
    statement = sql.SQL("ALTER DATABASE {} SET tocsin.clock_offset = {}")
    admin.execute(statement.format(sql.Identifier(admin.info.dbname), sql.Literal(f"{offset} seconds")))


def arn_at(queue_url: str) -> str:
    """The ARN of the queue, as its event source gives it to dispatch."""
    return f"arn:aws:sqs:eu-west-1:123456789012:{queue_url.rpartition('/')[2]}"


def _empty_the_queues(handler: Handler, copies: int) -> None:
    """One after the other until all are found empty in a row: what one class of work did may be work for another."""
    empty = 0
    for queue in cycle(QUEUES):
        empty = 0 if _dispatch_all(handler, queue, copies) else empty + 1
        if empty == len(QUEUES):
            return


def _dispatch_all(handler: Handler, queue: str, copies: int) -> bool:
    """Give every message of a queue to a worker of it. False: there was none."""
    sqs, url, found, messages = aws.client("sqs"), os.environ[f"{queue.upper()}_QUEUE_URL"], False, ["some"] * MOST
    while len(messages) == MOST and (messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=MOST).get("Messages", [])):
        found, source = True, {"eventSourceARN": arn_at(url)}
        event = {"Records": [{"messageId": one["MessageId"], "body": one["Body"]} | source for one in messages]}
        for _ in range(copies):
            answer = handler(event, Context())
            assert answer == {"batchItemFailures": []}, answer
        done = [{"Id": str(number), "ReceiptHandle": one["ReceiptHandle"]} for number, one in enumerate(messages)]
        sqs.delete_message_batch(QueueUrl=url, Entries=done)
    return found
