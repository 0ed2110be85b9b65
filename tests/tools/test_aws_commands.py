"""Every `aws` command on our pages is one that AWS has: its service, its operation, and each of its options."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from tests.tools.checkout import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OF_EVERY_COMMAND = {"query", "output", "region", "profile", "cli-binary-format", "max-items"}
NOT_OF_THE_API = {"sso", "configure"}  # the command line's own
OUR_OWN = re.compile(r"\$\((?:output|resources) [\w:]+\)")  # shell functions that the pages define
TYPED = re.compile(r"(?<![\w/.-])aws ([a-z0-9]+) ([a-z0-9-]+)([^`\n;&|)]*)")


def commands(text: str) -> list[tuple[str, str, list[str]]]:
    """Service, operation and options of each command; a line may go on after a backslash."""
    found = TYPED.findall(OUR_OWN.sub("…", text.replace("\\\n", " ")))
    return [
        (service, operation, re.findall(r"(?<=--)[a-z][a-z-]*", rest))
        for service, operation, rest in found
        if service not in NOT_OF_THE_API
    ]


def unknown(service: str, operation: str, options: list[str]) -> list[str]:
    """What of a command AWS does not have."""
    if service not in _session().get_available_services():
        return [service]
    if operation == "wait":
        return []
    model = _operations(service).get(operation)
    if model is None:
        return [f"{service} {operation}"]
    members = {xform_name(name, "-") for name in (model.input_shape.members if model.input_shape else ())}
    known = members | {f"no-{name}" for name in members} | OF_EVERY_COMMAND
    return [f"{service} {operation} --{option}" for option in options if option not in known]


@cache
def _session() -> Any:
    return botocore.session.get_session()


@cache
def _operations(service: str) -> dict[str, Any]:
    model = _session().get_service_model(service)
    return {xform_name(name, "-"): model.operation_model(name) for name in model.operation_names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_aws_command_of_a_page_exists_with_its_options(page: Path) -> None:
    found = [problem for command in commands(page.read_text()) for problem in unknown(*command)]

    assert found == []


def test_the_commands_of_a_restore_are_found_with_their_options() -> None:
    found = {
        f"{service} {operation}": options for service, operation, options in commands((ROOT / "docs/restoring.md").read_text())
    }

    assert {"source-db-instance-identifier", "manage-master-user-password"} <= set(
        found["rds restore-db-instance-to-point-in-time"]
    )
    assert found["cloudformation create-change-set"][-1] == "resources-to-import"
    assert len(found) > 12


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("aws rdz describe-db-instances", ["rdz"]),
        ("aws rds restore-instance --x", ["rds restore-instance"]),
        ("aws rds create-db-snapshot \\\n  --snapshot-name x", ["rds create-db-snapshot --snapshot-name"]),
        ("aws lambda update-event-source-mapping --no-enabled --uuid 1", []),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(typed: str, said: list[str]) -> None:
    (command,) = commands(typed)

    assert unknown(*command) == said
