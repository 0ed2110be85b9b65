"""One Lambda execution environment: a process that holds one function and runs one invocation at a time."""

import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from devstack.children import Child
from devstack.declared import Function
from devstack.intrinsics import REGION

INIT_SECONDS = 60.0  # Lambda allows 10, but does not start four at once on a laptop
MAX_LOG_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an invocation came to: a result, or an error in Lambda's words."""

    result: Any = None
    error: dict[str, Any] | None = None


class Environment:
    """A process that has imported the handler; it is used up by a time-out or a crash."""

    def __init__(self, function: Function, variables: dict[str, str], log: Path) -> None:
        self._function = function
        self.is_usable = True
        self.idle_since = time.monotonic()
        ours, theirs = socket.socketpair()
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        with theirs:
            self._child = Child(
                [
                    sys.executable,
                    "-P",
                    str(Path(__file__).with_name("bootstrap.py")),
                    str(os.getpid()),
                    str(theirs.fileno()),
                    function.handler,
                ],
                log=log,
                cwd=function.folder,
                env=_complete(variables, function),
                pass_fds=(theirs.fileno(),),
            )
        self._socket = ours
        self._reader = ours.makefile("rb")
        self._is_ready = False

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self.is_usable and self._child.returncode is None

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
        self._child.kill()
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
        code = self._child.process.wait(5)
        self.close()
        how = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        message = f"RequestId: {request_id} Error: Runtime exited with error: {how}"
        return {"errorType": "Runtime.ExitError", "errorMessage": message}


def _timed_out(request_id: str, seconds: int) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    message = f"{now} {request_id} Task timed out after {seconds:.2f} seconds"
    return {"errorType": "Sandbox.Timedout", "errorMessage": message}


def _complete(variables: dict[str, str], function: Function) -> dict[str, str]:
    """The function's variables and those that Lambda sets; nothing of the developer's own environment gets through."""
    layers = [str(layer.python_path) for layer in function.layers if layer.python_path.is_dir()]
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",  # no credentials or settings of the developer
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "PYTHONPATH": os.pathsep.join([str(function.folder), *layers]),
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_SESSION_TOKEN": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_LAMBDA_FUNCTION_NAME": function.arn.rpartition(":")[2],
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": uuid4().hex,
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info.major}.{sys.version_info.minor}",
        "LAMBDA_TASK_ROOT": str(function.folder),
        "_HANDLER": function.handler,
    } | variables
