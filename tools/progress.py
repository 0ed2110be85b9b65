"""An installer at work, for whoever waits: one line that changes on a terminal, a line each elsewhere."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol


class Output(Protocol):
    """What an installer says, read line by line."""

    status: str

    def read(self, line: str) -> bool: ...


def run(
    command: Sequence[str], variables: Mapping[str, str], output: Output, lock: int, note: Callable[[], None] | None = None
) -> int:
    """Its exit status. It holds the lock too: if only we are killed, nobody installs beside it."""
    with subprocess.Popen(
        command,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[lock],
    ) as installer:
        try:
            _follow(installer, output, note or (lambda: None))
        except KeyboardInterrupt:
            installer.wait()
            sys.exit("\nInterrupted. The same command again goes on from here.")
    return installer.returncode


def _follow(installer: subprocess.Popen[str], output: Output, note: Callable[[], None]) -> None:
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pass_on, args=(installer, lines), daemon=True).start()
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns - 1
    started = time.monotonic()
    line: str | None = ""
    while line is not None:
        try:
            line = lines.get(timeout=1)
        except queue.Empty:
            line = ""
        has_news = output.read(line) if line else False
        note()
        if is_terminal:
            print(f"\r\x1b[K{f'  {output.status}  ({time.monotonic() - started:.0f} s)'[:width]}", end="", flush=True)
        elif has_news:
            print(f"  {output.status}", flush=True)
    if is_terminal:
        print("\r\x1b[K", end="", flush=True)


def _pass_on(installer: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in installer.stdout or ():
        lines.put(line)
    lines.put(None)
