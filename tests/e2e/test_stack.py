"""The local stack as a developer meets it: started, stopped, killed, started again, and in bad company."""

import json
import os
import signal
import socket
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest

from devstack.launch import RunningStack, is_running, launch, started_stack


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One state folder for all these tests, one after the other: a warm start is much quicker than a first one."""
    return tmp_path_factory.mktemp("stack")


def ask(stack: RunningStack, method: str, path: str, body: Any = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {stack.dev['api_key']}", "Content-Type": "application/json"}
    headers["Idempotency-Key"] = uuid4().hex
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{stack.dev['base_url']}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=40) as response:
        found: dict[str, Any] = json.load(response)
    return found


def send(stack: RunningStack, address: str, **more: str) -> str:
    intent = more | {
        "type": "hello",
        "audience": {"kind": "address", "email": address},
        "channels": ["email"],
        "payload": {"title": "Hello", "message": "It works."},
    }
    accepted: str = ask(stack, "POST", "/v1/intents", intent)["notification_id"]
    return accepted


def mails_to(stack: RunningStack, address: str) -> int:
    return sum(address in each["to"] for each in ask(stack, "GET", "/_local/mailbox")["data"])


def wait_until(condition: Callable[[], bool], seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def test_what_was_answered_survives_killing_everything(folder: Path) -> None:
    with started_stack(folder) as stack:
        first, key = stack.dev, stack.dev["api_key"]
        before = send(stack, "before@example.com")
        wait_until(lambda: mails_to(stack, "before@example.com") == 1)
        in_six_seconds = datetime.now(UTC) + timedelta(seconds=6)
        promised = send(stack, "promised@example.com", send_at=in_six_seconds.isoformat())
        stack.kill_everything()

    with started_stack(folder) as stack:
        assert stack.dev["api_key"] == key
        assert stack.dev["admin_key"] == first["admin_key"]
        for known in (before, promised):
            assert ask(stack, "GET", f"/v1/notifications/{known}")["notification_id"] == known
        wait_until(lambda: mails_to(stack, "promised@example.com") == 1, seconds=100)
        assert mails_to(stack, "before@example.com") == 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_and_a_second_stack_starts_from_the_same_data(folder: Path, how: signal.Signals) -> None:
    with started_stack(folder) as stack:
        sent = send(stack, "one@example.com")

        assert stack.stop(how) == 0

    if how is signal.SIGTERM:
        with started_stack(folder, RESET="1") as stack, pytest.raises(urllib.request.HTTPError, match="404"):
            ask(stack, "GET", f"/v1/notifications/{sent}")


def test_a_signal_while_starting_leaves_nothing_behind(folder: Path) -> None:
    stack = launch(folder)
    wait_until(lambda: "Migration" in stack.output)

    assert stack.stop() == 0


def test_a_second_stack_in_the_same_folder_says_who_is_there(folder: Path) -> None:
    with started_stack(folder) as stack:
        second = launch(folder)

        assert second.process.wait(30) == 2
        assert f"kill {stack.process.pid}" in second.output
        assert (folder / "dev.json").exists(), "the first one goes on"


def test_a_taken_port_is_named_with_its_owner_and_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        stack = launch(tmp_path, "--port", str(port))

        assert stack.process.wait(30) == 2
    assert f"Port {port} is taken by process {os.getpid()}" in stack.output
    assert "make dev PORT=" in stack.output


def test_damaged_state_is_named_with_the_command_that_helps(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text("{")

    stack = launch(tmp_path)

    assert stack.process.wait(60) == 2
    assert f"rm {tmp_path / 'secrets.json'}" in stack.output
    assert "Traceback" not in stack.output


def test_a_damaged_database_is_named_with_the_command_that_helps(folder: Path) -> None:
    with started_stack(folder):
        pass
    control = (folder / "postgres" / "cluster" / "global" / "pg_control").resolve()
    control.write_bytes(b"garbage")

    stack = launch(folder)

    assert stack.process.wait(60) == 2
    assert "make dev RESET=1" in stack.output
    with started_stack(folder, RESET="1") as fresh:
        assert ask(fresh, "GET", "/health") == {"status": "ok"}


def test_servers_that_die_come_back(folder: Path) -> None:
    with started_stack(folder) as stack:
        send(stack, "early@example.com")  # so that the function has its database password
        command = {each.pid: " ".join(each.cmdline()) for each in stack.processes()}
        for pid, line in command.items():
            if "devstack.aws_server" in line or "devstack.post_counter" in line:
                psutil.Process(pid).kill()
        wait_until(lambda: stack.output.count("has stopped") == 2)

        assert ask(stack, "GET", "/health") == {"status": "ok"}
        wait_until(lambda: all(is_listening(stack.dev[name]) for name in ("aws_endpoint_url", "post_office_url")))
        send(stack, "patient@example.com")
        wait_until(lambda: mails_to(stack, "patient@example.com") == 1, seconds=100)


def is_listening(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


def test_a_second_signal_does_not_wait_and_still_leaves_nothing_behind(folder: Path) -> None:
    with started_stack(folder) as stack:
        everything = stack.processes()

        stack.process.send_signal(signal.SIGINT)
        stack.process.send_signal(signal.SIGINT)

        stack.process.wait(20)
        wait_until(lambda: not any(is_running(process) for process in everything))


def test_a_folder_that_cannot_be_used_is_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    stack = launch(tmp_path / "output", TOCSIN_STATE_DIR=str(tmp_path / "file" / "state"))

    assert stack.process.wait(30) == 2
    assert str(tmp_path / "file" / "state") in stack.output
    assert "TOCSIN_STATE_DIR=" in stack.output
