"""Lambda at home: every function is a pool of execution environments, started when they are needed."""

import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devstack.declared import Function, Layer
from devstack.environment import Environment, ExecutionEnvironment, Outcome
from devstack.fork_server import IS_SAFE, ForkServer

LOCAL_CONCURRENCY = 4  # of a function that reserves none
MOST_CONCURRENCY = 8  # whatever a function reserves
CROWDS = {"WaitFunction": 200}  # but of one that only waits: its environments are forked, where that is safe
IDLE_SECONDS = 600.0
LOOK_SECONDS = 1.0
THROTTLED = {"errorType": "TooManyRequestsException", "errorMessage": "Rate Exceeded."}
STOPPED = {"errorType": "ServiceException", "errorMessage": "The local stack is stopping."}

MakeEnvironment = Callable[[Function, dict[str, str], Path], ExecutionEnvironment]


class Sources:
    """Notices edits, so that the next invocation after one runs the new code."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._looked_at = float("-inf")
        self._state = 0

    def state(self) -> int:
        """A number that changes when any source file does; looks at the disk at most once a second."""
        if time.monotonic() - self._looked_at > LOOK_SECONDS:
            found = (path for folder in self._folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
            self._state = hash(tuple(sorted((str(path), _changed_at(path)) for path in found)))
            self._looked_at = time.monotonic()
        return self._state


def _changed_at(path: Path) -> int:
    try:
        found = path.stat()
    except FileNotFoundError:  # an editor's temporary file
        return 0
    return 0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns


class Pool:
    """The environments of one function: never more at once than it reserves, and never more than a laptop bears."""

    def __init__(
        self, function: Function, variables: Mapping[str, str], log: Path, *, make_environment: MakeEnvironment | None = None
    ) -> None:
        """`make_environment` makes another kind of them, of code that was built and does not change."""
        self.function = function
        reserved = function.reserved_concurrency
        self._make_environment = make_environment
        self._is_forked = make_environment is None and IS_SAFE and function.name in CROWDS
        most = CROWDS[function.name] if self._is_forked else MOST_CONCURRENCY
        self.limit = LOCAL_CONCURRENCY if reserved is None else min(reserved, most)
        self._servers: dict[int, ForkServer] = {}
        self._variables = dict(variables) | _with_layers_mounted(function.variables, function.layers)
        self._log = log
        self._sources = Sources([] if make_environment else [function.folder, *(layer.content for layer in function.layers)])
        self._slots = threading.Semaphore(self.limit)
        self._lock = threading.Lock()
        self._idle: list[tuple[int, ExecutionEnvironment]] = []
        self._busy: set[ExecutionEnvironment] = set()
        self._is_closed = False

    def invoke(self, event: Any, *, patience: float | None = None) -> Outcome:
        """Run the function, waiting up to `patience` seconds for a free environment; like Lambda, it never raises.

        One that reserves no environment at all is switched off: whoever calls it is throttled.
        """
        if self.limit == 0 or not self._slots.acquire(timeout=patience):
            return Outcome(error=THROTTLED)
        try:
            with self._environment() as environment:
                return environment.invoke(event) if environment else Outcome(error=STOPPED)
        finally:
            self._slots.release()

    def reap(self) -> None:
        """End the environments that have had nothing to do for long."""
        with self._lock:
            old = [each for _, each in self._idle if time.monotonic() - each.idle_since > IDLE_SECONDS]
            self._idle = [(state, each) for state, each in self._idle if each not in old]
        for environment in old:
            environment.close()

    def close(self) -> None:
        """End every environment, busy ones too: their invocations come back as errors."""
        with self._lock:
            self._is_closed = True
            environments = [*(each for _, each in self._idle), *self._busy]
            servers = list(self._servers.values())
            self._idle = []
        for environment in environments:
            environment.close()
        for server in servers:
            server.kill()

    @contextmanager
    def _environment(self) -> Iterator[ExecutionEnvironment | None]:
        state = self._sources.state()
        with self._lock:
            environment, outdated = self._take(state)
            if environment:
                self._busy.add(environment)
        for each in outdated:
            each.close()
        if environment is None:
            environment = self._start(state)
        try:
            yield environment
        finally:
            if environment:
                self._give_back(state, environment)

    def _take(self, state: int) -> tuple[ExecutionEnvironment | None, list[ExecutionEnvironment]]:
        """The environment that was used last, if it is alive and its code is still what is on disk."""
        outdated: list[ExecutionEnvironment] = []
        while self._idle:
            its_state, environment = self._idle.pop()
            if its_state == state and environment.is_alive:
                return environment, outdated
            outdated.append(environment)
        return None, outdated

    def _start(self, state: int) -> ExecutionEnvironment | None:
        environment = self._make(state)
        with self._lock:
            if not self._is_closed:
                self._busy.add(environment)
                return environment
        environment.close()
        return None

    def _make(self, state: int) -> ExecutionEnvironment:
        if self._make_environment:
            return self._make_environment(self.function, self._variables, self._log)
        return Environment(self.function, self._variables, self._log, self._server_of(state))

    def _server_of(self, state: int) -> ForkServer | None:
        """What the many environments of a crowd are forked from: the code as it is on disk."""
        if not self._is_forked:
            return None
        with self._lock:
            outdated = [number for number, server in self._servers.items() if number != state or not server.is_alive]
            for number in outdated:
                self._servers.pop(number).retire()
            if state not in self._servers:
                self._servers[state] = ForkServer(self.function, self._variables, self._log)
            return self._servers[state]

    def _give_back(self, state: int, environment: ExecutionEnvironment) -> None:
        with self._lock:
            self._busy.discard(environment)
            if environment.is_alive and not self._is_closed:
                self._idle.append((state, environment))
                return
        environment.close()


def _with_layers_mounted(variables: Mapping[str, str], layers: tuple[Layer, ...]) -> dict[str, str]:
    """The variables with each path under /opt replaced by where that lies here."""
    is_path = {name: value == "/opt" or value.startswith("/opt/") for name, value in variables.items()}
    return {name: _mounted(value, layers) if is_path[name] else value for name, value in variables.items()}


def _mounted(path: str, layers: tuple[Layer, ...]) -> str:
    inside = path.removeprefix("/opt").lstrip("/")
    # As in Lambda, a later layer hides what an earlier one has at the same place.
    for layer in reversed(layers):
        if not layer.is_built and (layer.content / inside).exists():
            return str(layer.content / inside)
        below_python = inside.removeprefix("python").lstrip("/")
        if layer.is_built and inside.startswith("python") and (layer.content / below_python).exists():
            return str(layer.content / below_python)
    return path
