"""Inside a Lambda execution environment: imports the handler once, then answers one invocation after the other.

It runs as a file, not as a module of this package, so that a function sees nothing of the repository but its own
folder and its layers.
"""

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
    runpy.run_path(str(Path(__file__).with_name("leash.py")))["hold"](parent)
    os.set_inheritable(channel, False)
    # Prints of a function belong in the log at once, as they do in CloudWatch.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    with socket.socket(fileno=channel) as sock, sock.makefile("rwb") as pipe:
        try:
            handler = find(handler_name)
        except BaseException as error:
            _answer(pipe, {"init_error": _report(error, _init_error_type(error))})
            raise SystemExit(1) from None
        _answer(pipe, {"ready": True})
        for line in pipe:
            _answer(pipe, invoke(handler, json.loads(line)))


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
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
