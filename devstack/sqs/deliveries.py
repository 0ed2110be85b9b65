"""Lets moto's SNS topics and EventBridge rules deliver into our queues: they hand messages to its SQS in-process."""

import base64
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from moto.sqs import exceptions, models

from devstack.sqs.drafts import Draft
from devstack.sqs.errors import SqsError
from devstack.sqs.queues import Queues


def receive_from_moto(queues: Queues, admitted: Callable[[str], str | None] = lambda name: name) -> None:
    """Put our queues in place of moto's. Its own stay empty: nothing but topics and rules reaches them.

    `admitted` says to which queue a message goes that is meant for another, if to any.
    """

    def get_queue(_: models.SQSBackend, queue_name: str) -> SimpleNamespace:
        _find(queues, queue_name)
        return SimpleNamespace(fifo_queue=False)  # all that a subscription asks for

    def send_message(
        _: models.SQSBackend, queue_name: str, message_body: str, message_attributes: Any = None, group_id: Any = None, **__: Any
    ) -> None:
        _find(queues, queue_name)
        attributes = {name: _on_the_wire(value) for name, value in (message_attributes or {}).items()}
        entry = {"MessageBody": message_body, "MessageAttributes": attributes}
        try:
            draft = Draft.of(entry | ({"MessageGroupId": group_id} if group_id else {}))
        except SqsError as error:
            raise exceptions.InvalidParameterValue(error.message) from error
        if admitting := admitted(queue_name):
            queues.send(admitting, [draft])

    models.SQSBackend.get_queue = get_queue  # type: ignore[assignment,method-assign]
    models.SQSBackend.send_message = send_message  # type: ignore[assignment,method-assign]


def _find(queues: Queues, name: str) -> None:
    try:
        queues.find(name)
    except SqsError as error:
        raise exceptions.QueueDoesNotExist from error


def _on_the_wire(value: dict[str, Any]) -> dict[str, Any]:
    return {key: base64.b64encode(part).decode() if isinstance(part, bytes) else part for key, part in value.items()}
