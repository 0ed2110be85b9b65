"""template.yaml as checks read it: translated, its nested stacks with it, parameters and conditions settled, all in one piece."""

import copy
import re
from functools import cache
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

from tools import gradual
from tools.template_rules import refusals

Template = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = {"EmailFrom": "notifications@example.com"}
CANARY = "Canary10Percent15Minutes"
STACK = "AWS::CloudFormation::Stack"
_NOTHING = object()
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9]+)\}")


class _Region:
    """All that the translator asks of a boto3 session."""

    region_name = "us-east-1"


@cache
def _parsed(name: str) -> Template:
    template: Template = yaml_parse((ROOT / name).read_text())
    return template


def sam_template() -> Template:
    """A copy of template.yaml as it is written."""
    return copy.deepcopy(_parsed("template.yaml"))


def translate(template: Template, **given: str) -> Template:
    """What SAM makes of a template in the cloud; it changes the one that it is given."""
    for resource in template["Resources"].values():
        # The translator wants code that is already uploaded.
        for place in {"CodeUri", "ContentUri"} & set(resource.get("Properties", {})):
            resource["Properties"][place] = "s3://uploads/code.zip"
    parameters = {**REQUIRED, "AWS::Region": _Region.region_name, **given}
    translated: Template = Translator({}, Parser(), boto_session=_Region()).translate(template, parameters)
    return translated


@cache
def _translated(**given: str) -> Template:
    return translate(sam_template(), **given)


def translated(**parameters: str) -> Template:
    """A copy of what SAM makes of template.yaml in the cloud; a few parameters it fills in itself."""
    return copy.deepcopy(_translated(**parameters))


@cache
def shifted(release: str) -> Template:
    """What SAM makes of it where `make deploy SHIFT=…` moves the traffic. Everybody reads the same one: nobody may change it."""
    return translate(gradual.gradual(sam_template(), CANARY, release))


@cache
def whole(**parameters: str) -> Template:
    """The same, and beside the properties of each nested stack the template that it is made of, as it is written.

    Everybody reads the same one: nobody may change it."""
    template = translated(**parameters)
    for resource in template["Resources"].values():
        if resource["Type"] == STACK:
            resource["Template"] = copy.deepcopy(_parsed(resource["Properties"]["TemplateURL"]))
    return template


@cache
def standing(**parameters: str) -> Template:
    """The whole template once these parameters are given. Everybody reads the same one: nobody may change it."""
    return settled(whole(), **parameters)


def every_resource(template: Template) -> list[dict[str, Any]]:
    """The resources of a whole template and of its nested stacks, under whatever condition."""
    here = list(template["Resources"].values())
    return here + [each for stack in here if "Template" in stack for each in every_resource(stack["Template"])]


def settled(template: Template, **parameters: str) -> Template:
    """The whole template once these parameters are given: conditions decided, parameters filled in, other references kept.

    The resources of nested stacks stand among the others, and what was an output of theirs is the resource itself. Under "Stacks"
    is what the two templates tell each other: what is asked for, given, offered and taken. Under "Values" is what each parameter
    is.
    """
    values = {name: _parameter(name, declared, parameters) for name, declared in template["Parameters"].items()}
    return _joined(_settled(template, values))


def _settled(template: Template, values: dict[str, Any]) -> Template:
    settling = _Settling(template, values)
    alive = {
        name: settling.settle({key: part for key, part in resource.items() if key not in {"Condition", "Template"}})
        for name, resource in template["Resources"].items()
        if "Condition" not in resource or settling.holds(resource["Condition"])
    }
    stacks = {
        name: {"Given": alive[name]["Properties"].get("Parameters", {}), "Template": template["Resources"][name].get("Template")}
        for name in alive
        if alive[name]["Type"] == STACK
    }
    outputs = settling.settle(template.get("Outputs", {}))
    return {**template, "Values": values, "Resources": alive, "Outputs": outputs, "Stacks": stacks}


def _joined(outer: Template) -> Template:
    for name, stack in outer["Stacks"].items():
        inner = _joined(_settled(stack["Template"], stack["Given"]))
        offered = {f"Outputs.{output}": each["Value"] for output, each in inner["Outputs"].items()}
        taken: set[str] = set()
        del outer["Resources"][name]
        outer["Resources"] = _with_outputs(outer["Resources"], name, offered, taken)
        outer["Outputs"] = _with_outputs(outer["Outputs"], name, offered, taken)
        if double := set(outer["Resources"]) & set(inner["Resources"]):
            raise ValueError(f"{sorted(double)} stand in template.yaml and in {name}: one name each, else checks mistake them")
        outer["Resources"] |= inner["Resources"]
        stack |= {"Template": inner, "Taken": {each.removeprefix("Outputs.") for each in taken}}
    return outer


def _with_outputs(node: Any, stack: str, offered: dict[str, Any], taken: set[str]) -> Any:
    """The node with what the stack offers in place of the references to its outputs; notes which ones were there."""
    if isinstance(node, list):
        return [_with_outputs(part, stack, offered, taken) for part in node]
    if not isinstance(node, dict):
        return node
    if named(node) == stack and "Fn::GetAtt" in node:
        target = node["Fn::GetAtt"]
        output = (target if isinstance(target, str) else ".".join(target)).partition(".")[2]
        taken.add(output)
        return offered.get(output, node)
    return {key: _with_outputs(part, stack, offered, taken) for key, part in node.items()}


def refused(template: Template, **parameters: str) -> list[str]:
    """What the rules of the template say against these parameters, before anything is made."""
    return refusals(template, parameters.get("AWS::Region", _Region.region_name), {**REQUIRED, **parameters})


def of_type(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """The properties of every resource of this type, by logical id."""
    return {name: one.get("Properties", {}) for name, one in template["Resources"].items() if one["Type"] == kind}


def templates(template: Template) -> dict[str, Template]:
    """A settled template and those of its nested stacks, each with what to call its parts by."""
    nested = {f"{name}.": stack["Template"] for name, stack in template["Stacks"].items()}
    return {"": template, **nested}


def named(value: Any) -> str | None:
    """The logical id that a reference names."""
    if isinstance(value, dict) and "Ref" in value:
        return str(value["Ref"])
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        target = value["Fn::GetAtt"]
        return str(target if isinstance(target, str) else target[0]).split(".")[0]
    return None


def referred_to(node: Any) -> set[str]:
    """Every logical id and parameter that is named anywhere in it; AWS's own (`AWS::Region`) are left out."""
    if isinstance(node, list):
        return {name for part in node for name in referred_to(part)}
    if not isinstance(node, dict):
        return set()
    inside = {name for part in node.values() for name in referred_to(part)}
    text, given = node["Fn::Sub"] if isinstance(node.get("Fn::Sub"), list) else (node.get("Fn::Sub", ""), {})
    placeholders = set(re.findall(r"\$\{(\w+)(?:\.\w+)*\}", str(text))) - set(given)
    reference = named(node)
    return inside | placeholders | ({reference} if reference and "::" not in reference else set())


def listed(value: Any) -> list[Any]:
    """Policies and others write one thing either alone or in a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _parameter(name: str, declared: dict[str, Any], given: dict[str, str]) -> Any:
    value = given.get(name, REQUIRED.get(name, declared.get("Default")))
    if declared["Type"] == "Number":
        return int(str(value))
    return str(value).split(",") if declared["Type"] == "CommaDelimitedList" else value


class _Settling:
    """Walks a template and replaces whatever its parameters decide."""

    def __init__(self, template: Template, values: dict[str, Any]) -> None:
        self._conditions = template.get("Conditions", {})
        self._mappings = template.get("Mappings", {})
        self._values = values

    def holds(self, condition: str) -> bool:
        return bool(self.decided(self._conditions[condition]))

    def settle(self, node: Any) -> Any:
        if isinstance(node, list):
            return [part for part in map(self.settle, node) if part is not _NOTHING]
        if not isinstance(node, dict):
            return node
        if "Fn::If" in node:
            condition, when_true, when_false = node["Fn::If"]
            return self.settle(when_true if self.holds(condition) else when_false)
        if "Fn::FindInMap" in node:
            table, first, second = self.settle(node["Fn::FindInMap"])
            return self._mappings[table][first][second]
        if "Fn::Join" in node:
            separator, parts = self.settle(node["Fn::Join"])
            known = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
            return separator.join(parts) if known else {"Fn::Join": [separator, parts]}
        if isinstance(node.get("Fn::Sub"), str):
            return {"Fn::Sub": _PLACEHOLDER.sub(self._filled_in, node["Fn::Sub"])}
        if "Ref" in node:
            return _NOTHING if node["Ref"] == "AWS::NoValue" else self._values.get(node["Ref"], node)
        pairs = {key: self.settle(part) for key, part in node.items()}
        return {key: part for key, part in pairs.items() if part is not _NOTHING}

    def _filled_in(self, placeholder: re.Match[str]) -> str:
        match self._values.get(placeholder[1]):
            case str() | int() as value:
                return str(value)
            case {"Fn::GetAtt": [name, attribute]}:  # what a stack is given by the one around it
                return f"${{{name}.{attribute}}}"
            case _:
                return placeholder[0]

    def decided(self, test: dict[str, Any]) -> bool:
        ((function, argument),) = test.items()
        match function:
            case "Condition":
                return self.holds(argument)
            case "Fn::Equals":
                one, other = map(self.settle, argument)
                return bool(str(one) == str(other))  # as CloudFormation compares a number with a text
            case "Fn::Not":
                return not self.decided(argument[0])
            case "Fn::And":
                return all(map(self.decided, argument))
            case _:
                raise ValueError(f"a condition with {function}: teach it to this reader")
