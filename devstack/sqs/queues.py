"""All queues: one lock around them, a file beneath them, and receivers that wait until there is something to receive."""

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import uuid4

from devstack.sqs.clock import Clock
from devstack.sqs.drafts import Draft
from devstack.sqs.errors import SqsError, invalid, no_such_queue
from devstack.sqs.message import Message
from devstack.sqs.queue import Queue
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.settings import Redrive, Settings

PURGE_SECONDS = 60
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Queues:
    """What every action comes down to. Whatever was answered is in the file."""

    def __init__(self, file: QueueFile, clock: Clock | None = None) -> None:
        self._file = file
        self._clock = clock or Clock()
        self._lock = threading.RLock()
        self._queues: dict[str, Queue] = {}
        self._news: dict[str, threading.Condition] = {}
        self._number = file.last_number()

    def create(self, name: str, attributes: dict[str, str], tags: dict[str, str]) -> Queue:
        """A queue that exists already is an answer too, unless an attribute given is another there."""
        if name.endswith(".fifo"):
            raise invalid("QueueName", name, "The local stack has standard queues only, no FIFO queues.")
        if not _NAME.fullmatch(name):
            reason = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
            raise invalid("QueueName", name, reason)
        with self._lock:
            settings, now = Settings.of(attributes), self._clock.now()
            if existing := self._queues.get(name):
                for each in attributes:
                    if settings.declared.get(each) != existing.settings.declared.get(each):
                        reason = f"A queue already exists with the same name and a different value for attribute {each}"
                        raise SqsError("QueueNameExists", reason)
                return existing
            queue = Queue(name, settings, now)
            self._check_redrive(queue, settings)
            queue.tags = dict(tags)
            for message in self._file.load(name):
                queue.add(message, now)
            self._queues[name] = queue
            self._news[name] = threading.Condition(self._lock)
            return queue

    def find(self, name: str) -> Queue:
        queue = self._queues.get(name)
        if queue is None:
            raise no_such_queue()
        return queue

    def all(self) -> list[Queue]:
        with self._lock:
            return [self._queues[name] for name in sorted(self._queues)]

    def attributes(self, name: str) -> dict[str, str]:
        with self._lock:
            return self._caught_up(self.find(name), self._clock.now()).attributes()

    def policy(self, name: str) -> str:
        """Who may do what with the queue, as JSON; empty for one that is not there or says nothing."""
        queue = self._queues.get(name)
        return queue.settings.declared.get("Policy", "") if queue else ""

    def set_attributes(self, name: str, attributes: dict[str, str]) -> None:
        with self._lock:
            queue = self.find(name)
            settings = Settings.of(attributes, queue.settings)
            self._check_redrive(queue, settings)
            queue.settings, queue.modified_at = settings, self._clock.now()

    def sources_of(self, name: str) -> list[Queue]:
        """The queues whose dead letters go there."""
        target = self.find(name)
        return [each for each in self.all() if self._target(each.settings.redrive) is target]

    def delete(self, name: str) -> None:
        with self._lock:
            self.find(name)
            self._file.clear(name)
            del self._queues[name]
            self._news.pop(name).notify_all()

    def purge(self, name: str) -> None:
        with self._lock:
            queue, now = self.find(name), self._clock.now()
            if queue.purged_at is not None and now - queue.purged_at < PURGE_SECONDS:
                message = f"Only one PurgeQueue operation on {name} is allowed every {PURGE_SECONDS} seconds."
                raise SqsError("PurgeQueueInProgress", message)
            self._file.clear(name)
            queue.clear(now)
            queue.purged_at = now

    def send(self, name: str, drafts: Iterable[Draft]) -> list[Message]:
        with self._lock:
            queue, now = self.find(name), self._clock.now()
            messages = [self._made(draft, queue, now) for draft in drafts]
            with self._file.transaction():
                self._file.insert(name, messages)
            self._add(queue, messages, now)
            return messages

    def receive(
        self, name: str, limit: int, *, visibility: int | None, wait: int | None, is_gone: Callable[[], bool] = lambda: False
    ) -> list[Message]:
        """What there is, or the first that comes within `wait` seconds; nothing for a receiver that has gone."""
        with self._lock:
            queue = self.find(name)
            gives_up_at = self._clock.now() + (queue.settings.wait if wait is None else wait)
            while not is_gone():
                queue, now = self.find(name), self._clock.now()
                found = self._take(queue, limit, queue.settings.visibility if visibility is None else visibility, now)
                if found or now >= gives_up_at:
                    return found
                self._clock.wait(self._news[name], min(gives_up_at, queue.next_wake() or gives_up_at) - now)
            return []

    def delete_messages(self, name: str, handles: Iterable[str]) -> list[SqsError | None]:
        """What is wrong with each handle, if anything; one from before the last receive deletes nothing, which is no error."""
        with self._lock, self._file.transaction():
            queue, now = self.find(name), self._clock.now()
            return [_refusal(self._delete, queue, handle, now) for handle in handles]

    def change_visibility(self, name: str, changes: Iterable[tuple[str, int]]) -> list[SqsError | None]:
        """What is wrong with each change, if anything."""
        with self._lock:
            now = self._clock.now()
            queue = self._caught_up(self.find(name), now)
            refusals = [_refusal(queue.change_visibility, handle, seconds, now) for handle, seconds in changes]
            self._news[name].notify_all()
            return refusals

    def _made(self, draft: Draft, queue: Queue, now: float) -> Message:
        self._number += 1
        due_at = now + (queue.settings.delay if draft.delay is None else draft.delay)
        return Message(self._number, str(uuid4()), draft.body, draft.attributes, draft.trace_header, draft.group, now, due_at)

    def _add(self, queue: Queue, messages: list[Message], now: float) -> None:
        for message in messages:
            queue.add(message, now)
        self._news[queue.name].notify_all()

    def _take(self, queue: Queue, limit: int, visibility: int, now: float) -> list[Message]:
        redrive = queue.settings.redrive
        target = self._target(redrive)
        max_receives = redrive.max_receives if redrive and target else None
        taken = self._caught_up(queue, now).take(limit, visibility, now, max_receives=max_receives)
        if taken.messages:
            with self._file.transaction():
                self._file.mark_received(taken.messages)
        if target and taken.dead:
            self._bury(taken.dead, queue, target, now)
        return [replace(each) for each in taken.messages]  # as they are now: somebody else may receive them again

    def _bury(self, dead: list[Message], queue: Queue, target: Queue, now: float) -> None:
        letters = [replace(each, receives_here=0, source_arn=queue.arn, wakes_at=now) for each in dead]
        with self._file.transaction():
            self._file.move(target.name, letters)
        self._add(target, letters, now)

    def _delete(self, queue: Queue, handle: str, now: float) -> None:
        if message := queue.find(handle):
            self._file.delete([message])
            queue.remove(message, now)

    def _caught_up(self, queue: Queue, now: float) -> Queue:
        """The queue, with everything done that time does by itself."""
        if expired := queue.catch_up(now):
            with self._file.transaction():
                self._file.delete(expired)
        return queue

    def _target(self, redrive: Redrive | None) -> Queue | None:
        found = self._queues.get(redrive.target_arn.rpartition(":")[2]) if redrive else None
        return found if found and redrive and found.arn == redrive.target_arn else None

    def _check_redrive(self, queue: Queue, settings: Settings) -> None:
        if settings.redrive is None:
            return
        target = self._target(settings.redrive)
        if target is None:
            raise invalid("RedrivePolicy", settings.declared["RedrivePolicy"], "Dead letter target does not exist.")
        if not target.settings.admits(queue.arn):
            reason = f"Queue {target.name} does not admit the dead letters of {queue.name}."
            raise invalid("RedrivePolicy", settings.declared["RedrivePolicy"], reason)


def _refusal(work: Callable[..., None], *arguments: object) -> SqsError | None:
    try:
        work(*arguments)
    except SqsError as error:
        return error
    return None
