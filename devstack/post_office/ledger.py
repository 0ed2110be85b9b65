"""The post office's own durable list of what it accepted: a SQLite file that outlives any crash."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from devstack.post_office.letters import Letter

SCHEMA = """
CREATE TABLE IF NOT EXISTS letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    provider TEXT NOT NULL,
    sender TEXT,
    recipients TEXT NOT NULL,
    subject TEXT,
    text TEXT,
    html TEXT,
    headers TEXT NOT NULL,
    tags TEXT NOT NULL,
    configuration_set TEXT,
    message_id TEXT NOT NULL UNIQUE,
    accepted_at TEXT NOT NULL,
    attachments TEXT NOT NULL DEFAULT '[]'
);
CREATE TABLE IF NOT EXISTS endpoints (arn TEXT PRIMARY KEY, token TEXT NOT NULL);
"""
# For a file from before letters had attachments.
ADD_ATTACHMENTS = "ALTER TABLE letters ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'"
# What the columns are called outside, in the order of INSERT and SELECT.
NAMES = ["channel", "provider", "from", "to", "subject", "text", "html", "headers", "tags"]
NAMES += ["configuration_set", "message_id", "accepted_at", "attachments"]
INSERT = """
INSERT INTO letters (channel, provider, sender, recipients, subject, text, html, headers, tags, configuration_set,
                     message_id, accepted_at, attachments)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT = """
SELECT id, channel, provider, sender, recipients, subject, text, html, headers, tags, configuration_set, message_id,
       accepted_at, attachments
FROM letters
ORDER BY id
"""


class Ledger:
    """One writer's connection, opened when needed and shared by its threads; readers bring their own."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as conn:
            conn.executescript(SCHEMA)
            if "attachments" not in {column[1] for column in conn.execute("PRAGMA table_info(letters)")}:
                conn.execute(ADD_ATTACHMENTS)

    def add(self, letter: Letter, message_id: str) -> dict[str, Any]:
        """Write the letter down; when this returns, it is on disk."""
        accepted_at = timestamp(datetime.now(UTC))
        values = (
            letter.channel,
            letter.provider,
            letter.sender,
            json.dumps(letter.to),
            letter.subject,
            letter.text,
            letter.html,
            json.dumps(letter.headers),
            json.dumps(letter.tags),
            letter.configuration_set,
            message_id,
            accepted_at,
            json.dumps(letter.attachments),
        )
        with self._writing() as conn:
            number = conn.execute(INSERT, values).lastrowid
        return {"id": number} | _row(*values)

    def rows(self) -> list[dict[str, Any]]:
        """Everything accepted, oldest first."""
        with closing(self._connect()) as conn:
            found = conn.execute(SELECT).fetchall()
        return [{"id": number} | _row(*values) for number, *values in found]

    def clear(self) -> None:
        with self._writing() as conn:
            conn.execute("DELETE FROM letters")

    def add_endpoint(self, arn: str, token: str) -> None:
        with self._writing() as conn:
            conn.execute("INSERT INTO endpoints (arn, token) VALUES (?, ?) ON CONFLICT DO NOTHING", (arn, token))

    def token_of(self, arn: str) -> str | None:
        with closing(self._connect()) as conn:
            found = conn.execute("SELECT token FROM endpoints WHERE arn = ?", (arn,)).fetchone()
        return str(found[0]) if found else None

    def close(self) -> None:
        with self._lock:
            if self._writer:
                self._writer.close()
            self._writer = None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._writer = self._writer or self._connect()
            with self._writer:
                yield self._writer

    def _connect(self) -> sqlite3.Connection:
        conn = sqlite3.connect(self._file, timeout=30, check_same_thread=False)
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("PRAGMA synchronous = FULL")
        return conn


def timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _row(*values: Any) -> dict[str, Any]:
    row = dict(zip(NAMES, values, strict=True))
    return row | {name: json.loads(row[name]) for name in ("to", "headers", "tags", "attachments")}
