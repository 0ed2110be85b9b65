"""A whole local stack for tests and the bench: `python -m devstack` in a folder of its own, which leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

ROOT = Path(__file__).parent.parent
START_SECONDS = 90.0
STOP_SECONDS = 30.0


class StackError(Exception):
    """A stack that does not start, or does not end as it should; the message has its output."""


@dataclass(slots=True)
class RunningStack:
    """A stack that serves; `dev` is its dev.json, `process` the one to signal, `output` what it printed."""

    folder: Path
    process: subprocess.Popen[bytes]
    output_file: Path
    dev: dict[str, str] = field(default_factory=dict)

    @property
    def output(self) -> str:
        return self.output_file.read_text(errors="replace")

    def log(self, function: str) -> str:
        path = self.folder / "logs" / f"{function}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def processes(self) -> list[psutil.Process]:
        """The stack and everything it started, Postgres included."""
        with suppress(psutil.NoSuchProcess):
            main = psutil.Process(self.process.pid)
            return [main, *main.children(recursive=True)]
        return []

    def kill_everything(self) -> None:
        """What a power cut does to processes: `kill -9`, to all of them."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait(STOP_SECONDS)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it as `make dev` is stopped, and see that no process is left; returns the exit code."""
        before = self.processes()
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill_everything()
            raise StackError(f"the stack did not stop:\n{self.output}") from None
        if left := [process for process in before if is_running(process)]:
            raise StackError(f"left behind: {left}\n{self.output}")
        if (self.folder / "dev.json").exists():
            raise StackError(f"dev.json was left behind\n{self.output}")
        return code


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def launch(folder: Path, *arguments: str, python: str | Path = sys.executable, **environment: str) -> RunningStack:
    """Start a stack, on a free port unless the arguments say otherwise, without waiting for it."""
    folder.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if name not in {"PORT", "RESET"}}
    output_file = folder / f"output-{uuid4().hex}.txt"
    with output_file.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "devstack", *(arguments or ("--port", "0"))],
            cwd=ROOT,
            env=inherited | {"TOCSIN_STATE_DIR": str(folder)} | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return RunningStack(folder, process, output_file)


def wait_until_it_serves(stack: RunningStack) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (stack.folder / "dev.json").exists():
        if stack.process.poll() is not None or time.monotonic() > deadline:
            stack.kill_everything()
            raise StackError(f"the stack did not start:\n{stack.output}")
        time.sleep(0.02)
    content: dict[str, Any] = json.loads((stack.folder / "dev.json").read_text())
    stack.dev = content


@contextmanager
def started_stack(
    folder: Path, *arguments: str, python: str | Path = sys.executable, **environment: str
) -> Iterator[RunningStack]:
    """A stack that serves inside the block and is gone after it; the same folder may be used again."""
    # A killed stack leaves it behind, and the new one needs a moment to remove it.
    (folder / "dev.json").unlink(missing_ok=True)
    stack = launch(folder, *arguments, python=python, **environment)
    try:
        wait_until_it_serves(stack)
        yield stack
    finally:
        if stack.process.poll() is None:
            stack.stop()
