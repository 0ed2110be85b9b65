"""What the code calls of AWS is read from it whole, so that the checks of grants and of the network know what is needed."""

import ast

import botocore.session
import pytest
from botocore import xform_name

from tests.template.aws_calls import Call, called_by, calls_among, not_followed
from tests.template.checks_of_grants import ARCHIVED, NEEDS, NEVER_CALLED
from tests.template.checks_of_timing import BRIEF
from tests.template.doors import folders
from tests.unit.reach import reached_from
from tests.unit.source import Module, modules
from tocsin.foundation import aws
from tocsin.upkeep import ask_aws

ALL = {call for folder in folders().values() for call in called_by(folder)}
PLANTED = "functions/planted/app.py"
FROM = "from tocsin.foundation import aws\n"


def test_every_use_of_a_client_is_followed() -> None:
    others = [module for module in modules() if module.name != "tocsin.foundation.aws"]

    assert [finding for module in others for finding in not_followed(module)] == []


def test_what_is_called_is_found() -> None:
    assert Call("sesv2", "send_email") in called_by("functions/dispatch")
    assert Call("sns", "create_platform_endpoint") in called_by("functions/dispatch")
    assert Call("sqs", "send_message_batch") in called_by("functions/sweep")
    assert {call.service for call in called_by("functions/live")} == {"secretsmanager", "sqs"}


@pytest.mark.parametrize(
    "source",
    [
        "def handler(event, context):\n    aws.client('sqs').purge_queue(QueueUrl='x')",
        "def handler(event, context):\n    queues = aws.client('sqs')\n    queues.purge_queue(QueueUrl='x')",
        "def handler(event, context):\n    c = aws.client('sqs', (1, 2)) if event else aws.client('sqs')\n    c.purge_queue()",
        "class Purge:\n    def go(self):\n        self.client.purge_queue()\nhandler = Purge(aws.client('sqs')).go",
        "class Purge:\n    def go(self):\n        self.client.purge_queue()\ndef f():\n    q = aws.client('sqs')\n    Purge(q)",
    ],
)
def test_a_planted_call_is_found(source: str) -> None:
    planted = Module(PLANTED, ast.parse(FROM + source))

    assert Call("sqs", "purge_queue") in calls_among(reached_from(PLANTED, [*modules(), planted]))
    assert not_followed(planted) == []


@pytest.mark.parametrize(
    "source",
    [
        "queues = [aws.client('sqs')]",
        "def queues():\n    return aws.client('sqs')",
        "purge = aws.client('sqs').purge_queue",
        "purge(aws.client('sqs'))",
    ],
)
def test_a_use_that_would_be_lost_sight_of_is_found(source: str) -> None:
    assert not_followed(Module(PLANTED, ast.parse(FROM + source)))


def test_what_a_call_takes_is_said_of_every_call_and_of_no_other() -> None:
    assert set(NEEDS) == ALL


def test_every_service_that_is_called_has_its_time_limits() -> None:
    """Making a client of a service without them fails, at the first call."""
    assert {call.service for call in ALL} == aws._LIMITS.keys()


@pytest.mark.parametrize("service", sorted({call.service for call in ALL}))
def test_every_call_is_one_that_the_service_has(service: str) -> None:
    known = {xform_name(each) for each in botocore.session.get_session().get_service_model(service).operation_names}

    assert {call.operation for call in ALL if call.service == service} <= known


def test_what_is_said_never_to_be_called_is_reached_by_the_code() -> None:
    """Else the exception would hide a fault of tomorrow."""
    assert [(name, call) for name, call in NEVER_CALLED if call not in called_by(folders()[name])] == []


def test_what_is_said_to_be_brief_is_called_there_and_would_else_take_long() -> None:
    """Else the exception would hide a fault of tomorrow."""
    assert [(name, call) for name, call in BRIEF if call not in called_by(folders()[name])] == []
    assert all(sum(aws._LIMITS[call.service]) > seconds > sum(ask_aws.LIMITS) for (_, call), seconds in BRIEF.items())


def test_archived_objects_have_the_keys_that_may_be_written() -> None:
    archive = next(module for module in modules() if module.name == "tocsin.upkeep.archive")
    keys = [
        node.value for node in ast.walk(archive.tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "key"
    ]

    begun = [
        str(key.values[0].value) for key in keys if isinstance(key, ast.JoinedStr) and isinstance(key.values[0], ast.Constant)
    ]
    assert begun == [ARCHIVED.removesuffix("*")]
