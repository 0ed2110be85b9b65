"""A pool whose one environment is the container that `sam local start-lambda` keeps for the function."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from devstack.declared import Function
from devstack.environment import Outcome
from devstack.intrinsics import REGION
from devstack.runtime import STOPPED, THROTTLED, Pool
from devstack.sam_local.servers import SamServers

START_SECONDS = 120.0  # of a first container, whose image is built before


class SamPool(Pool):
    """One invocation at a time: a second one would wait in sam, where its time is already running."""

    limit = 1

    def __init__(self, function: Function, variables: Mapping[str, str], log: Path, *, sam: SamServers) -> None:
        self.function = function
        self.variables = {**variables, **function.variables}
        self._sam = sam
        self._free = threading.Semaphore(self.limit)
        self._is_closed = False
        patience = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=function.timeout + START_SECONDS)
        self._client = boto3.client(
            "lambda",
            endpoint_url=sam.lambda_url,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=patience,
        )

    def invoke(self, event: Any, *, patience: float | None = None) -> Outcome:
        """Run the function by Lambda's own API; like Lambda, it never raises."""
        if not self._free.acquire(timeout=patience):
            return Outcome(error=THROTTLED)
        try:
            return Outcome(error=STOPPED) if self._is_closed else self._ask(event)
        finally:
            self._free.release()

    def reap(self) -> None:
        """Containers stay as long as sam does."""

    def close(self) -> None:
        """End what runs: its invocation comes back as an error."""
        self._is_closed = True
        self._sam.stop()

    def _ask(self, event: Any) -> Outcome:
        try:
            answer = self._client.invoke(FunctionName=self.function.name, Payload=json.dumps(event))
            said = answer["Payload"].read()
        except (BotoCoreError, ClientError) as error:
            if self._sam.is_stopping:
                return Outcome(error=STOPPED)
            return Outcome(error={"errorType": "ServiceException", "errorMessage": str(error)})
        return outcome(said, is_error="FunctionError" in answer)


def outcome(said: bytes, *, is_error: bool) -> Outcome:
    """What came of it. The emulator says in plain text that a function took too long, and nothing at all of one that crashed."""
    if not said:
        return Outcome(error={"errorType": "Runtime.ExitError", "errorMessage": "The runtime exited without an answer."})
    try:
        result = json.loads(said)
    except ValueError:
        return Outcome(error={"errorType": "Sandbox.Timedout", "errorMessage": said.decode(errors="replace")})
    if is_error or (isinstance(result, dict) and "errorType" in result and "errorMessage" in result):
        return Outcome(error={"errorType": "Unhandled", "errorMessage": "", **(result if isinstance(result, dict) else {})})
    return Outcome(result)
