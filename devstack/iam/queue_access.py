"""The queues' side of the guard: the call is read already, so it is judged where it is about to be done."""

from typing import Any

from devstack.iam import asks
from devstack.iam.guard import Judge, Refused
from devstack.sqs.errors import SqsError


class QueueAccess:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def check(self, environ: dict[str, Any], operation: str, asked: dict[str, Any]) -> None:
        try:
            if caller := self._judge.caller(environ.get("HTTP_AUTHORIZATION", "")):
                queue = asked.get("QueueUrl", "").rpartition("/")[2] or asked.get("QueueName", "")
                self._judge.check(caller, asks.of_sqs(operation, queue))
        except Refused as refused:
            action = f"sqs:{operation.removesuffix('Batch')}"  # SQS writes it in small letters
            raise SqsError("AccessDeniedException", str(refused).replace(action, action.lower())) from refused
