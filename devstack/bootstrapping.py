"""How the code of a function is started: bootstrap.py with Lambda's variables, and a log."""

import os
import socket
import sys
from pathlib import Path
from uuid import uuid4

from devstack.children import Child
from devstack.declared import Function
from devstack.iam.callers import key_id
from devstack.intrinsics import REGION

OUR_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
MAX_LOG_BYTES = 20 * 1024 * 1024


def spawn(function: Function, variables: dict[str, str], log: Path, channel: socket.socket, *manner: str) -> Child:
    """A process that has the other end of this socket. Its manner is its own, or that of a process which is forked for `many`."""
    make_room(log)
    bootstrap = str(Path(__file__).with_name("bootstrap.py"))
    return Child(
        [sys.executable, "-P", bootstrap, str(os.getpid()), str(channel.fileno()), function.handler, *manner],
        log=log,
        cwd=function.folder,
        env=complete(variables, function),
        pass_fds=(channel.fileno(),),
    )


def make_room(log: Path) -> None:
    """A log that has grown too long is put aside."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def complete(variables: dict[str, str], function: Function, *, python: str = OUR_PYTHON) -> dict[str, str]:
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
        "AWS_ACCESS_KEY_ID": key_id(function.name),  # by which the local AWS knows whose role to look at
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_SESSION_TOKEN": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_LAMBDA_FUNCTION_NAME": function.arn.rpartition(":")[2],
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": uuid4().hex,
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{python}",
        "LAMBDA_TASK_ROOT": str(function.folder),
        "_HANDLER": function.handler,
    } | variables
