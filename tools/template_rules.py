"""The template's Rules, as CloudFormation applies them before it makes or changes anything; here before anything is built."""

from collections.abc import Mapping
from typing import Any


def refusals(template: dict[str, Any], region: str, parameters: Mapping[str, str]) -> list[str]:
    """What CloudFormation says of a new stack with these parameters; nothing where it goes on."""
    defaults = {name: str(each["Default"]) for name, each in template["Parameters"].items() if "Default" in each}
    values = {**defaults, **parameters, "AWS::Region": region}
    return [
        assertion["AssertDescription"]
        for rule in template["Rules"].values()
        if "RuleCondition" not in rule or _holds(rule["RuleCondition"], values)
        for assertion in rule["Assertions"]
        if not _holds(assertion["Assert"], values)
    ]


def _holds(test: dict[str, Any], values: Mapping[str, str]) -> bool:
    ((function, argument),) = test.items()
    match function:
        case "Fn::Equals":
            return _value(argument[0], values) == _value(argument[1], values)
        case "Fn::Contains":
            return _value(argument[1], values) in [_value(each, values) for each in argument[0]]
        case "Fn::Not":
            return not _holds(argument[0], values)
        case "Fn::And":
            return all(_holds(each, values) for each in argument)
        case "Fn::Or":
            return any(_holds(each, values) for each in argument)
        case _:
            raise ValueError(f"a rule with {function}: CloudFormation may know it, this reader does not")


def _value(node: Any, values: Mapping[str, str]) -> str:
    return values[node["Ref"]] if isinstance(node, dict) else str(node)
