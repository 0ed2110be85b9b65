"""Inside a Lambda execution environment: imports the handler once, then answers one invocation after the other.

Where many environments are wanted it imports the handler once for all of them and is forked for each, as SnapStart would do.
It runs as a file, not as a module of this package, so that a function sees nothing of the repository but its own
folder and its layers.
"""

import gc
import importlib
import io
import json
import os
import runpy
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

MAX_RESPONSE_BYTES = 6 * 1024 * 1024
Handler = Callable[[Any, "Context"], Any]


class Context:
    """What Lambda passes as the second argument."""

    identity = None
    client_context = None

    def __init__(self, request: dict[str, Any]) -> None:
        self.aws_request_id: str = request["request_id"]
        self.invoked_function_arn: str = request["arn"]
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self._deadline_ms: int = request["deadline_ms"]

    def get_remaining_time_in_millis(self) -> int:
        return max(0, self._deadline_ms - time.time_ns() // 1_000_000)


def main(parent: int, channel: int, handler_name: str) -> None:
    _leash()["hold"](parent)
    os.set_inheritable(channel, False)
    _write_lines()
    with socket.socket(fileno=channel) as sock:
        serve(sock, lambda: find(handler_name))


def serve(sock: socket.socket, find_handler: Callable[[], Handler]) -> None:
    """Say that the handler is there, or why not, then answer invocations until nobody asks any more."""
    with sock.makefile("rwb") as pipe:
        try:
            handler = find_handler()
        except BaseException as error:
            _answer(pipe, {"init_error": _report(error, _init_error_type(error))})
            raise SystemExit(1) from None
        _answer(pipe, {"ready": True})
        for line in pipe:
            _answer(pipe, invoke(handler, json.loads(line)))


def main_of_many(parent: int, channel: int, handler_name: str) -> None:
    """Import everything, then become an environment for each socket that is handed in. Has no thread, so forking is safe."""
    leash = _leash()
    leash["end_with_parent"](parent)
    _write_lines()
    handler, failure = None, None
    try:
        handler = find(handler_name)
        _warm_up_the_sdk()
    except BaseException as error:
        failure = error
    gc.freeze()  # what is there stays shared: the collector of a child does not touch it
    with socket.socket(fileno=channel) as control:
        while True:
            said, descriptors, _, _ = socket.recv_fds(control, 64, 1)
            if not said:
                os._exit(0)  # the stack is gone, and takes the children along
            if not descriptors:
                control.send(_exit_code(int(said)).encode())
                continue
            pid = os.fork()
            if pid == 0:
                control.close()
                _become_environment(leash, descriptors[0], handler, failure)
            os.setpgid(pid, pid)
            os.close(descriptors[0])
            control.send(str(pid).encode())


def _become_environment(leash: dict[str, Any], channel: int, handler: Handler | None, failure: BaseException | None) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        leash["end_with_parent"](os.getppid())
        os.environ["AWS_LAMBDA_LOG_STREAM_NAME"] = uuid4().hex

        def found() -> Handler:
            if failure or handler is None:
                raise failure or RuntimeError("no handler")
            return handler

        with socket.socket(fileno=channel) as sock:
            serve(sock, found)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException as error:
        traceback.print_exception(error)
    finally:
        os._exit(code)


def _exit_code(pid: int) -> str:
    """How a child ended, as `subprocess` counts, or that it lives."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return str(os.waitstatus_to_exitcode(status)) if ended else "lives"


def _warm_up_the_sdk() -> None:
    """The SDK reads its descriptions of a service when that is first needed, which would be in each child anew."""
    try:
        sdk = importlib.import_module("boto3")
    except ImportError:
        return
    for service in ("secretsmanager", "sqs"):
        sdk.client(service).close()


def _leash() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).with_name("leash.py")))


def _write_lines() -> None:
    """Prints of a function belong in the log at once, as they do in CloudWatch."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)


def find(name: str) -> Handler:
    """The handler that the template names as `module.function`."""
    module_name, _, function_name = name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module_name.replace("/", ".")), function_name)
    return handler


def invoke(handler: Handler, request: dict[str, Any]) -> dict[str, Any]:
    """Run the handler; whatever it raises becomes an answer, except what ends the process."""
    os.environ["_X_AMZN_TRACE_ID"] = request["trace_id"]
    try:
        result = handler(request["event"], Context(request))
    except Exception as error:
        return {"error": _report(error, type(error).__name__)}
    try:
        encoded = json.dumps(result)
    except (TypeError, ValueError) as error:
        return {"error": _report(error, "Runtime.MarshalError")}
    if len(encoded) > MAX_RESPONSE_BYTES:
        message = f"Response payload size exceeded maximum allowed payload size ({MAX_RESPONSE_BYTES} bytes)."
        return {"error": {"errorType": "Function.ResponseSizeTooLarge", "errorMessage": message}}
    return {"result": result}


def _report(error: BaseException, error_type: str) -> dict[str, Any]:
    """The error as Lambda returns it; the trace also goes to the log, as Lambda's runtime puts it there."""
    print(f"[ERROR] {error_type}: {error}", file=sys.stderr)
    traceback.print_exception(error)
    trace = traceback.format_tb(error.__traceback__)
    return {"errorType": error_type, "errorMessage": str(error), "stackTrace": trace}


def _init_error_type(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return "Runtime.ImportModuleError"
    return "Runtime.HandlerNotFound" if isinstance(error, AttributeError) else type(error).__name__


def _answer(pipe: Any, message: dict[str, Any]) -> None:
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.flush()


if __name__ == "__main__":
    (main_of_many if sys.argv[4:] == ["many"] else main)(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
