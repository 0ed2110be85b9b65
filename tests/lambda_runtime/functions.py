"""Functions of the running stack, once more: an environment of our own with the variables that the stack's has, or others."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from devstack import intrinsics
from devstack.declared import Function, Layer
from devstack.emulator import EmulatedEnvironment, Runtime
from devstack.launch import ROOT, RunningStack
from tests.e2e.client import wait_for

# What Lambda sets, as its documentation lists it ("Defined runtime environment variables"); the last line is of the emulation.
OF_LAMBDA = {
    *("_HANDLER", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("AWS_SESSION_TOKEN", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION"),
    *("AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_LOG_FORMAT"),
    *("AWS_LAMBDA_LOG_LEVEL", "AWS_LAMBDA_METADATA_API", "AWS_LAMBDA_METADATA_TOKEN", "AWS_LAMBDA_RUNTIME_API"),
    *("LAMBDA_TASK_ROOT", "TZ", "LANG", "PATH", "PYTHONPATH"),
    *("AWS_LAMBDA_FUNCTION_TIMEOUT", "AWS_EC2_METADATA_DISABLED", "HOME"),
}
OF_THE_LOCAL_AWS = "AWS_ENDPOINT_URL"
TEMPLATE = intrinsics.load(ROOT / "template.yaml")
FUNCTIONS = [name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::Serverless::Function"]


def declared(function: str) -> set[str]:
    """The variables that the template gives this function."""
    own = TEMPLATE["Resources"][function]["Properties"].get("Environment", {}).get("Variables", {})
    return set(own) | set(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"])


def undeclared(function: str, environ: Collection[str]) -> set[str]:
    """What is in its environment by no right: neither the template nor Lambda puts it there, nor is it where the local AWS is."""
    return {name for name in set(environ) - declared(function) - OF_LAMBDA if not name.startswith(OF_THE_LOCAL_AWS)}


def missing_settings(log: str) -> set[str]:
    """The variables that were read and are not there, as the code says it (foundation/settings.py)."""
    return set(re.findall(r"(\w+) is not set in the environment of", log))


def did_not_start(log: str) -> bool:
    """Whether the runtime says that a handler could not be imported."""
    return "INIT RTDONE(status: error)" in log


def environments(stack: RunningStack) -> Iterator[tuple[str, dict[str, str]]]:
    """The variables of every function's process that runs now, by the function's name in the template."""
    for process in stack.processes():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            environ = process.environ()
            if "AWS_LAMBDA_RUNTIME_API" in environ:
                yield environ["AWS_LAMBDA_FUNCTION_NAME"].rpartition("-")[2], environ


def running(stack: RunningStack, name: str) -> dict[str, str]:
    """The variables of one of its processes, for which one may have to wait."""
    found: dict[str, str] = wait_for(lambda: dict(environments(stack)).get(name), bool)
    return found


def layer_of(stack: RunningStack, name: str) -> Path:
    """Its only layer with Python in it, as it is in Lambda's /opt."""
    (python,) = running(stack, name)["PYTHONPATH"].split(":")[1:]
    return Path(python).parent


def linked(source: Path, target: Path, *, but: Path) -> Path:
    """The same folder by links, without one of the files or folders in it."""
    first, *rest = but.parts
    target.mkdir(parents=True)
    for each in source.iterdir():
        if each.name != first:
            (target / each.name).symlink_to(each)
        elif rest:
            linked(each, target / first, but=Path(*rest))
    return target


@contextmanager
def another(
    stack: RunningStack, name: str, log: Path, *, without: str = "", layer: Path | None = None, **variables: str
) -> Iterator[EmulatedEnvironment]:
    """One more environment of a function, with its variables but for those that are named."""
    environ = running(stack, name)
    kept = {key: environ[key] for key in declared(name) & set(environ) - {without}}
    local = {key: value for key, value in environ.items() if key.startswith(OF_THE_LOCAL_AWS)}
    function = Function(
        name=name,
        arn=f"arn:aws:lambda:us-east-1:000000000000:function:{environ['AWS_LAMBDA_FUNCTION_NAME']}",
        folder=Path(environ["LAMBDA_TASK_ROOT"]),
        handler=environ["_HANDLER"],
        timeout=int(environ["AWS_LAMBDA_FUNCTION_TIMEOUT"]),
        memory=int(environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]),
        variables={},
        layers=(Layer("SharedLayer", layer or layer_of(stack, name), is_built=False),),
        reserved_concurrency=None,
        logs_json=environ.get("AWS_LAMBDA_LOG_FORMAT") == "JSON",
    )
    runtime = Runtime.find(ROOT / ".local" / "lambda" / ".venv" / "bin" / "python")
    made = EmulatedEnvironment(function, local | kept | variables, log, runtime)
    try:
        yield made
    finally:
        made.close()
