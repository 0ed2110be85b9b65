"""CloudFormation's own language: YAML with tags, parameters, conditions and intrinsic functions, evaluated here."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

REGION = "us-east-1"
ACCOUNT = "123456789012"
STACK = "tocsin-local"
STACK_TYPE = "AWS::CloudFormation::Stack"
NO_VALUE = object()
PSEUDO_PARAMETERS: dict[str, Any] = {
    "AWS::AccountId": ACCOUNT,
    "AWS::NoValue": NO_VALUE,
    "AWS::NotificationARNs": [],
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{STACK}/local",
    "AWS::StackName": STACK,
    "AWS::URLSuffix": "amazonaws.com",
}
# What a reference means here: (logical id, attribute) to a value; the attribute of a plain !Ref is "Ref".
Identities = Mapping[tuple[str, str], str]
_PLACEHOLDER = re.compile(r"\$\{(!?)([^}]+)\}")


class TemplateError(ValueError):
    """The template cannot be brought to life as it is; whoever edits template.yaml acts on it."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which `!Name value` means `{"Fn::Name": value}`, as CloudFormation reads it."""


def _tagged(loader: Any, tag: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if tag == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {tag if tag in {"Ref", "Condition"} else f"Fn::{tag}": value}


_Loader.add_multi_constructor("!", _tagged)


def load(path: Path) -> dict[str, Any]:
    """The template as plain data, with its tags in their long form; nobody may change it."""
    return _load(path, path.stat().st_mtime_ns)


@cache
def _load(path: Path, _changed_at: int) -> dict[str, Any]:
    try:
        written = path.read_text()
        # A template may be JSON too, which has a quicker reader of its own.
        document = json.loads(written) if written.startswith("{") else yaml.load(written, _Loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, json.JSONDecodeError) as error:
        raise TemplateError(f"{path.name} is not valid YAML or JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("Resources"), dict):
        raise TemplateError(f"{path.name} has no Resources")
    return document


class Evaluator:
    """Turns parts of a template into plain values, given parameters and what references to resources mean here."""

    def __init__(self, document: dict[str, Any], parameters: Mapping[str, str], identities: Identities) -> None:
        self._document = document
        self._given = parameters
        self._identities = identities
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self.condition,
            "Fn::GetAtt": self._get_att,
            "Fn::Sub": self._sub,
            "Fn::If": self._if,
            "Fn::Equals": lambda pair: self.value(pair[0]) == self.value(pair[1]),
            "Fn::Not": lambda one: not self.value(one[0]),
            "Fn::And": lambda all_of: all(self.value(each) for each in all_of),
            "Fn::Or": lambda any_of: any(self.value(each) for each in any_of),
            "Fn::Join": lambda pair: str(pair[0]).join(str(part) for part in self.value(pair[1])),
            "Fn::Split": lambda pair: str(self.value(pair[1])).split(pair[0]),
            "Fn::Select": lambda pair: self.value(pair[1])[int(self.value(pair[0]))],
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAZs": lambda _: [f"{REGION}{zone}" for zone in "abc"],
        }

    def value(self, node: Any) -> Any:
        """What this part of the template stands for."""
        if isinstance(node, dict):
            if len(node) == 1 and (name := next(iter(node))) in self._functions:
                return self._functions[name](node[name])
            if len(node) == 1 and str(name := next(iter(node))).startswith("Fn::"):
                raise TemplateError(f"the local stack does not know the function {name}")
            pairs = {key: self.value(each) for key, each in node.items()}
            return {key: each for key, each in pairs.items() if each is not NO_VALUE}
        if isinstance(node, list):
            return [each for each in map(self.value, node) if each is not NO_VALUE]
        return node

    def condition(self, name: str) -> bool:
        conditions = self._document.get("Conditions", {})
        if name not in conditions:
            raise TemplateError(f"there is no condition {name}")
        return bool(self.value(conditions[name]))

    def parameter(self, name: str) -> Any:
        declared = self._document["Parameters"][name]
        value = self._given.get(name, declared.get("Default"))
        if value is None:
            raise TemplateError(f"parameter {name} has no default: start with --parameter {name}=VALUE")
        if declared["Type"].startswith("List<") or declared["Type"] == "CommaDelimitedList":
            return [part.strip() for part in str(value).split(",")] if value != "" else []
        return text(value)

    def _ref(self, name: str) -> Any:
        if name in PSEUDO_PARAMETERS:
            return PSEUDO_PARAMETERS[name]
        if name in self._document.get("Parameters", {}):
            return self.parameter(name)
        return self._resource(name, "Ref", f"{STACK}-{name}")

    def _get_att(self, target: list[str]) -> str:
        name, attribute = target[0], str(self.value(target[1]))
        made_up = f"arn:aws:local:{REGION}:{ACCOUNT}:{name}" if attribute.endswith("Arn") else f"{name}.{attribute}"
        return self._resource(name, attribute, made_up)

    def _resource(self, name: str, attribute: str, made_up: str) -> str:
        if name not in self._document["Resources"]:
            raise TemplateError(f"a reference leads to {name}, which is neither a resource nor a parameter")
        if attribute.startswith("Outputs.") and (name, attribute) not in self._identities:
            raise TemplateError(f"a reference leads to {name}.{attribute}, which that stack does not give")
        # What exists only in AWS (a role, a subnet, an alarm) still gets a recognisable name.
        return self._identities.get((name, attribute), made_up)

    def _sub(self, argument: Any) -> str:
        pattern, own = argument if isinstance(argument, list) else (argument, {})

        def replace(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return f"${{{name}}}"
            if name in own:
                return text(self.value(own[name]))
            return text(self._get_att(name.split(".", 1)) if "." in name else self._ref(name))

        return _PLACEHOLDER.sub(replace, pattern)

    def _if(self, argument: list[Any]) -> Any:
        name, then, otherwise = argument
        return self.value(then if self.condition(name) else otherwise)

    def _find_in_map(self, argument: list[Any]) -> Any:
        table, first, second = (self.value(each) for each in argument[:3])
        return self.value(self._document["Mappings"][table][first][second])


def text(value: Any) -> str:
    """A value as CloudFormation writes it into a string."""
    return str(value).lower() if isinstance(value, bool) else str(value)
