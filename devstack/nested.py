"""Nested stacks: what their outputs mean here. Nothing inside one is brought to life."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devstack import intrinsics
from devstack.intrinsics import STACK_TYPE, Evaluator, TemplateError, text

_ONLY_IN_AWS = "AWS::EC2::"


def outputs(folder: Path, resources: Mapping[str, dict[str, Any]], evaluator: Evaluator) -> dict[tuple[str, str], str]:
    """The identities of the outputs of every nested stack that the conditions let exist, by the stack's logical id."""
    found: dict[tuple[str, str], str] = {}
    for name, stack in resources.items():
        if stack["Type"] == STACK_TYPE and ("Condition" not in stack or evaluator.condition(stack["Condition"])):
            found |= {(name, f"Outputs.{output}"): value for output, value in _outputs(folder, stack, evaluator).items()}
    return found


def _outputs(folder: Path, stack: dict[str, Any], evaluator: Evaluator) -> dict[str, str]:
    properties = evaluator.value(stack["Properties"])
    path = folder / properties["TemplateURL"]
    if not path.is_file():
        raise TemplateError(f"a nested stack has its template in {properties['TemplateURL']}, which is not a file")
    document = intrinsics.load(path)
    alive = [each for each, resource in document["Resources"].items() if not resource["Type"].startswith(_ONLY_IN_AWS)]
    if alive:
        raise TemplateError(f"{path.name} declares {', '.join(alive)}: the local stack brings only template.yaml itself to life")
    given = {parameter: text(value) for parameter, value in properties.get("Parameters", {}).items()}
    if unknown := set(given) - set(document.get("Parameters", {})):
        raise TemplateError(f"{path.name} has no parameter {', '.join(sorted(unknown))}")
    inside = Evaluator(document, given, {})
    return {output: text(inside.value(each["Value"])) for output, each in document.get("Outputs", {}).items()}
