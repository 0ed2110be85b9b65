"""What security groups let through: from which group, or to which addresses, at which port."""

from ipaddress import IPv4Network
from typing import Any

from tests.template.reading import Template, listed, named, of_type

ANYWHERE = IPv4Network("0.0.0.0/0")
Rule = dict[str, Any]


def admits(template: Template, groups: set[str | None], source: str | None, port: int) -> bool:
    """Whether one of these groups lets members of that one in."""
    return any(
        named(rule.get("SourceSecurityGroupId")) == source and _is_for(rule, port) for rule in _rules(template, groups, "Ingress")
    )


def lets_out(template: Template, groups: set[str | None], port: int, *, to: IPv4Network) -> bool:
    """Whether one of these groups lets its members out to all these addresses. One without rules lets them out to anywhere."""
    rules = _rules(template, groups, "Egress")
    wide = [rule for rule in rules if "CidrIp" in rule and to.subnet_of(IPv4Network(rule["CidrIp"]))]
    return not rules or any(_is_for(rule, port) for rule in wide)


def _rules(template: Template, groups: set[str | None], way: str) -> list[Rule]:
    inside = [
        rule for name, each in _groups(template).items() if name in groups for rule in listed(each.get(f"SecurityGroup{way}"))
    ]
    beside = of_type(template, f"AWS::EC2::SecurityGroup{way}").values()
    return inside + [rule for rule in beside if named(rule["GroupId"]) in groups]


def _groups(template: Template) -> dict[str, dict[str, Any]]:
    return of_type(template, "AWS::EC2::SecurityGroup")


def _is_for(rule: Rule, port: int) -> bool:
    return rule["IpProtocol"] in ("-1", "tcp") and (rule["IpProtocol"] == "-1" or rule["FromPort"] <= port <= rule["ToPort"])
