"""`python -m devstack`: the local stack in the foreground, until Ctrl-C."""

import argparse
import logging
import os
import sys
import time
from pathlib import Path

from devstack import postgres_cluster, unprivileged
from devstack.children import ChildError
from devstack.emulation import Emulation
from devstack.foreground import CURL, forget_the_developers_own_cloud, port, say, stop_on_signals, take_port
from devstack.intrinsics import TemplateError
from devstack.postgres import PostgresError
from devstack.stack import Stack, StopRequested
from devstack.state import RefusalError, State

ROOT = Path(__file__).parent.parent
CANNOT_START = 2
BANNER = """
Tocsin is up, in {seconds:.1f} s.

  Start    {base_url}/_local/ (send one, see it, break a provider, see the retry)
  API      {base_url}
  Key      {api_key}
  Console  {base_url}/console (signed in; {base_url}/console#/demo fills it)
  Mailbox  {base_url}/_local/mailbox
  Inbox    {base_url}/_local/inbox?user=alice
  All else {dev_json}, {base_url}/_local/overview

Send yourself something, then look in the mailbox:

{curl}

Ctrl-C stops it."""


def main() -> int:
    options = _options()
    forget_the_developers_own_cloud()
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
    gateway = take_port(options.port)
    if options.reset:
        say("Everything kept so far is deleted")
        postgres_cluster.evict(unprivileged.reachable_folder(state.postgres / "cluster"))
        state.reset()
    state.check()
    emulation = Emulation(ROOT, state) if options.runtime == "emulator" else None
    stack = _stack(state, options.parameters, emulation)
    stop_on_signals(stack)
    try:
        access = stack.start(gateway)
        curl = CURL.format(**access)
        seconds = time.monotonic() - started
        print(BANNER.format(**access, dev_json=state.dev_json, curl=curl, seconds=seconds), flush=True)
        stack.watch()
    except StopRequested:
        pass
    finally:
        say("Stopping")
        state.dev_json.unlink(missing_ok=True)
        stack.stop()
        if emulation:
            emulation.close()
        gateway.close()
    say("Stopped")
    return 0


def _stack(state: State, parameters: dict[str, str], emulation: Emulation | None) -> Stack:
    if emulation is None:
        return Stack(ROOT, state, parameters=parameters, say=say)
    return Stack(
        ROOT,
        state,
        parameters=emulation.parameters | parameters,
        say=say,
        template_path=emulation.template_path,
        make_pool=emulation.make_pool,
        reach_database=emulation.reach_database,
    )


def _options() -> argparse.Namespace:
    environment = os.environ
    parser = argparse.ArgumentParser(prog="devstack", description="Tocsin on this machine: template.yaml, alive.")
    parser.add_argument("--port", type=port, default=environment.get("PORT") or "8080", help="default: 8080")
    parser.add_argument("--reset", action="store_true", default=environment.get("RESET", "") not in {"", "0"})
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the template")
    parser.add_argument("--state-dir", type=Path, default=Path(environment.get("TOCSIN_STATE_DIR") or ROOT / ".local"))
    how = "sources: taken as they are (default); emulator: what sam built for this machine, in Lambda's own runtime"
    parser.add_argument("--runtime", choices=("sources", "emulator"), default="sources", help=how)
    options = parser.parse_args()
    pairs = [each.partition("=") for each in options.parameter]
    options.parameters = {name: value for name, _, value in pairs}
    return options


if __name__ == "__main__":
    sys.exit(main())
