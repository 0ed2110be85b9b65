"""Chromium for tests: started headless, and spoken to by the DevTools protocol over two pipes. No package is needed for that."""

import fcntl
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Message = dict[str, Any]

ANSWER_SECONDS = 20.0
FLAGS = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--force-color-profile=srgb",
    "--lang=en-US",
    "--window-size=1100,800",
]
# Chromium reads commands from descriptor 3 and answers on 4.
AS_THREE_AND_FOUR = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execvp(sys.argv[3], sys.argv[3:])"
)


class BrowserGone(Exception):
    """Chromium ended or went silent; its output says why. The test run is broken, not the page."""


def find_chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


class Chromium:
    """One browser process. `call` sends a command and waits for its answer; `told` are the events of each session since."""

    def __init__(self, program: str, folder: Path) -> None:
        self.told: dict[str, queue.SimpleQueue[Message]] = {}
        self._output = folder / "chromium.txt"
        self._lock = threading.Lock()
        self._last_id = 0
        self._answers: dict[int, queue.SimpleQueue[Message | None]] = {}
        commands, self._commands = (_out_of_the_way(each) for each in os.pipe())
        self._messages, messages = (_out_of_the_way(each) for each in os.pipe())
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        with self._output.open("wb") as output:
            browser = [program, *FLAGS, *sandbox, f"--user-data-dir={folder / 'profile'}", "about:blank"]
            self.process = subprocess.Popen(
                [sys.executable, "-c", AS_THREE_AND_FOUR, str(commands), str(messages), *browser],
                pass_fds=(commands, messages),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | {"TZ": "UTC"},
            )
        os.close(commands)
        os.close(messages)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Message:
        answer: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        with self._lock:
            self._last_id += 1
            sent_id = self._last_id
            self._answers[sent_id] = answer
            command = {"id": sent_id, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
            _write_all(self._commands, json.dumps(command).encode() + b"\0")
        try:
            message = answer.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            message = None
        if message is None:
            raise BrowserGone(f"no answer to {method}\n{self._output.read_text(errors='replace')}")
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']}")
        result: Message = message["result"]
        return result

    def close(self) -> None:
        """End it and everything it started."""
        try:
            self.call("Browser.close")
            self.process.wait(ANSWER_SECONDS)
        except (BrowserGone, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(ANSWER_SECONDS)
        self._reader.join(ANSWER_SECONDS)
        os.close(self._commands)
        os.close(self._messages)

    def _read(self) -> None:
        pending = b""
        while chunk := os.read(self._messages, 1 << 16):
            *whole, pending = (pending + chunk).split(b"\0")
            for raw in whole:
                self._deliver(json.loads(raw))
        for waiting in list(self._answers.values()):
            waiting.put(None)

    def _deliver(self, message: Message) -> None:
        if "id" in message:
            self._answers.pop(message["id"]).put(message)
        elif (events := self.told.get(message.get("sessionId", ""))) is not None:
            events.put(message)


@contextmanager
def started_chromium(folder: Path) -> Iterator[Chromium]:
    """A browser inside the block. Where there is none the test is skipped, or fails if TOCSIN_REQUIRE_CHROMIUM is set."""
    program = find_chromium()
    if program is None:
        missing = "Chromium is not installed: `apt-get install chromium`, or set CHROMIUM=/path/to/it."
        (pytest.fail if os.environ.get("TOCSIN_REQUIRE_CHROMIUM") else pytest.skip)(missing)
    chromium = Chromium(program, folder)
    try:
        yield chromium
    finally:
        chromium.close()


def _out_of_the_way(descriptor: int) -> int:
    """The same pipe under a number that is neither 3 nor 4."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
