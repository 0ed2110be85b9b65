"""One Lambda execution environment as AWS makes it: its emulator of the runtime API, and its Python client for that.

Nothing of the repository is in it but what was built; a package that the build lacks is missing as it would be in AWS."""

import http.client
import importlib.util
import json
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from devstack.bootstrapping import complete, make_room
from devstack.children import Child
from devstack.declared import Function
from devstack.environment import INIT_SECONDS, Outcome, exited
from devstack.state import RefusalError

PATH = "/2015-03-31/functions/function/invocations"
START_SECONDS = 20.0
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64"}
PANICKED = 2  # the exit code of a program in Go
NO_LONGER_USABLE = ("Runtime.", "Sandbox.", "Extension.")  # the emulator's words for what ended the process


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the emulator is, and the Python of the environment that has Lambda's own packages."""

    emulator: Path
    python: Path
    version: str = "3.13"

    @classmethod
    def find(cls, python: Path) -> "Runtime":
        """AWS's emulator comes with sam, which has one for each architecture."""
        found = importlib.util.find_spec("samcli")
        name = f"aws-lambda-rie-{ARCHITECTURES.get(os.uname().machine)}"
        emulator = Path(found.origin).parent / "local" / "rapid" / name if found and found.origin else None
        if emulator is None or not emulator.exists() or not python.exists():
            raise RefusalError(
                "Lambda's runtime is not here, or not for this machine.\nMake it:                  make e2e-lambda"
            )
        return cls(emulator, python)


class EmulatedEnvironment:
    """An emulator and the process it starts; one invocation at a time, and used up by a time-out or a crash."""

    def __init__(self, function: Function, variables: dict[str, str], log: Path, runtime: Runtime) -> None:
        self._function = function
        self._env = complete(variables, function, python=runtime.version) | _of_lambda(function)
        self._log = log
        self._runtime = runtime
        self._is_usable = True
        self.idle_since = time.monotonic()
        make_room(log)
        self._port, self._process = self._launch()
        self._has_answered = False

    def _launch(self) -> tuple[int, Child]:
        port, api_port = _free_ports()
        command = [
            *(sys.executable, "-I", str(Path(__file__).with_name("leashed_program.py")), str(os.getpid())),
            *(str(self._runtime.emulator), "--log-level", "info"),
            *("--runtime-interface-emulator-address", f"127.0.0.1:{port}", "--runtime-api-address", f"127.0.0.1:{api_port}"),
            *(str(self._runtime.python), "-m", "awslambdaric", self._function.handler),
        ]
        return port, Child(command, log=self._log, cwd=self._function.folder, env=self._env)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._is_usable and self._process.returncode is None

    def invoke(self, event: Any) -> Outcome:
        """Run the handler once. The emulator says 200 whatever happened; its words say what did."""
        try:
            said = self._ask(json.dumps(event).encode())
        except (OSError, http.client.HTTPException):
            if self._is_launched_again():
                return self.invoke(event)
            self.close()
            return Outcome(error=exited("", "the emulator went away"))
        self._has_answered = True
        self.idle_since = time.monotonic()
        outcome = self._read(said)
        if outcome.error and str(outcome.error["errorType"]).startswith(NO_LONGER_USABLE):
            self.close()
        return outcome

    def close(self) -> None:
        """End the function's process, which is in a group of its own, and then the emulator, so that nobody misses it."""
        self._is_usable = False
        below = _below(self._process.pid)
        for process in below:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(below, timeout=1.0)  # it is the emulator's to bury
        self._process.kill()

    def _ask(self, event: bytes) -> bytes:
        connection = self._connected()
        try:
            connection.request("POST", PATH, event, {"Content-Type": "application/json"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def _connected(self) -> http.client.HTTPConnection:
        """Nobody listens until the emulator has started."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=self._function.timeout + INIT_SECONDS)
            try:
                connection.connect()
                return connection
            except ConnectionRefusedError:
                if not self.is_alive or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _is_launched_again(self) -> bool:
        """Whether it never was, because somebody took a port before the emulator did; it panics then, and has run nothing."""
        if self._has_answered or not self._is_usable or self._process.wait(START_SECONDS) != PANICKED:
            return False
        self._has_answered = True  # whatever comes, this was the second try
        self._process.kill()
        self._port, self._process = self._launch()
        if not self._is_usable:  # closed meanwhile
            self.close()
        return True

    def _read(self, said: bytes) -> Outcome:
        text = said.decode("utf-8", "replace")
        if "Task timed out after" in text[:200]:
            return Outcome(error={"errorType": "Sandbox.Timedout", "errorMessage": text})
        result = json.loads(text) if text else None
        if isinstance(result, dict) and "errorType" in result:
            return Outcome(error={"errorMessage": ""} | result)
        return Outcome(result)


def _of_lambda(function: Function) -> dict[str, str]:
    """What a log in JSON brings along in AWS, and what the emulator wants to know."""
    logging = {"AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_LOG_LEVEL": "INFO"} if function.logs_json else {}
    return logging | {"AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout)}


def _below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
