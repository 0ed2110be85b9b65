"""Policy documents, read strictly, and what they decide: unless a statement allows it, no; and if one denies it, no. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from devstack.iam import conditions
from devstack.iam.conditions import Condition, Context
from devstack.iam.patterns import matches
from devstack.intrinsics import TemplateError

MEMBERS = {"Sid", "Effect", "Principal", "Action", "Resource", "NotResource", "Condition"}
MOST_REMEMBERED = 4096


class Decision(Enum):
    ALLOWED = "a statement allows it"
    NOT_ALLOWED = "no statement allows it"
    DENIED = "a statement denies it"


@dataclass(frozen=True, slots=True)
class Statement:
    """Who (nobody in particular, in the policy of a role) may or may not do what to what, under which conditions."""

    allows: bool
    principals: tuple[str, ...]
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    all_but_resources: bool
    conditions: tuple[Condition, ...]

    def covers(self, action: str, resource: str) -> bool:
        is_named = any(matches(each, resource) for each in self.resources)
        return is_named != self.all_but_resources and self.names(action)

    def names(self, action: str) -> bool:
        return any(matches(each, action, ignoring_case=True) for each in self.actions)


@dataclass(slots=True)
class Policy:
    """Statements that are asked many times: which of them are about an action and a resource is remembered."""

    statements: tuple[Statement, ...]
    _of: dict[tuple[str, ...], "Policy"] = field(default_factory=dict)
    _about: dict[tuple[str, str], tuple[Statement, ...]] = field(default_factory=dict)
    _settled: dict[tuple[str, str], Decision] = field(default_factory=dict)

    def decide(self, action: str, resource: str, context: Context) -> Decision:
        settled = self._settled.get((action, resource))
        return settled or self._weigh(action, resource, context)

    def for_principals(self, principals: tuple[str, ...]) -> "Policy":
        """The statements for somebody who goes by these names."""
        if principals not in self._of:
            wanted = {"*", *principals}
            self._of[principals] = Policy(tuple(each for each in self.statements if wanted.intersection(each.principals)))
        return self._of[principals]

    def nearest(self, action: str, resource: str, context: Context) -> str:
        """For whoever looks for the statement that is missing: what there is that comes close."""
        about = [each for each in self.statements if each.allows and each.covers(action, resource)]
        failed = [each for statement in about for each in statement.conditions if not each.holds(context)]
        if failed:
            return "; ".join(f"{each} but it is {context.get(each.key)}" for each in failed)
        named = [each for each in self.statements if each.allows and each.names(action)]
        where = ", ".join(one for each in named for one in each.resources)
        return f"it is allowed on {where}" if named else "no statement allows this action on anything"

    def _weigh(self, action: str, resource: str, context: Context) -> Decision:
        asked = (action, resource)
        about = self._about.get(asked)
        if about is None:
            about = tuple(each for each in self.statements if each.covers(action, resource))
            self._remember(asked, about)
        holding = [each for each in about if all(condition.holds(context) for condition in each.conditions)]
        decision = _decision(holding)
        if not any(each.conditions for each in about):
            self._settled[asked] = decision
        return decision

    def _remember(self, asked: tuple[str, str], about: tuple[Statement, ...]) -> None:
        if len(self._about) >= MOST_REMEMBERED:
            self._about.clear()
            self._settled.clear()
        self._about[asked] = about


def _decision(holding: list[Statement]) -> Decision:
    if any(not each.allows for each in holding):
        return Decision.DENIED
    return Decision.ALLOWED if holding else Decision.NOT_ALLOWED


def read(document: Mapping[str, Any]) -> Policy:
    """The policy in a document, or in a mere `{"Statement": […]}`."""
    return Policy(tuple(_statement(each) for each in _listed(document["Statement"])))


def _statement(given: Mapping[str, Any]) -> Statement:
    if unknown := given.keys() - MEMBERS:
        raise TemplateError(f"the local stack does not know {', '.join(sorted(unknown))} in a policy statement")
    if given.get("Effect") not in ("Allow", "Deny"):
        raise TemplateError(f"the Effect of a policy statement is Allow or Deny, not {given.get('Effect')}")
    if ("Resource" in given) == ("NotResource" in given) or "Action" not in given:
        raise TemplateError("a policy statement has an Action, and either Resource or NotResource")
    actions, resources = _texts(given["Action"]), _texts(given.get("Resource", given.get("NotResource")))
    if any(each != "*" and ":" not in each for each in actions):
        raise TemplateError(f"an action is service:name, not {', '.join(actions)}")
    if any("${" in each for each in resources):
        raise TemplateError(f"the local stack does not know policy variables, as in {', '.join(resources)}")
    return Statement(
        allows=given["Effect"] == "Allow",
        principals=_principals(given.get("Principal", {})),
        actions=actions,
        resources=resources,
        all_but_resources="NotResource" in given,
        conditions=conditions.read(given.get("Condition", {})),
    )


def _principals(given: Any) -> tuple[str, ...]:
    if given == "*":
        return ("*",)
    if not isinstance(given, Mapping) or given.keys() - {"AWS", "Service"}:
        raise TemplateError(f"the local stack knows principals of AWS and Service, not {given}")
    return tuple(each for named in given.values() for each in _texts(named))


def _texts(given: Any) -> tuple[str, ...]:
    found = tuple(_listed(given))
    if not found or not all(isinstance(each, str) for each in found):
        raise TemplateError(f"a policy statement names texts, not {given}")
    return found


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]
