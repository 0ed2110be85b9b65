"""Who leads to whom: what a reference names once aliases and versions are seen through."""

import re
from typing import Any

from tests.template.reading import Template, named

_NAMED = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.Arn)?\}")


def function_of(template: Template, value: Any) -> str | None:
    """The function that a reference leads to, by its ARN, its name, a version or an alias of it."""
    name = invoked(template, value)
    resource = template["Resources"].get(name, {})
    if resource.get("Type") in ("AWS::Lambda::Alias", "AWS::Lambda::Version"):
        return function_of(template, resource["Properties"]["FunctionName"])
    return name if resource.get("Type") == "AWS::Lambda::Function" else None


def invoked(template: Template, value: Any) -> str | None:
    """The function, version or alias itself that a reference names: who may invoke one of them may not yet invoke another."""
    if isinstance(value, dict) and isinstance(value.get("Fn::Sub"), str):
        return next((hole[1] for hole in _NAMED.finditer(value["Fn::Sub"]) if hole[1] in template["Resources"]), None)
    return named(value)
