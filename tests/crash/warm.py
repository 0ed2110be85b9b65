"""What a forked child finds already imported: the five handlers and the SDK. Loaded once, in the fork server only."""

import gc
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="eu-central-1",
    POWERTOOLS_METRICS_NAMESPACE="Tocsin",
    POWERTOOLS_SERVICE_NAME="crash",
    POWERTOOLS_TRACE_DISABLED="1",
    POWERTOOLS_METRICS_DISABLED="true",
)

import boto3

from tests import links

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
FUNCTIONS = Path(__file__).parent.parent.parent / "functions"


def _load(function: str) -> Handler:
    spec = importlib.util.spec_from_file_location(f"functions.{function}", FUNCTIONS / function / "app.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler


HANDLERS = {function: _load(function) for function in ("intake", "intake_queue", "dispatch", "feedback", "sweep")}

links.know_the_secrets()

# The SDK reads its service models from disk once per session; the clients themselves are made in the child.
for _service in ("sqs", "sns", "sesv2"):
    boto3.client(_service).close()

# A child lives for a tenth of a second: looking for garbage would touch, and so copy, all that it shares with the others.
gc.freeze()
gc.disable()
