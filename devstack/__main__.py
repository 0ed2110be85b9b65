"""`python -m devstack`: the local stack in the foreground, until Ctrl-C."""

import argparse
import errno
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

from devstack import postgres_cluster, unprivileged
from devstack.children import ChildError
from devstack.emulation import Emulation
from devstack.gateway import Gateway
from devstack.intrinsics import TemplateError
from devstack.postgres import PostgresError
from devstack.stack import Stack, StopRequested
from devstack.state import RefusalError, State

ROOT = Path(__file__).parent.parent
CANNOT_START = 2
CURL = """curl -sS {base_url}/v1/intents \\
    -H 'Authorization: Bearer {api_key}' \\
    -H 'Content-Type: application/json' \\
    -H "Idempotency-Key: hello-$(date +%s)" \\
    -d '{{"type": "hello", "audience": {{"kind": "address", "email": "you@example.com"}}, "channels": ["email"], \
"payload": {{"title": "Hello", "message": "It works."}}}}'"""
BANNER = """
Tocsin is up, in {seconds:.1f} s.

  API      {base_url}
  Key      {api_key}
  Mailbox  {base_url}/_local/mailbox
  Inbox    {base_url}/_local/inbox?user=alice
  All else {dev_json}, {base_url}/_local/

Send yourself something, then look in the mailbox:

{curl}

Ctrl-C stops it."""


def main() -> int:
    options = _options()
    _forget_the_developers_own_cloud()
    state = State(options.state_dir)
    logging.basicConfig(level=logging.WARNING, format="  ! %(message)s")
    try:
        state.open()
        try:
            return _run(state, options)
        finally:
            state.close()
    except (RefusalError, TemplateError, ChildError, PostgresError) as refusal:
        print(f"\n{refusal}", file=sys.stderr, flush=True)
        return CANNOT_START


def _run(state: State, options: argparse.Namespace) -> int:
    started = time.monotonic()
    gateway = _take_port(options.port)
    if options.reset:
        _say("Everything kept so far is deleted")
        postgres_cluster.evict(unprivileged.reachable_folder(state.postgres / "cluster"))
        state.reset()
    state.check()
    emulation = Emulation(ROOT, state) if options.runtime == "emulator" else None
    stack = _stack(state, options.parameters, emulation)
    _stop_on_signals(stack)
    try:
        access = stack.start(gateway)
        curl = CURL.format(**access)
        seconds = time.monotonic() - started
        print(BANNER.format(**access, dev_json=state.dev_json, curl=curl, seconds=seconds), flush=True)
        stack.watch()
    except StopRequested:
        pass
    finally:
        _say("Stopping")
        state.dev_json.unlink(missing_ok=True)
        stack.stop()
        if emulation:
            emulation.close()
        gateway.close()
    _say("Stopped")
    return 0


def _stack(state: State, parameters: dict[str, str], emulation: Emulation | None) -> Stack:
    if emulation is None:
        return Stack(ROOT, state, parameters=parameters, say=_say)
    return Stack(
        ROOT,
        state,
        parameters=emulation.parameters | parameters,
        say=_say,
        template_path=emulation.template_path,
        make_pool=emulation.make_pool,
        reach_database=emulation.reach_database,
    )


def _take_port(port: int) -> Gateway:
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
        raise RefusalError(f"{reason}\nTake another one:         make dev PORT={other}") from error


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


def _stop_on_signals(stack: Stack) -> None:
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


def _forget_the_developers_own_cloud() -> None:
    """Her profiles, endpoints, proxies and databases must not reach into a stack that is all local."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "PG"))]:
        del os.environ[name]
    os.environ |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    os.environ |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def _options() -> argparse.Namespace:
    environment = os.environ
    parser = argparse.ArgumentParser(prog="devstack", description="Tocsin on this machine: template.yaml, alive.")
    parser.add_argument("--port", type=_port, default=environment.get("PORT") or "8080", help="default: 8080")
    parser.add_argument("--reset", action="store_true", default=environment.get("RESET", "") not in {"", "0"})
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the template")
    parser.add_argument("--state-dir", type=Path, default=Path(environment.get("TOCSIN_STATE_DIR") or ROOT / ".local"))
    how = "sources: taken as they are (default); emulator: what sam built for this machine, in Lambda's own runtime"
    parser.add_argument("--runtime", choices=("sources", "emulator"), default="sources", help=how)
    options = parser.parse_args()
    pairs = [each.partition("=") for each in options.parameter]
    options.parameters = {name: value for name, _, value in pairs}
    return options


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return int(text)


def _say(line: str) -> None:
    with suppress(OSError):  # nobody may be listening any more, and there is work to do
        print(f"  {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
