"""The order in which CloudFormation would make everything, whatever is chosen: nothing dangles, nothing goes in circles."""

from graphlib import CycleError, TopologicalSorter
from typing import Any

import pytest

from tests.template import reading
from tests.template.test_template import VARIANTS

FUNCTION = "AWS::Lambda::Function"


def _needs(template: reading.Template) -> dict[str, set[str]]:
    """By resource, what it names and what it depends on; parameters, of the network too, are there from the start."""
    given = {name for each in reading.templates(template).values() for name in each["Parameters"]}
    return {
        name: (reading.referred_to(each.get("Properties", {})) | set(reading.listed(each.get("DependsOn")))) - given - {name}
        for name, each in template["Resources"].items()
    }


def dangling(template: reading.Template) -> list[str]:
    made = set(template["Resources"])
    return sorted(f"{name}: {other}" for name, needed in _needs(template).items() for other in needed - made)


def order(template: reading.Template) -> list[str]:
    return list(TopologicalSorter(_needs(template)).static_order())


@pytest.mark.parametrize("variant", VARIANTS)
def test_whatever_is_named_is_made_and_nothing_waits_for_itself(variant: str) -> None:
    template = reading.standing(**VARIANTS[variant])

    assert dangling(template) == []
    assert len(order(template)) == len(template["Resources"]) > 100


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_database_comes_before_the_migration_and_that_before_every_function_that_needs_it(variant: str) -> None:
    template = reading.standing(**VARIANTS[variant])

    places = {name: place for place, name in enumerate(order(template))}
    later = [name for name in reading.of_type(template, FUNCTION) if name != "MigrateFunction"]

    assert places["MigrateFunction"] < places["Migration"] < min(places[name] for name in later)
    assert places.get("Database", -1) < places["Migration"]


@pytest.mark.parametrize(
    ("resource", "properties", "said"),
    [
        ("SweepLogs", {"LogGroupName": {"Ref": "Nowhere"}}, ["SweepLogs: Nowhere"]),
        ("AlarmTopic", {"DisplayName": {"Fn::Sub": ["${A} ${Gone.Arn}", {"A": "x"}]}}, ["AlarmTopic: Gone"]),
        ("SqsEndpoint", {"VpcId": {"Ref": "NatGateway"}}, ["SqsEndpoint: NatGateway"]),
    ],
)
def test_what_dangles_is_noticed(resource: str, properties: dict[str, Any], said: list[str]) -> None:
    standing = reading.standing(PrivateEndpoints="true")
    sick = {**standing, "Resources": {**standing["Resources"], resource: {"Type": "x", "Properties": properties}}}

    assert dangling(sick) == said


def test_a_circle_is_noticed() -> None:
    standing = reading.standing()
    circle = {"Type": "AWS::KMS::Key", "Properties": {"Description": {"Ref": "SweepFunction"}}}

    with pytest.raises(CycleError):
        order({**standing, "Resources": {**standing["Resources"], "DataKey": circle}})
