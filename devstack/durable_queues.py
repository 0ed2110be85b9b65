"""Keeps moto's SQS messages in a file, so that what a queue took is still there after `kill -9`."""

import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moto.sqs.models import Message, Queue, SQSBackend

SCHEMA = "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, queue TEXT NOT NULL, message TEXT NOT NULL)"
KEPT = ("body", "message_attributes", "sent_timestamp", "delayed_until", "group_id", "deduplication_id")


class QueueFile:
    """The messages of every queue; written before the sender is answered."""

    def __init__(self, file: Path) -> None:
        self._conn = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._conn.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing this way; only a power cut would.
        self._conn.execute("PRAGMA synchronous = OFF")
        self._conn.execute(SCHEMA)
        self._lock = threading.RLock()

    def install(self) -> None:
        """Make moto use the file, and one lock: alone, its delete can drop a message that arrives meanwhile."""
        for owner, name, wrapped in (
            (Queue, "add_message", self._add),
            (Queue, "delete_message", self._delete),
            (SQSBackend, "create_queue", self._create),
            (SQSBackend, "purge_queue", self._purge),
        ):
            setattr(owner, name, _locked(self._lock, wrapped, getattr(owner, name)))

    def _add(self, original: Callable[..., None], queue: Queue, message: Message) -> None:
        # A message that moves to a dead-letter queue keeps its id, so this moves its row as well.
        kept = json.dumps({name: getattr(message, name) for name in KEPT}, default=bytes.hex)
        self._conn.execute("INSERT OR REPLACE INTO messages VALUES (?, ?, ?)", (message.id, queue.name, kept))
        original(queue, message)

    def _delete(self, original: Callable[..., None], queue: Queue, receipt_handle: str) -> None:
        gone = [(each.id,) for each in queue._messages if each.had_receipt_handle(receipt_handle)]
        original(queue, receipt_handle)
        self._conn.executemany("DELETE FROM messages WHERE id = ?", gone)

    def _purge(self, original: Callable[..., None], backend: SQSBackend, queue_name: str) -> None:
        original(backend, queue_name)
        self._conn.execute("DELETE FROM messages WHERE queue = ?", (queue_name,))

    def _create(self, original: Callable[..., Queue], backend: SQSBackend, name: str, *args: Any, **kw: Any) -> Queue:
        is_new = name not in backend.queues
        queue = original(backend, name, *args, **kw)
        rows = self._conn.execute("SELECT id, message FROM messages WHERE queue = ? ORDER BY rowid", (name,)).fetchall()
        for message_id, kept in rows if is_new else ():
            message = Message(message_id, "")
            for attribute, value in json.loads(kept).items():
                setattr(message, attribute, value)
            queue._messages.append(message)
        return queue


def _locked(lock: threading.RLock, wrapped: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        with lock:
            return wrapped(original, self, *args, **kwargs)

    return method
