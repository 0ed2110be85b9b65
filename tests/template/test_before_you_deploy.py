"""docs/before-you-deploy.md: its costs are the template's, its policy suffices for it, and every secret of it can be rotated."""

import json
import re
import subprocess
import textwrap
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.template import reading, usage_cost
from tools import pages
from tools.gradual import gradual

PAGE = (reading.ROOT / "docs" / "before-you-deploy.md").read_text(encoding="utf-8")
README = (reading.ROOT / "README.md").read_text(encoding="utf-8")
PRINT = "`python -m tests.template.usage_cost` prints what the page should say"
# CloudFormation's name of a service: IAM's
PREFIXES = {"ApiGatewayV2": "apigateway", "CertificateManager": "acm"}
MOST = 6_144  # characters of a managed policy, white space left out


@cache
def _policy() -> dict[str, Any]:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    policy: dict[str, Any] = json.loads(block)
    return policy


def _allowed() -> list[str]:
    return [action for one in _policy()["Statement"] for action in reading.listed(one["Action"])]


def _admits(action: str) -> bool:
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in _allowed())


def test_the_costs_are_those_of_the_template() -> None:
    assert f"| --- | --- | --- | --- |\n{usage_cost.sizes()}\n\n" in PAGE, PRINT
    assert f"| --- | --- | --- | --- |\n{usage_cost.sizes()}\n\n" in README, PRINT
    assert f"| --- | --- | --- | --- | --- |\n{usage_cost.together()}\n\n" in PAGE, PRINT
    more = [(usage_cost.EMAILS_ESSENTIALS - usage_cost.EMAILS) * volume / 1e6 for volume in usage_cost.VOLUMES]
    assert "(+{:.2f} and +{:.2f} above)".format(*more) in PAGE, PRINT


def _needed() -> set[str]:
    """The services of everything that the template makes, and of the aliases that production adds."""
    kinds = {one["Type"] for one in reading.every_resource(reading.whole())}
    shifted = gradual(reading.sam_template(), "Canary10Percent15Minutes", "one")["Resources"].values()
    if any("DeploymentPreference" in one.get("Properties", {}) for one in shifted):
        kinds.add("AWS::CodeDeploy::DeploymentGroup")
    services = {kind.split("::")[1] for kind in kinds if kind.startswith("AWS::")}
    return {PREFIXES.get(service, service.lower()) for service in services}


def test_the_policy_has_the_service_of_every_kind_of_resource_and_no_other() -> None:
    assert {action.split(":")[0] for action in _allowed()} == _needed()
    assert "codedeploy" in _needed(), "as production deploys"


def test_what_make_deploy_looks_at_and_what_the_network_and_the_roles_need_is_admitted() -> None:
    wanted = {
        *("cloudformation:CreateChangeSet", "cloudformation:DescribeStacks", "ses:GetAccount", "ses:GetEmailIdentity"),
        *("route53:GetHostedZone", "route53:ListResourceRecordSets", "lambda:GetAccountSettings", "s3:PutObject"),
        *("ec2:CreateVpc", "ec2:CreateSubnet", "ec2:AssociateRouteTable", "ec2:CreateRoute", "ec2:AuthorizeSecurityGroupIngress"),
        *("ec2:RevokeSecurityGroupEgress", "ec2:AssociateVpcCidrBlock", "ec2:AssociateSubnetCidrBlock", "ec2:CreateVpcEndpoint"),
        *("ec2:CreateEgressOnlyInternetGateway", "ec2:AttachInternetGateway", "ec2:CreateNatGateway", "ec2:AllocateAddress"),
        *("ec2:ReleaseAddress", "ec2:ModifyVpcAttribute", "ec2:ModifySubnetAttribute", "kms:CreateGrant"),
        *("iam:PassRole", "iam:CreateRole", "iam:AttachRolePolicy", "iam:CreatePolicy", "iam:CreateServiceLinkedRole"),
    }

    assert {action for action in wanted if not _admits(action)} == set()
    assert not _admits("ec2:RunInstances")
    assert not _admits("iam:CreateUser")


def test_every_action_of_the_policy_is_one_that_aws_has() -> None:
    (linter,) = (find_spec("cfnlint") or pytest.fail("cfn-lint is not installed")).submodule_search_locations or ()
    known = json.loads((Path(linter) / "data" / "AdditionalSpecs" / "Policies.json").read_text())

    unknown = [
        action
        for action in _allowed()
        if not any(fnmatchcase(name, action.split(":")[1].lower()) for name in known[action.split(":")[0]]["Actions"])
    ]

    assert unknown == []


def test_the_policy_fits_and_keeps_roles_to_those_of_the_stack() -> None:
    roles = [one for one in _policy()["Statement"] if any(action.startswith("iam:") for action in reading.listed(one["Action"]))]

    assert len(re.sub(r"\s", "", json.dumps(_policy()))) <= MOST
    assert all("*" not in reading.listed(one["Resource"]) for one in roles)


def test_the_page_says_of_every_secret_and_key_how_it_is_changed() -> None:
    made = {
        name
        for kind in ("AWS::SecretsManager::Secret", "AWS::KMS::Key")
        for name in reading.of_type(reading.sam_template(), kind)
    }

    assert {name for name in made if f"`{name}`" not in pages.chapter(PAGE, "Rotating every secret")} == set()


def test_the_page_names_only_parameters_and_outputs_that_exist() -> None:
    template = reading.sam_template()
    given = set(re.findall(r"`([A-Z][a-z]+[A-Za-z]+)=", PAGE)) | set(re.findall(r'PARAMETERS="(\w+)=', PAGE))

    assert given <= set(template["Parameters"])
    assert set(re.findall(r"\$\(output (\w+)\)", PAGE)) <= set(template["Outputs"])
    assert set(re.findall(r"\$\(physical (\w+)\)", PAGE)) <= set(template["Resources"])


def test_what_is_to_be_typed_is_a_shell_s_language() -> None:
    blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)
    typed = [textwrap.dedent(block) for language, block in blocks if not language]

    for block in typed:
        done = subprocess.run(["/bin/bash", "-n"], input=block, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), block
    assert len(typed) >= 6


def test_the_checklist_can_be_ticked_and_leads_to_the_chapters() -> None:
    boxes = [line for line in pages.chapter(PAGE, "The checklist").splitlines() if line]
    linked = {link.removeprefix("#") for link in pages.links(pages.chapter(PAGE, "The checklist")) if link.startswith("#")}
    chapters = {one.anchor for one in pages.headings(PAGE) if one.level == 2} - {"the-checklist"}

    assert all(line.startswith(("- [ ] ", "The checklist")) for line in boxes)
    assert chapters <= linked
