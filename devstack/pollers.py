"""Event source mappings: the messages of a queue become invocations, and what succeeded is deleted."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from devstack.declared import QueueSource
from devstack.environment import Outcome
from devstack.event_patterns import takes
from devstack.intrinsics import REGION

RECEIVE_LIMIT = 10  # of SQS, in one call
LONG_POLL_SECONDS = 5
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # after failed calls in a row
logger = logging.getLogger(__name__)


class Poller:
    """Feeds one queue to one function, with as many batches at once as declared and as the function can run."""

    def __init__(
        self,
        source: QueueSource,
        *,
        sqs: Any,
        queue_url: str,
        invoke: Callable[[Any], Outcome],
        concurrency: int,
    ) -> None:
        self._source = source
        self._sqs = sqs
        self._queue_url = queue_url
        self._invoke = invoke
        self._slots = threading.Semaphore(concurrency)
        self._workers = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix=f"batch-{source.function}")
        self._batches: set[Future[None]] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"poller-{source.function}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no new batch."""
        self._stopping.set()

    def drain(self, patience: float) -> None:
        """Let the batches under way finish, if they are quick; the rest comes back when their visibility ends."""
        wait(set(self._batches), timeout=patience)
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            # Nothing is received before somebody is free to work on it: its visibility time would run for nothing.
            if not self._slots.acquire(timeout=0.5):
                continue
            messages: list[dict[str, Any]] = []
            try:
                messages = self._receive_batch()
                failures = 0
            except Exception as error:
                failures += 1
                if failures == 1 and not self._stopping.is_set():
                    logger.warning("cannot read %s: %s", self._queue_url, error)
                self._stopping.wait(PAUSES[min(failures, len(PAUSES)) - 1])
            if messages and not self._stopping.is_set():
                batch = self._workers.submit(self._work, messages)
                self._batches.add(batch)
                batch.add_done_callback(self._batches.discard)
            else:
                self._slots.release()

    def _receive_batch(self) -> list[dict[str, Any]]:
        """A batch of at most the declared size; the window starts with its first message."""
        batch = self._receive(min(RECEIVE_LIMIT, self._source.batch_size), wait=LONG_POLL_SECONDS)
        closes_at = time.monotonic() + self._source.window
        while batch and len(batch) < self._source.batch_size and not self._stopping.is_set():
            left = closes_at - time.monotonic()
            if left <= 0:
                break
            room = self._source.batch_size - len(batch)
            batch += self._receive(min(RECEIVE_LIMIT, room), wait=max(1, min(LONG_POLL_SECONDS, int(left))))
        return batch

    def _receive(self, limit: int, wait: int) -> list[dict[str, Any]]:
        answer = self._sqs.receive_message(
            QueueUrl=self._queue_url,
            MaxNumberOfMessages=limit,
            WaitTimeSeconds=wait,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        found: list[dict[str, Any]] = answer.get("Messages", [])
        return self._wanted(found) if self._source.filters else found

    def _wanted(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those that the filters let through; the others are deleted, as Lambda does it."""
        is_wanted = {each["MessageId"]: takes(self._source.filters, _record(each, self._source.queue)) for each in messages}
        if unwanted := [each for each in messages if not is_wanted[each["MessageId"]]]:
            self._delete(unwanted)
        return [each for each in messages if is_wanted[each["MessageId"]]]

    def _work(self, messages: list[dict[str, Any]]) -> None:
        try:
            outcome = self._invoke({"Records": [_record(each, self._source.queue) for each in messages]})
            if outcome.error:
                logger.warning("%s failed: %s", self._source.function, outcome.error.get("errorMessage"))
            done = succeeded(messages, outcome, self._source)
            for start in range(0, len(done), RECEIVE_LIMIT):
                self._delete(done[start : start + RECEIVE_LIMIT])
        except Exception as error:
            # The messages come back by themselves; the next batch must find the poller alive.
            logger.warning("a batch of %s was not finished: %s", self._source.function, error)
        finally:
            self._slots.release()

    def _delete(self, messages: list[dict[str, Any]]) -> None:
        entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
        self._sqs.delete_message_batch(QueueUrl=self._queue_url, Entries=entries)


def succeeded(messages: list[dict[str, Any]], outcome: Outcome, source: QueueSource) -> list[dict[str, Any]]:
    """Which messages are done with; an answer that makes no sense means none, as in Lambda."""
    if outcome.error:
        return []
    if not source.reports_item_failures or not outcome.result:
        return messages
    reported = outcome.result.get("batchItemFailures") if isinstance(outcome.result, dict) else None
    if reported is None:
        return messages
    try:
        failed = {each["itemIdentifier"] for each in reported}
    except (TypeError, KeyError):
        return []
    known = {each["MessageId"] for each in messages}
    return [each for each in messages if each["MessageId"] not in failed] if failed <= known else []


def _record(message: dict[str, Any], queue_arn: str) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: {key[0].lower() + key[1:]: part for key, part in value.items()}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }
