"""The conditions of policies: the operators and keys that are known here. Any other is refused, never taken for true. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from devstack.iam.patterns import matches, matches_arn
from devstack.intrinsics import TemplateError, text

# What a request says about itself: by key, in lower case; a key of many values holds a tuple.
Context = Mapping[str, str | tuple[str, ...]]

FOR_ALL = "ForAllValues:"
OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda wanted, found: wanted == found,
    "StringLike": matches,
    "ArnEquals": matches_arn,  # the same as ArnLike, in AWS too
    "ArnLike": matches_arn,
    "Bool": lambda wanted, found: wanted.lower() == found.lower(),
}
ONE_VALUE = {
    "aws:securetransport",
    "aws:sourceaccount",
    "aws:sourcearn",
    "aws:sourceowner",  # of the policy that SNS gives a topic; nobody's request has it
    "kms:viaservice",
    "ses:fromaddress",
}
MANY_VALUES = {"kms:encryptioncontextkeys"}
OF_ENCRYPTION = "kms:encryptioncontext:"  # and the name of the pair


@dataclass(frozen=True, slots=True)
class Condition:
    """One key of one operator: one of the values wanted must be found, or with `for_all` nothing else may be."""

    operator: str
    key: str
    wanted: tuple[str, ...]
    for_all: bool

    def holds(self, context: Context) -> bool:
        found = context.get(self.key)
        values = (found,) if isinstance(found, str) else found or ()
        if self.for_all:
            return all(self._is_wanted(each) for each in values)
        return any(self._is_wanted(each) for each in values)

    def __str__(self) -> str:
        return f"{self.key} must be {' or '.join(self.wanted)} ({FOR_ALL if self.for_all else ''}{self.operator})"

    def _is_wanted(self, value: str) -> bool:
        return any(OPERATORS[self.operator](each, value) for each in self.wanted)


def read(block: Mapping[str, Mapping[str, Any]]) -> tuple[Condition, ...]:
    """All of these must hold."""
    return tuple(_condition(name, key, values) for name, pairs in block.items() for key, values in pairs.items())


def _condition(name: str, key: str, values: Any) -> Condition:
    for_all, operator, its_key = name.startswith(FOR_ALL), name.removeprefix(FOR_ALL), key.lower()
    if operator not in OPERATORS:
        raise TemplateError(f"the local stack does not know the condition operator {name}")
    if its_key in MANY_VALUES and not for_all:
        raise TemplateError(f"{key} has many values, so {name} needs to say {FOR_ALL}")
    if its_key not in ONE_VALUE | MANY_VALUES and not its_key.startswith(OF_ENCRYPTION):
        raise TemplateError(f"the local stack does not know the condition key {key}")
    wanted = tuple(text(each) for each in (values if isinstance(values, list) else [values]))
    if any("${" in each for each in wanted):
        raise TemplateError(f"the local stack does not know policy variables, and {key} has one")
    return Condition(operator, its_key, wanted, for_all)
