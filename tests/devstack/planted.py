"""Copies of template.yaml with a fault planted in them, and what the local stack makes of them."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from devstack import intrinsics, template
from devstack.declared import Declared
from devstack.local_parameters import local_parameters

ROOT = Path(__file__).parents[2]
FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:handler"
PARAMETERS = local_parameters(database_port=5432, public_url="http://127.0.0.1:8080", post_office_url="") | {
    "TriggerFunctionArns": FUNCTION_ARN
}
Document = dict[str, Any]
Known = dict[tuple[str, str], str]


def planted(folder: Path, fault: Callable[[Document], None]) -> Path:
    """The path of a template beside the real code, which differs by this fault."""
    document = copy.deepcopy(intrinsics.load(ROOT / "template.yaml"))
    fault(document["Resources"])
    for name in ("functions", "layers", "migrations", "network.yaml"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    path = folder / "template.yaml"
    path.write_text(json.dumps(document))
    return path


def read(path: Path, known: Known | None = None, endpoint: str = "http://aws") -> Declared:
    return template.read(path, PARAMETERS, known or {}, endpoint=endpoint)


def without(function: str, action: str) -> Callable[[Document], None]:
    """The function's role no longer allows this."""

    def take_away(resources: Document) -> None:
        properties = resources[function]["Properties"]
        role = properties["Role"]["Fn::GetAtt"][0] if "Role" in properties else None
        held = resources[role]["Properties"]["Policies"] if role else properties["Policies"]
        before = json.dumps(held)
        held[:] = _without(held, action)
        assert json.dumps(held) != before, f"{function} never had {action}"

    return take_away


def without_policy(function: str, policy: str) -> Callable[[Document], None]:
    def take_away(resources: Document) -> None:
        resources[function]["Properties"]["Policies"].remove({"Ref": policy})

    return take_away


def without_statement(resource: str, sid: str) -> Callable[[Document], None]:
    def take_away(resources: Document) -> None:
        properties = resources[resource]["Properties"]
        document = properties.get("PolicyDocument") or properties["KeyPolicy"]
        before = len(document["Statement"])
        document["Statement"] = [each for each in document["Statement"] if each.get("Sid") != sid]
        assert len(document["Statement"]) == before - 1

    return take_away


def changed(resource: str, **properties: Any) -> Callable[[Document], None]:
    def change(resources: Document) -> None:
        resources[resource]["Properties"].update(properties)

    return change


def _without(node: Any, action: str) -> Any:
    """The same, but every action list lacks this one; a statement that has nothing else becomes one about nothing."""
    if isinstance(node, list):
        return [_without(each, action) for each in node]
    if not isinstance(node, dict):
        return node
    if "Effect" in node:
        actions = node["Action"] if isinstance(node["Action"], list) else [node["Action"]]
        return {**node, "Action": [each for each in actions if each != action] or "nothing:AtAll"}
    return {name: _without(each, action) for name, each in node.items()}
