"""`make sam-local` on a Docker engine: up to a mail, by every way in, and nothing is left, not even after `kill -9`.

Where no engine answers, or sam is not installed, all but the refusal is skipped. An engine that reaches no registry gets the
stand-in image for as long as the tests run.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devstack.sam_local.docker_engine import Engine, EngineError
from devstack.sam_local.servers import free_port
from devstack.sam_local.template_copy import runtime
from devstack.state import RefusalError
from tests.e2e.client import Client, wait_for
from tests.sam_local import stand_in_image

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 300  # with a build from nothing
STOP_SECONDS = 60


def engine() -> Engine | None:
    try:
        return Engine.find()
    except RefusalError:
        return None


needs_docker = pytest.mark.skipif(
    engine() is None or not Path(sys.executable).with_name("sam").exists(),
    reason="it needs a Docker engine that answers, and sam, which `make build` installs",
)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """AWS's image, or for the time being the stand-in."""
    found = engine()
    assert found
    name = found.image_name(runtime(ROOT / "template.yaml"))
    is_stand_in = False
    if not found.has(name):
        try:
            found.run("pull", "--quiet", name)
        except EngineError:
            stand_in_image.make(found, name)
            is_stand_in = True
    yield name
    if is_stand_in:
        found.run("image", "rm", "--force", name)


@dataclass(slots=True)
class Started:
    """A stack of its own, in the foreground of nobody."""

    folder: Path
    process: subprocess.Popen[bytes]
    port: int
    dev: dict[str, str]

    @property
    def output(self) -> str:
        return (self.folder / "output.txt").read_text(errors="replace")

    def shown(self, word: str) -> str:
        return next(line.split()[1] for line in self.output.splitlines() if line.strip().startswith(f"{word} "))


def start(folder: Path) -> Started:
    folder.mkdir(exist_ok=True)
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name not in {"PORT", "RESET"}}
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "devstack.sam_local", "--port", str(port), "--state-dir", str(folder)],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    started = Started(folder, process, port, {})
    deadline = time.monotonic() + START_SECONDS
    while "Ctrl-C stops it." not in started.output:
        assert process.poll() is None, started.output
        assert time.monotonic() < deadline, started.output
        time.sleep(0.2)
    started.dev = json.loads((folder / "dev.json").read_text())
    return started


def containers_of(folder: Path) -> list[str]:
    found = engine()
    assert found
    return found.run("ps", "--all", "--quiet", "--filter", f"volume={folder}/build/IntakeFunction").split()


def networks() -> set[str]:
    found = engine()
    assert found
    return {name for name in found.run("network", "ls", "--format", "{{.Name}}").split() if name.startswith("tocsin-sam-local-")}


def lock_as_one_that_is_killed_while_it_makes_images(folder: Path) -> list[Path]:
    locks = [made.with_suffix(".lock") for made in (folder / "tmp").glob("*.building.status")]
    assert locks
    for lock in locks:
        lock.write_text(str(os.getpid()))
    return locks


def letters(started: Started) -> list[dict[str, Any]]:
    with urllib.request.urlopen(started.shown("Mailbox"), timeout=10) as response:
        data: list[dict[str, Any]] = json.load(response)["data"]
    return data


def mails_to(started: Started, address: str) -> list[dict[str, Any]]:
    return [letter for letter in letters(started) if address in letter["to"]]


def typed(home: Path, folder: Path) -> str:
    """What the page's own session says, typed where the state folder is in its usual place."""
    page = (ROOT / "docs" / "local-stack.md").read_text()
    (session,) = re.findall(r"```bash\n(.*?)```", page, re.S)
    (home / ".local").mkdir()
    (home / ".local" / "sam-local").symlink_to(folder)
    return subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", session], cwd=home, capture_output=True, text=True, timeout=120, check=True
    ).stdout


def test_without_docker_it_ends_at_once_and_names_the_way_that_needs_none(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()

    done = subprocess.run(
        [sys.executable, "-m", "devstack.sam_local", "--state-dir", str(tmp_path / "state")],
        cwd=ROOT,
        env=os.environ | {"PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "no docker on the PATH" in done.stderr
    assert "make dev" in done.stderr
    assert not (tmp_path / "state").exists()


@needs_docker
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("image")
def test_an_intent_becomes_a_mail_by_http_and_by_queue_and_nothing_is_left_behind(tmp_path: Path) -> None:
    before, folder = networks(), tmp_path / "state"
    started = start(folder)
    try:
        client = Client(started, started.dev["api_key"])  # type: ignore[arg-type]

        # It has sent one by itself, and shows it.
        assert [letter["to"] for letter in letters(started)] == [["you@example.com"]]
        assert "you@example.com" in started.output

        # By HTTP: SAM routes, with path parameters, and what nobody knows goes to the template's own door for it.
        sent = client.send(type="hello", audience={"kind": "address", "email": "ada@example.com"}, payload={"title": "Hi"})
        wait_for(lambda: mails_to(started, "ada@example.com"), bool)
        client.finished(sent)
        assert client.call("GET", "/no/such/path").status == 404

        # By queue: our poller invokes by the Lambda API.
        sqs = client.aws("sqs")
        (queue,) = (url for url in sqs.list_queues()["QueueUrls"] if url.endswith("-intake"))
        intent = {"type": "note", "audience": {"kind": "address", "email": "fay@example.com"}, "payload": {"title": "By queue"}}
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"idempotency_key": "q-1", **intent}))
        wait_for(lambda: mails_to(started, "fay@example.com"), bool)

        # By hand, as the page says.
        said = typed(tmp_path, folder)
        assert '"status":"accepted"' in said
        assert "errorType" not in said
        wait_for(lambda: mails_to(started, "gus@example.com"), bool)

        # Killed, it leaves its containers; the next one in the folder begins with them.
        assert containers_of(folder)
        started.process.kill()
        started.process.wait()
        left = containers_of(folder)
        assert left
        locks = lock_as_one_that_is_killed_while_it_makes_images(folder)
        started = start(folder)
        assert not set(left) & set(containers_of(folder))
        assert not any(lock.exists() for lock in locks), "for which sam would wait five minutes"
        assert mails_to(started, "ada@example.com")
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(STOP_SECONDS) == 0, started.output
    finally:
        if started.process.poll() is None:
            started.process.terminate()
            started.process.wait(STOP_SECONDS)

    assert (containers_of(folder), networks()) == ([], before)
    assert not (folder / "dev.json").exists()
    shutil.rmtree(folder / "build")
