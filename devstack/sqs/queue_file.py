"""Keeps messages in a file, so that what a queue took is still there after `kill -9`."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from devstack.sqs.message import Message

SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    attributes TEXT NOT NULL,
    trace_header TEXT,
    message_group TEXT,
    sent_at REAL NOT NULL,
    due_at REAL NOT NULL,
    receives INTEGER NOT NULL,
    receives_here INTEGER NOT NULL,
    first_received_at REAL,
    source_arn TEXT
);
CREATE INDEX IF NOT EXISTS messages_of_a_queue ON messages (queue, number);
"""
INSERT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
MOVE = "UPDATE messages SET queue = ?, receives_here = ?, source_arn = ? WHERE number = ?"
RECEIVED = "UPDATE messages SET receives = ?, receives_here = ?, first_received_at = ? WHERE number = ?"


class QueueFile:
    """The messages of every queue. What is written in one transaction is there as a whole, or not at all."""

    def __init__(self, file: Path) -> None:
        self._conn = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._conn.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing this way; only a power cut would.
        self._conn.execute("PRAGMA synchronous = OFF")
        self._conn.executescript(SCHEMA)

    def close(self) -> None:
        self._conn.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._conn.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._conn.execute("ROLLBACK")
            raise
        self._conn.execute("COMMIT")

    def last_number(self) -> int:
        found: int = self._conn.execute("SELECT coalesce(max(number), 0) FROM messages").fetchone()[0]
        return found

    def load(self, queue: str) -> list[Message]:
        """Oldest first. What was in flight waits again: whoever had it may have died with us."""
        rows = self._conn.execute("SELECT * FROM messages WHERE queue = ? ORDER BY number", (queue,))
        return [_message(row) for row in rows]

    def insert(self, queue: str, messages: Iterable[Message]) -> None:
        self._conn.executemany(INSERT, [_row(queue, each) for each in messages])

    def move(self, queue: str, messages: Iterable[Message]) -> None:
        """They are in that queue now."""
        self._conn.executemany(MOVE, [(queue, each.receives_here, each.source_arn, each.number) for each in messages])

    def mark_received(self, messages: Iterable[Message]) -> None:
        rows = [(each.receives, each.receives_here, each.first_received_at, each.number) for each in messages]
        self._conn.executemany(RECEIVED, rows)

    def delete(self, messages: Iterable[Message]) -> None:
        self._conn.executemany("DELETE FROM messages WHERE number = ?", [(each.number,) for each in messages])

    def clear(self, queue: str) -> None:
        self._conn.execute("DELETE FROM messages WHERE queue = ?", (queue,))


def _row(queue: str, message: Message) -> tuple[object, ...]:
    return (
        message.number,
        queue,
        message.id,
        message.body,
        json.dumps(message.attributes),
        message.trace_header,
        message.group,
        message.sent_at,
        message.wakes_at,
        message.receives,
        message.receives_here,
        message.first_received_at,
        message.source_arn,
    )


def _message(row: tuple[object, ...]) -> Message:
    number, _, message_id, body, attributes, *rest = row
    return Message(number, message_id, body, json.loads(attributes), *rest)  # type: ignore[arg-type]
