"""The template as `make deploy SHIFT=…` has it: new code is tried on some of the traffic, and all of it goes through aliases."""

import copy
import json
import re
from functools import cache
from typing import Any

import pytest

from tests.template import checks, reading
from tests.template.reading import Template, named, of_type
from tools import gradual

AT_ONCE = {"MigrateFunction", "SweepFunction", "RetentionFunction"}


def _shifting() -> set[str]:
    return set(of_type(reading.sam_template(), "AWS::Serverless::Function")) - AT_ONCE


def test_every_function_that_shares_its_traffic_has_an_alias_and_timers_and_migration_have_none() -> None:
    aliases = of_type(reading.shifted("one"), "AWS::Lambda::Alias").values()

    assert {str(named(each["FunctionName"])) for each in aliases} == _shifting()


def test_each_deployment_publishes_a_version_of_each_of_them_whatever_has_changed() -> None:
    first, second = (of_type(reading.shifted(release), "AWS::Lambda::Version") for release in ("one", "two"))
    told = of_type(reading.shifted("two"), "AWS::Lambda::Function")

    assert not set(first) & set(second)
    assert {str(named(each["FunctionName"])) for each in second.values()} == _shifting()
    assert {name for name, each in told.items() if each["Environment"]["Variables"].get("RELEASE") == "two"} == _shifting()


def test_whatever_calls_one_of_them_calls_its_alias() -> None:
    template = reading.shifted("one")
    called = [each["FunctionName"] for each in of_type(template, "AWS::Lambda::EventSourceMapping").values()]
    called += [each["FunctionName"] for each in of_type(template, "AWS::Lambda::Permission").values()]
    integrations = re.findall(r"functions/\$\{(\w+)(?:\.Arn)?\}/invocations", json.dumps(template["Resources"]["HttpApi"]))

    assert len(integrations) > 100
    assert {str(named(each)) for each in called} | set(integrations) == {f"{name}Aliaslive" for name in _shifting()}


def test_new_code_goes_back_when_an_alarm_rings() -> None:
    template = reading.shifted("one")
    groups = of_type(template, "AWS::CodeDeploy::DeploymentGroup")

    assert set(groups) == {f"{name}DeploymentGroup" for name in _shifting()}
    for name, each in groups.items():
        watched = {str(named(alarm["Name"])) for alarm in each["AlarmConfiguration"]["Alarms"]}
        assert watched in [set(alarms) for alarms in gradual.ALARMS.values()]
        assert _is_watched(template, name.removesuffix("DeploymentGroup"), watched)
        assert "DEPLOYMENT_STOP_ON_ALARM" in each["AutoRollbackConfiguration"]["Events"]
        assert reading.CANARY in json.dumps(each["DeploymentConfigName"])


def test_a_shift_lasts_longer_than_its_alarms_look_back() -> None:
    alarms = of_type(reading.sam_template(), "AWS::CloudWatch::Alarm")
    looks_back = [_minutes(alarms[name]) for names in gradual.ALARMS.values() for name in names]
    lasts = [int(each["minutes"]) * (10 if each["kind"] == "Linear" else 1) for each in map(_parts, gradual.SHIFTS[1:])]

    assert max(looks_back) < min(lasts)


@pytest.mark.parametrize("check", checks.ON_TRANSLATED, ids=lambda check: check.__name__)
def test_it_keeps_every_rule_that_the_template_keeps(check: checks.Check) -> None:
    assert check(_as_without_aliases(ReserveConcurrency="true")) == []


def test_codedeploy_may_move_aliases_and_no_more() -> None:
    role = of_type(reading.shifted("one"), "AWS::IAM::Role")["CodeDeployServiceRole"]

    assert role["ManagedPolicyArns"] == ["arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"]
    assert "Policies" not in role


@cache
def _as_without_aliases(**parameters: str) -> Template:
    """Settled, with the function in place of its alias wherever one is named, and without what no check knows: CodeDeploy, and
    the name of the release, which only makes each version another."""
    template = copy.deepcopy(reading.shifted("one"))
    del template["Resources"]["CodeDeployServiceRole"]
    for resource in template["Resources"].values():
        if resource["Type"] == reading.STACK:
            resource["Template"] = copy.deepcopy(reading._parsed(resource["Properties"]["TemplateURL"]))
        resource.get("Properties", {}).get("Environment", {}).get("Variables", {}).pop("RELEASE", None)
    said = json.dumps(template)
    for name in of_type(template, "AWS::Lambda::Alias"):
        function = name.removesuffix("Aliaslive")
        said = said.replace(f'{{"Ref": "{name}"}}', f'{{"Ref": "{function}"}}').replace(f"${{{name}}}", f"${{{function}.Arn}}")
    plain: Template = json.loads(said)
    return reading.settled(plain, **parameters)


def _is_watched(template: Template, function: str, alarms: set[str]) -> bool:
    """Whether one of the alarms looks at this function itself."""
    watched = [of_type(template, "AWS::CloudWatch::Alarm")[name]["Metrics"] for name in alarms]
    return f"'Ref': '{function}'" in str(watched)


def _minutes(alarm: dict[str, Any]) -> float:
    (period,) = {each["MetricStat"]["Period"] for each in alarm["Metrics"] if "MetricStat" in each}
    return float(period * alarm["EvaluationPeriods"] / 60)


def _parts(shift: str) -> re.Match[str]:
    found = re.fullmatch(r"(?P<kind>Canary|Linear)10Percent(?:Every)?(?P<minutes>\d+)Minutes", shift)
    assert found
    return found
