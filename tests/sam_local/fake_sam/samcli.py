"""A `sam` that takes its port, notes its arguments and how it was ended, and does nothing else. Found before the real one."""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

NOTES = Path(os.environ["FAKE_SAM_NOTES"])


def note(name: str, content: object) -> None:
    unfinished = NOTES / f".{name}"
    unfinished.write_text(json.dumps(content))
    unfinished.rename(NOTES / name)


def end(number: int, frame: FrameType | None) -> None:
    note(f"{command}-ended-by", number)
    sys.exit(0)


command, arguments = sys.argv[2], sys.argv[1:]
if (NOTES / f"{command}-cannot-start").exists():
    sys.exit("Error: Running AWS SAM projects locally requires a container runtime.")
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, end)
note(command, arguments)
with socket.create_server(("127.0.0.1", int(arguments[arguments.index("--port") + 1]))) as server:
    while True:
        server.accept()[0].close()
