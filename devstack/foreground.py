"""What a stack in the foreground needs: a port, signals that stop it, words for whoever looks on, and nobody else's cloud."""

import argparse
import errno
import os
import signal
from contextlib import suppress
from types import FrameType

import psutil

from devstack.gateway import Gateway
from devstack.reach import LOOPBACK
from devstack.stack import Stack
from devstack.state import RefusalError

CURL = """curl -sS {base_url}/v1/intents \\
    -H 'Authorization: Bearer {api_key}' \\
    -H 'Content-Type: application/json' \\
    -H "Idempotency-Key: hello-$(date +%s)" \\
    -d '{{"type": "hello", "audience": {{"kind": "address", "email": "you@example.com"}}, "channels": ["email"], \
"payload": {{"title": "Hello", "message": "It works."}}}}'"""


def take_port(port: int, *, command: str = "make dev") -> Gateway:
    try:
        return Gateway(port)
    except OSError as error:
        if error.errno == errno.EACCES:
            reason = f"Port {port} is not for everyone to use."
        elif error.errno == errno.EADDRINUSE:
            reason = f"Port {port} is taken{_owner(port)}."
        else:
            raise
        other = 9000 if port != 9000 else 9001
        raise RefusalError(f"{reason}\nTake another one:         {command} PORT={other}") from error


def _owner(port: int) -> str:
    """Who listens there, as far as we may know."""
    try:
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid:
                name = psutil.Process(each.pid).name()
                return f" by process {each.pid} ({name}); if that is an old stack, stop it with: kill {each.pid}"
    except psutil.Error:
        pass
    return ""


def stop_on_signals(stack: Stack) -> None:
    asked = 0

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            stack.request_stop()
            return
        stack.force_stop()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)


def forget_the_developers_own_cloud(*, ours: str = LOOPBACK) -> None:
    """Her profiles, endpoints, proxies and databases must not reach into a stack that is all local."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "PG"))]:
        del os.environ[name]
    os.environ |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    os.environ |= {"NO_PROXY": ours, "no_proxy": ours}


def port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return int(text)


def say(line: str) -> None:
    with suppress(OSError):  # nobody may be listening any more, and there is work to do
        print(f"  {line}", flush=True)
