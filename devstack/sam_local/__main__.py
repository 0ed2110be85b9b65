"""`python -m devstack.sam_local`: the service in SAM's containers, in the foreground, until Ctrl-C."""

import argparse
import logging
import os
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from devstack import postgres_cluster, unprivileged
from devstack.children import ChildError
from devstack.foreground import CURL, forget_the_developers_own_cloud, port, say, stop_on_signals, take_port
from devstack.intrinsics import TemplateError
from devstack.post_office.ledger import Ledger
from devstack.postgres import PostgresError
from devstack.sam_local import first_mail, template_copy
from devstack.sam_local.build import build
from devstack.sam_local.container_network import ContainerNetwork
from devstack.sam_local.docker_engine import Engine, EngineError
from devstack.sam_local.servers import SamServers
from devstack.sam_local.stack import SamStack
from devstack.stack import StopRequested
from devstack.state import RefusalError, State

ROOT = Path(__file__).parent.parent.parent
TEMPLATE = ROOT / "template.yaml"
CANNOT_START = 2
BANNER = """
Tocsin is up in containers, in {seconds:.0f} s; a mail went the whole way {mail_seconds:.1f} s after its intent:

  To       {to}
  Subject  {subject}

  API      {base_url}        (sam local start-api)
  Lambda   {lambda_url}       (sam local start-lambda)
  Key      {api_key}
  Start    {pages_url}/_local/
  Mailbox  {pages_url}/_local/mailbox
  All else {dev_json}, {pages_url}/_local/overview

Send the next one yourself:

{curl}

or invoke what no request does:

curl -sS {lambda_url}/2015-03-31/functions/SweepFunction/invocations -d '{{}}'

Ctrl-C stops it."""


def main() -> int:
    options = _options()
    state = State(options.state_dir)
    logging.basicConfig(level=logging.WARNING, format="  ! %(message)s")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _give_up)
    try:
        engine = Engine.find()
        state.open()
        try:
            return _run(engine, state, options)
        finally:
            state.close()
    except StopRequested:
        return 0
    except (RefusalError, TemplateError, ChildError, PostgresError, EngineError) as refusal:
        print(f"\n{refusal}", file=sys.stderr, flush=True)
        return CANNOT_START


def _run(engine: Engine, state: State, options: argparse.Namespace) -> int:
    started = time.monotonic()
    take_port(options.port, command="make sam-local").close()
    os.environ |= {"DOCKER_HOST": engine.address, "SAM_CLI_TELEMETRY": "0", "TMPDIR": str(_empty(state.folder / "tmp"))}
    os.environ.setdefault("__SAM_CLI_APP_DIR", str(state.folder / "sam"))
    if options.reset:
        say("Everything kept so far is deleted")
        postgres_cluster.evict(unprivileged.reachable_folder(state.postgres / "cluster"))
        state.reset()
    state.check()
    runtime = template_copy.runtime(TEMPLATE)
    image = engine.image_name(runtime)
    if not engine.has(image):
        say(f"{image} is not here yet")
        engine.pull(image)
    built = _built(engine, state, runtime)
    network = ContainerNetwork(engine, state.folder)
    with ExitStack() as cleanup:
        cleanup.callback(network.close)
        reach = network.open(image)
        forget_the_developers_own_cloud(ours=reach.addresses)
        sam = SamServers(built, network, port=options.port, folder=state.folder, logs=state.logs)
        stack = SamStack(ROOT, state, parameters={}, say=say, reach=reach, sam=sam, network=network, image=image)
        _serve(stack, state, sam, started)
    say("Stopped")
    return 0


def _empty(folder: Path) -> Path:
    """A place for what sam leaves about: for the lock, above all, of an image in the making when it was stopped.

    Where the next one finds that, it waits for five minutes.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _built(engine: Engine, state: State, runtime: str) -> Path:
    say(f"sam build, for {engine.architecture}")
    copied = state.folder / "template.yaml"
    template_copy.write(TEMPLATE, copied, architecture=engine.architecture, variables=template_copy.variable_names(TEMPLATE))
    return build(copied, state.folder, runtime=runtime, log=state.logs / "sam-build.log")


def _serve(stack: SamStack, state: State, sam: SamServers, started: float) -> None:
    pages = take_port(0)
    stop_on_signals(stack)
    try:
        access = stack.start(pages) | {"lambda_url": sam.lambda_url, "pages_url": pages.url}
        state.announce(access)
        say("An intent, on its way to a mail")
        sent = time.monotonic()
        mail = first_mail.send(
            access["base_url"], access["api_key"], Ledger(state.ledger), is_over=lambda: stack.is_asked_to_stop
        )
        if mail is None:
            return
        shown = {"to": ", ".join(mail["to"]), "subject": mail["subject"], "mail_seconds": time.monotonic() - sent}
        curl = CURL.format(**access)
        print(BANNER.format(**access, **shown, dev_json=state.dev_json, curl=curl, seconds=sent - started), flush=True)
        stack.watch()
    except StopRequested:
        pass
    finally:
        say("Stopping")
        state.dev_json.unlink(missing_ok=True)
        stack.stop()
        pages.close()


def _give_up(number: int, frame: FrameType | None) -> None:
    raise StopRequested


def _options() -> argparse.Namespace:
    environment = os.environ
    parser = argparse.ArgumentParser(prog="devstack.sam_local", description="Tocsin in the containers of `sam local`.")
    parser.add_argument("--port", type=port, default=environment.get("PORT") or "3000", help="default: 3000")
    parser.add_argument("--reset", action="store_true", default=environment.get("RESET", "") not in {"", "0"})
    folder = Path(environment.get("TOCSIN_STATE_DIR") or ROOT / ".local" / "sam-local")
    parser.add_argument("--state-dir", type=Path, default=folder)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
