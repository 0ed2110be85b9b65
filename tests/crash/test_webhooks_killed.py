"""A worker that is killed while an endpoint has its call: the message is told again, and is the same message."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tests.crash.waiting import wait_until
from tests.webhooks import Gate, add_hook, allow_loopback, call_hooks, delivery, receiving, tell
from tests.world import LEASE, World

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import sys
import psycopg
from tests.links import know_the_secrets
from tests.webhooks import webhook_worker
from tocsin.foundation import encryption
from tocsin.outbox.dispatch import dispatch
know_the_secrets()
encryption.unseal = lambda *_, **__: sys.argv[2]  # its parent's KMS is not there for it
dispatch(psycopg.connect(sys.argv[1], autocommit=True), [], webhook_worker())
"""


def test_a_message_whose_worker_was_killed_is_told_again_with_the_same_id(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_loopback(monkeypatch)
    world.add_user()
    with receiving() as receiver:
        hook = add_hook(world, receiver.url)
        tell(world)
        gate = receiver.always = Gate()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT), str(ROOT / "layers/shared")])}
        child = subprocess.Popen([sys.executable, "-c", CHILD, world.dsn("tocsin_worker"), hook.secret], env=environment)

        wait_until(lambda: gate.held == 1 or child.poll() is not None, 60)
        child.send_signal(signal.SIGKILL)
        child.wait(10)
        gate.open()
        assert (delivery(world)["status"], delivery(world)["attempt_count"]) == ("pending", 0)
        world.pass_time(LEASE + timedelta(seconds=1))
        call_hooks(world)

        assert (delivery(world)["status"], delivery(world)["attempt_count"]) == ("delivered", 1)
        assert (len(receiver.events(hook.secret)), len(set(receiver.ids))) == (2, 1)
