"""A process that may hold little memory and renders what it is told: a template that grows ends it, or its patience."""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

ROOT = Path(__file__).parents[2]
ROOM = 100 * 1024 * 1024  # bytes beyond what the process holds before its first template


@dataclass(frozen=True)
class End:
    """`kind` is `rendered`, `unrenderable`, or the name of an exception that should never have come out."""

    kind: str
    said: str
    size: int
    seconds: float


class Cage:
    def __init__(self) -> None:
        paths = {
            "PYTHONPATH": f"{ROOT / 'layers/shared'}:{ROOT}",
            "MALLOC_MMAP_THRESHOLD_": "131072",
        }  # what is freed is given back
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.cage"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | paths,
        )

    def render(self, body: str, payload: dict[str, Any] | None = None, channel: str = "email") -> End:
        """Without a payload: with the one of the render before."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([body, payload, channel]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process ended with {self._process.wait()}"
        return End(**json.loads(answer))

    def close(self) -> None:
        self._process.communicate()


def _end(body: str, payload: dict[str, Any], channel: str) -> End:
    from tocsin.rendering import Unrenderable
    from tocsin.templating import Template, render

    template = Template(UUID(int=1), "caged", 1, channel, "en", None if channel == "sms" else "S", body, None)
    began = time.thread_time()
    kind, said, size = "rendered", "", 0
    try:
        if body == "hoard":
            bytearray(2 * ROOM)
        content = render(template, payload)
        size = max(len(content.html.encode()), len(content.text.encode()))
    except Unrenderable as error:
        kind, said = "unrenderable", str(error)
    except Exception as error:  # whatever it is, the parent is told
        kind, said = type(error).__name__, str(error)[:200]
    return End(kind, said, size, time.thread_time() - began)


def main() -> None:
    _end("{{ a | upcase }}", {"a": "b"}, "email")  # imports, compiles and warms up
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + ROOM, held + ROOM))
    payload: dict[str, Any] = {}
    for line in sys.stdin:
        body, given, channel = json.loads(line)
        payload = payload if given is None else given
        print(json.dumps(asdict(_end(body, payload, channel))), flush=True)


if __name__ == "__main__":
    main()
