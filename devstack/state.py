"""The state folder: everything of a stack that outlives it, and the lock that keeps it to one stack."""

import fcntl
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

LOCK_PATIENCE_SECONDS = 1.0


class RefusalError(Exception):
    """The stack cannot start as things are; the message says what the developer can do about it."""


class State:
    """A folder with files of known names; `reset` deletes those and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.logs = self.folder / "logs"
        self.postgres = self.folder / "postgres"
        self.ledger = self.folder / "post_office.sqlite3"
        self.dev_json = self.folder / "dev.json"
        self._secrets = self.folder / "secrets.json"
        self._lock_file: TextIO | None = None

    def open(self) -> None:
        """Make the folder and take its lock, which ends with this process however that ends."""
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            probe = self.logs / f".{uuid4().hex}"
            probe.touch()
            probe.unlink()
            self._lock()
        except OSError as error:
            raise RefusalError(
                f"The state folder {self.folder} cannot be written ({error.strerror}).\n"
                f"Make it yours:            sudo chown -R $(id -u) {self.folder}\n"
                f"or take another folder:   TOCSIN_STATE_DIR=/some/folder make dev"
            ) from error
        # Left behind by a killed stack: nobody may take it for ours.
        self.dev_json.unlink(missing_ok=True)

    def close(self) -> None:
        self.dev_json.unlink(missing_ok=True)
        if self._lock_file:
            self._lock_file.truncate(0)
            self._lock_file.close()
            self._lock_file = None

    def reset(self) -> None:
        """Forget all data; whoever still uses it must have been stopped."""
        for path in (self.postgres, self.logs, self.folder / "aws"):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self._secrets, self.dev_json, *self.folder.glob(f"{self.ledger.name}*")):
            path.unlink(missing_ok=True)
        self.logs.mkdir(exist_ok=True)

    def check(self) -> None:
        """Complain about what is damaged now, rather than when everything else has been started."""
        self._read_secrets()

    def secret(self, name: str, default: str | None) -> str | None:
        """The value kept under this name; the default becomes it at the first call."""
        kept: dict[str, str] = self._read_secrets()
        if name not in kept and default is not None:
            kept[name] = default
            self._write(self._secrets, kept)
        return kept.get(name)

    def keep_secret(self, name: str, value: str) -> None:
        self._write(self._secrets, self._read_secrets() | {name: value})

    def announce(self, content: dict[str, Any]) -> None:
        """Tell others, in dev.json, where everything is; the file appears whole or not at all."""
        self._write(self.dev_json, content)

    def _read_secrets(self) -> dict[str, str]:
        try:
            kept: dict[str, str] = json.loads(self._secrets.read_text()) if self._secrets.exists() else {}
        except ValueError as error:
            raise RefusalError(
                f"{self._secrets} is damaged.\nDelete it to have new keys made: rm {self._secrets}\n"
                "or start afresh, without the data: make dev RESET=1"
            ) from error
        return kept

    def _write(self, path: Path, content: dict[str, Any]) -> None:
        unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(content, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)

    def _lock(self) -> None:
        file = (self.folder / "stack.lock").open("a+")
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    file.seek(0)
                    pid = file.read().strip() or "unknown"
                    file.close()
                    raise RefusalError(
                        f"A stack already runs in {self.folder}: process {pid}.\n"
                        f"Stop it:                  kill {pid}\n"
                        f"or start a second one:    TOCSIN_STATE_DIR=/some/folder make dev PORT=9000"
                    ) from None
                time.sleep(0.05)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._lock_file = file
