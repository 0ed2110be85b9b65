"""What SES tells about an email after it accepted it, told from a background thread as event publishing does."""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from devstack.post_office.ledger import timestamp

MODES = ("on", "drop", "dup", "hold")
REMEMBERED = 10_000

Event = dict[str, Any]
Row = dict[str, Any]
logger = logging.getLogger(__name__)


class Events:
    """The events of accepted emails, in order; the mode at the time of acceptance decides what becomes of them."""

    def __init__(self, tell: Callable[[Event], None] | None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._mode = "on"
        self._held: list[Row] = []
        self._waiting: queue.Queue[tuple[Row, int] | None] = queue.Queue()
        self._told: deque[Event] = deque(maxlen=REMEMBERED)
        self._thread: threading.Thread | None = None

    @property
    def mode(self) -> str:
        return self._mode

    def told(self) -> list[Event]:
        """The latest events, oldest first, for whoever has no callback in this process."""
        with self._lock:
            return list(self._told)

    def steer(self, mode: str) -> None:
        """Change what becomes of events; those on hold follow the new mode."""
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}")
        with self._lock:
            self._mode = mode
            held, self._held = self._held, []
            for row in held:
                self._route(row)

    def submit(self, row: Row) -> None:
        """Tell what happened to this ledger row, if SES would: only emails with a configuration set have events."""
        if row["channel"] == "email" and row["configuration_set"]:
            with self._lock:
                self._route(row)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="post-office-events", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Tell what is waiting, then end."""
        if self._thread:
            self._waiting.put(None)
            self._thread.join()
        self._thread = None

    def _route(self, row: Row) -> None:
        if self._mode == "hold":
            self._held.append(row)
        if times := {"on": 1, "dup": 2}.get(self._mode, 0):
            self._waiting.put((row, times))

    def _work(self) -> None:
        while waiting := self._waiting.get():
            row, times = waiting
            for event in events_of(row) * times:  # a repeated event is the same one, to the letter
                with self._lock:
                    self._told.append(event)
                try:
                    if self._tell:
                        self._tell(event)
                except Exception:
                    logger.exception("an event of %s was not taken", row["message_id"])


def events_of(row: Row) -> list[Event]:
    """Send, then what each recipient's mailbox does: its name decides whether it bounces or complains."""
    bouncing = [one for one in row["to"] if _local_part(one).startswith("bounce")]
    complaining = [one for one in row["to"] if _local_part(one).startswith("complaint")]
    delivered = [one for one in row["to"] if one not in bouncing]
    events: list[Event] = [{"eventType": "Send", "mail": _mail(row), "send": {}}]
    if delivered:
        events.append({"eventType": "Delivery", "mail": _mail(row), "delivery": _delivery(delivered)})
    if bouncing:
        events.append({"eventType": "Bounce", "mail": _mail(row), "bounce": _bounce(bouncing)})
    if complaining:
        events.append({"eventType": "Complaint", "mail": _mail(row), "complaint": _complaint(complaining)})
    return events


def _mail(row: Row) -> dict[str, Any]:
    tags = {"ses:configuration-set": row["configuration_set"], **row["tags"]}
    return {
        "timestamp": row["accepted_at"],
        "source": row["from"],
        "sendingAccountId": "000000000000",
        "messageId": row["message_id"],
        "destination": row["to"],
        "headersTruncated": False,
        "headers": [{"name": name, "value": value} for name, value in row["headers"].items()],
        "commonHeaders": {"from": [row["from"]], "to": row["to"], "subject": row["subject"]},
        "tags": {name: [value] for name, value in tags.items()},
    }


def _delivery(recipients: list[str]) -> dict[str, Any]:
    return {
        "timestamp": _now(),
        "processingTimeMillis": 1,
        "recipients": recipients,
        "smtpResponse": "250 2.0.0 Ok",
        "reportingMTA": "localhost",
    }


def _bounce(recipients: list[str]) -> dict[str, Any]:
    failed = {"action": "failed", "status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 user unknown"}
    return {
        "bounceType": "Permanent",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": one, **failed} for one in recipients],
        "timestamp": _now(),
        "feedbackId": str(uuid4()),
        "reportingMTA": "dns; localhost",
    }


def _complaint(recipients: list[str]) -> dict[str, Any]:
    return {
        "complainedRecipients": [{"emailAddress": one} for one in recipients],
        "timestamp": _now(),
        "feedbackId": str(uuid4()),
        "complaintFeedbackType": "abuse",
        "arrivalDate": _now(),
    }


def _local_part(address: str) -> str:
    return address.rsplit("<", 1)[-1].partition("@")[0].lower()


def _now() -> str:
    return timestamp(datetime.now(UTC))
