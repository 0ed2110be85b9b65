"""The functions of the template and the folders of their code."""

from functools import cache
from typing import Any

from tests.template import reading
from tocsin.foundation.settings import QUEUES


@cache
def folders() -> dict[str, str]:
    """By the function's logical id, the folder of its door: `functions/<door>`."""
    return {name: each["CodeUri"].removeprefix("./").rstrip("/") for name, each in _functions().items()}


@cache
def served() -> dict[str, frozenset[str]]:
    """By folder, the classes of work that its event sources bring; doors that serve none are left out."""
    found = {
        folders()[name]: frozenset(queue for event in each.get("Events", {}).values() if (queue := _work_queue(event)))
        for name, each in _functions().items()
    }
    return {folder: queues for folder, queues in found.items() if queues}


def _functions() -> dict[str, dict[str, Any]]:
    return reading.of_type(reading.sam_template(), "AWS::Serverless::Function")


def _work_queue(event: dict[str, Any]) -> str | None:
    """The class of work that an event source of a function brings."""
    found = str(event["Properties"]["Queue"]["Fn::GetAtt"]).lower() if event["Type"] == "SQS" else ""
    return next((queue for queue in QUEUES if f"'{queue}queue" in found), None)
