"""An emulated environment behaves as the local one does: results, errors, time-outs, ends; and leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from devstack import emulator
from devstack.declared import Function
from devstack.emulator import EmulatedEnvironment, Runtime
from devstack.launch import ROOT, is_running
from devstack.runtime import Pool
from tests.e2e.client import wait_for

HANDLER = """
import os, time

def handler(event, context):
    match event.get("do"):
        case "raise":
            raise ValueError("no")
        case "exit":
            os._exit(3)
        case "sleep":
            time.sleep(60)
    return {"pid": os.getpid(), "is_early": context.get_remaining_time_in_millis() <= 1000, "variable": os.environ["OURS"]}
"""
PYTHON = ROOT / ".local" / "lambda" / ".venv" / "bin" / "python"
Make = Callable[..., EmulatedEnvironment]


def function_in(folder: Path, handler: str = "app.handler") -> Function:
    (folder / "app.py").write_text(HANDLER)
    (folder / "broken.py").write_text("import nothing_like_it\n")
    return Function("It", "arn:aws:lambda:us-east-1:000000000000:function:it", folder, handler, 1, 128, {}, (), None)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made = []

    def one(handler: str = "app.handler") -> EmulatedEnvironment:
        function = function_in(tmp_path, handler)
        made.append(EmulatedEnvironment(function, {"OURS": "yes"}, tmp_path / "log", Runtime.find(PYTHON)))
        return made[-1]

    yield one
    for each in made:
        each.close()


def test_a_result_comes_back_and_the_next_invocation_is_of_the_same_process(make: Make) -> None:
    environment = make()

    first, second = environment.invoke({}), environment.invoke({})

    assert first.result == {"pid": first.result["pid"], "is_early": True, "variable": "yes"}
    assert second == first
    assert environment.is_alive


def test_what_the_handler_raises_is_an_error_in_lambdas_words_and_ends_nothing(make: Make) -> None:
    environment = make()

    error = environment.invoke({"do": "raise"}).error

    assert error
    assert (error["errorType"], error["errorMessage"]) == ("ValueError", "no")
    assert environment.is_alive


@pytest.mark.parametrize(
    ("handler", "event", "kind", "said"),
    [
        ("app.handler", {"do": "exit"}, "Runtime.ExitError", "exit status 3"),
        ("app.handler", {"do": "sleep"}, "Sandbox.Timedout", "Task timed out after 1.00 seconds"),
        ("broken.handler", {}, "Runtime.ImportModuleError", "No module named 'nothing_like_it'"),
        ("app.nothing", {}, "Runtime.HandlerNotFound", "'nothing' missing on module 'app'"),
    ],
)
def test_what_ends_the_process_is_told_and_uses_the_environment_up(
    make: Make, handler: str, event: Any, kind: str, said: str
) -> None:
    environment = make(handler)

    error = environment.invoke(event).error

    assert error
    assert error["errorType"] == kind
    assert said in error["errorMessage"]
    assert not environment.is_alive


@pytest.mark.parametrize("which", [0, 1], ids=["of the emulator", "of the runtime API"])
def test_a_port_that_somebody_took_first_is_exchanged_for_another(
    make: Make, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    free = emulator._free_ports
    asked = 0

    def one_is_taken() -> tuple[int, int]:
        nonlocal asked
        asked += 1
        ports = list(free())
        if asked == 1:
            ports[which] = rival.getsockname()[1]
        return ports[0], ports[1]

    monkeypatch.setattr(emulator, "_free_ports", one_is_taken)
    with socket.socket() as rival:
        rival.bind(("127.0.0.1", 0))
        outcome = make().invoke({})

    assert (outcome.error, asked) == (None, 2)


def test_a_closed_environment_leaves_no_process(make: Make) -> None:
    environment = make()
    environment.invoke({})
    both = [psutil.Process(environment.pid), *psutil.Process(environment.pid).children()]

    environment.close()

    assert len(both) == 2
    assert [process for process in both if is_running(process)] == []
    assert environment.invoke({}).error


def test_nothing_outlives_a_stack_that_was_killed(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from devstack.emulator import EmulatedEnvironment, Runtime
from tests.lambda_runtime.test_emulator import PYTHON, function_in
folder = Path({str(tmp_path)!r})
environment = EmulatedEnvironment(function_in(folder), {{"OURS": "yes"}}, folder / "log", Runtime.find(PYTHON))
print(environment.pid, environment.invoke({{}}).result["pid"], flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as stack:
        assert stack.stdout
        below = [psutil.Process(int(pid)) for pid in stack.stdout.readline().split()]

        os.kill(stack.pid, signal.SIGKILL)

    assert len(below) == 2
    wait_for(lambda: [process for process in below if is_running(process)], lambda left: left == [])


def test_a_pool_of_them_takes_another_for_one_that_was_used_up(tmp_path: Path) -> None:
    runtime = Runtime.find(PYTHON)
    pool = Pool(
        function_in(tmp_path),
        {"OURS": "yes"},
        tmp_path / "log",
        make_environment=lambda function, variables, log: EmulatedEnvironment(function, variables, log, runtime),
    )
    try:
        first, _, second = (pool.invoke(event) for event in ({}, {"do": "exit"}, {}))
    finally:
        pool.close()

    assert first.result["pid"] != second.result["pid"]
    assert pool.invoke({}).error, "it is closed"
