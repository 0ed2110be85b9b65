"""One Lambda execution environment: a process that holds one function and runs one invocation at a time."""

import json
import signal
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from devstack.bootstrapping import spawn
from devstack.declared import Function
from devstack.fork_server import ForkServer

INIT_SECONDS = 60.0  # Lambda allows 10, but does not start four at once on a laptop


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an invocation came to: a result, or an error in Lambda's words."""

    result: Any = None
    error: dict[str, Any] | None = None


class ExecutionEnvironment(Protocol):
    """What a pool keeps: it holds one function, runs one invocation at a time, and says when it no longer can."""

    idle_since: float

    @property
    def is_alive(self) -> bool: ...

    def invoke(self, event: Any) -> Outcome: ...

    def close(self) -> None: ...


class Environment:
    """A process that has imported the handler, or was forked from one; it is used up by a time-out or a crash."""

    def __init__(self, function: Function, variables: dict[str, str], log: Path, server: ForkServer | None = None) -> None:
        self._function = function
        self.is_usable = True
        self.idle_since = time.monotonic()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = server.fork(theirs) if server else spawn(function, variables, log, theirs)
        self._socket = ours
        self._reader = ours.makefile("rb")
        self._is_ready = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self.is_usable and self._process.returncode is None

    def invoke(self, event: Any) -> Outcome:
        """Run the handler once; an environment that timed out or died afterwards says it is no longer usable."""
        request_id = str(uuid4())
        try:
            if not self._is_ready and (failure := self._wait_for_init()):
                return failure
            answer = self._exchange(event, request_id)
        except TimeoutError:
            self.close()
            return Outcome(error=_timed_out(request_id, self._function.timeout))
        except (OSError, EOFError):
            return Outcome(error=self._exited(request_id))
        self.idle_since = time.monotonic()
        return Outcome(answer.get("result"), answer.get("error"))

    def close(self) -> None:
        self.is_usable = False
        self._process.kill()
        self._reader.close()
        self._socket.close()

    def _wait_for_init(self) -> Outcome | None:
        self._socket.settimeout(INIT_SECONDS)
        answer = self._read()
        if "init_error" in answer:
            self.close()
            return Outcome(error=answer["init_error"])
        self._is_ready = True
        return None

    def _exchange(self, event: Any, request_id: str) -> dict[str, Any]:
        allowed = self._function.timeout
        request = {
            "event": event,
            "request_id": request_id,
            "arn": self._function.arn,
            "deadline_ms": time.time_ns() // 1_000_000 + allowed * 1000,
            "trace_id": f"Root=1-{int(time.time()):08x}-{uuid4().hex[:24]};Parent={uuid4().hex[:16]};Sampled=0",
        }
        self._socket.settimeout(allowed)
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _exited(self, request_id: str) -> dict[str, Any]:
        self.is_usable = False
        code = self._process.wait(5)
        self.close()
        how = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return exited(request_id, how)


def exited(request_id: str, how: str) -> dict[str, Any]:
    """Lambda's words for a process that ended by itself."""
    message = f"RequestId: {request_id} Error: Runtime exited with error: {how}"
    return {"errorType": "Runtime.ExitError", "errorMessage": message}


def _timed_out(request_id: str, seconds: int) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    message = f"{now} {request_id} Task timed out after {seconds:.2f} seconds"
    return {"errorType": "Sandbox.Timedout", "errorMessage": message}
