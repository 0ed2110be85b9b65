"""Send: hand the opened deliveries of a batch to their providers, several at once, and no longer than there is time."""

import re
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import BoundedSemaphore, Lock

from tocsin.channels.outcomes import Failure, FailureClass, NotSent, Outcome
from tocsin.channels.ways import Message
from tocsin.delivery.prepare import Ready
from tocsin.store.rows import Opened

BREAKS_AFTER = 5  # failures in a row
_HEAVY = BoundedSemaphore(2)  # messages with files under way: each takes several times its size while it is written
CLOSING = (FailureClass.THROTTLED, FailureClass.CONFIGURATION)


@dataclass(frozen=True, slots=True)
class Sent:
    """A delivery whose attempt was opened, and what became of it."""

    ready: Ready
    attempt: Opened
    outcome: Outcome


class Course:
    """What of a batch waits to be sent, by lane. Whoever is free takes from the lane with the fewest under way, so that one that
    hangs leaves senders to the others; a lane that closes under way takes no more."""

    def __init__(self, opened: list[tuple[Ready, Opened]]) -> None:
        self._waiting: dict[str, deque[tuple[Ready, Opened]]] = {}
        for one in opened:
            self._waiting.setdefault(one[0].channel.lane, deque()).append(one)
        self._under_way: Counter[str] = Counter()
        self._time_outs: Counter[str] = Counter()
        self._lock = Lock()
        self.closed: dict[str, str] = {}  # why, by lane

    def take(self) -> tuple[Ready, Opened] | None:
        with self._lock:
            lane = min(
                (name for name, waiting in self._waiting.items() if waiting), key=self._under_way.__getitem__, default=None
            )
            if lane is None:
                return None
            self._under_way[lane] += 1
            return self._waiting[lane].popleft()

    def note(self, lane: str, outcome: Outcome) -> None:
        with self._lock:
            self._under_way[lane] -= 1
            if isinstance(outcome, NotSent):
                return
            timed_out = isinstance(outcome, Failure) and outcome.timed_out
            self._time_outs[lane] = self._time_outs[lane] + 1 if timed_out else 0
            if isinstance(outcome, Failure) and outcome.kind in CLOSING:
                self.closed[lane] = f"lane_closed: {outcome.code}"
            elif self._time_outs[lane] >= BREAKS_AFTER:
                self.closed[lane] = "lane_broken: time-outs in a row"


def send_all(opened: list[tuple[Ready, Opened]], *, send_until: float, concurrency: int) -> list[Sent]:
    """Send concurrently. A lane that closes under way stops the rest of it; so does time running out."""
    course = Course(opened)
    sent: list[Sent] = []

    def work() -> None:
        while one := course.take():
            ready, attempt = one
            outcome = _send(ready, attempt, course=course, send_until=send_until)
            course.note(ready.channel.lane, NotSent("not_asked") if ready.failure else outcome)
            sent.append(Sent(ready, attempt, outcome))

    threads = min(concurrency, len(opened))
    if threads <= 1:
        work()
        return sent
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1) if len(sent) < len(opened)]
        work()  # this thread sends too: with a quick provider it is done before the others have started
        for other in others:
            other.result()
    return sent


def _send(ready: Ready, attempt: Opened, *, course: Course, send_until: float) -> Outcome:
    if reason := course.closed.get(ready.channel.lane):
        return NotSent(reason)
    if time.monotonic() >= send_until:
        return NotSent("time_running_out")
    if time.monotonic() >= ready.send_before:
        return NotSent("quiet_hours")
    if ready.failure:
        return ready.failure
    message = _message(ready, attempt)
    if not message.attachments:
        return _without_recipient(ready.channel.send(message), message)
    with _HEAVY:
        if time.monotonic() >= send_until:
            return NotSent("time_running_out")
        return _without_recipient(ready.channel.send(message), message)


def _without_recipient(outcome: Outcome, message: Message) -> Outcome:
    """A provider's words may quote the address. What is kept of them does not: it would outlive the person's erasure."""
    quoted = [word for word in (message.email, message.phone, message.device_token, *message.cc) if word]
    if not isinstance(outcome, Failure) or not quoted:
        return outcome
    return replace(outcome, message=re.sub("|".join(map(re.escape, quoted)), "[recipient]", outcome.message, flags=re.IGNORECASE))


def _message(ready: Ready, attempt: Opened) -> Message:
    record, route, device = ready.delivery.record, ready.delivery.route, ready.delivery.device
    return Message(
        email=route.email,
        phone=route.phone,
        device_platform=device.platform if device else "",
        device_token=device.token if device else "",
        device_endpoint_arn=(device.endpoint_arn or "") if device else "",
        content=ready.content,
        tags={
            "tocsin_route": f"{record.notification_id}_{route.route_id}",
            "tocsin_attempt": f"{ready.delivery.work.generation}-{attempt.attempt_no}",
        },
        headers=ready.headers,
        from_name=ready.letterhead.brand.from_name,
        reply_to=ready.letterhead.brand.reply_to,
        asked_reply_to=str((record.email_options or {}).get("reply_to") or "") if route.channel == "email" else "",
        cc=ready.cc,
        attachments=ready.attachments,
    )
