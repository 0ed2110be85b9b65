"""`make deploy`: what it makes of its variables, and what it says before anything is built."""

import os
import tomllib
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.cloudformation.models import cloudformation_backends
from moto.ses.models import ses_backends
from samtranslator.yaml_helper import yaml_parse

from tests.tools.checkout import ROOT
from tools import deploy, deploy_checks, find_python
from tools.deploy_checks import Findings

CONFIGURATION = tomllib.loads((ROOT / "samconfig.toml").read_text())
TEMPLATE = yaml_parse((ROOT / "template.yaml").read_text())
ACCOUNT = "123456789012"  # moto's
SENDER = "notify@shop.example.com"


@pytest.fixture
def account(aws: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty account of our own, and none of the developer's."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    given = {"ENDPOINT_URL": aws, "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "CONFIG_FILE": os.devnull}
    for name, value in given.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield
    urllib.request.urlopen(urllib.request.Request(f"{aws}/moto-api/reset", method="POST")).close()


@pytest.fixture
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "AWS_PROFILE",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_DEFAULT_REGION",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def look(*, stack: str = "tocsin-dev", reserved: int = 0, **parameters: str) -> Findings:
    return deploy_checks.look(stack, "us-east-1", parameters, reserved=reserved)


def test_the_first_command_of_the_readme_deploys_dev_and_asks_nothing() -> None:
    deployment = deploy.read({"EMAIL_FROM": SENDER, "AWS_REGION": "eu-west-1"}, CONFIGURATION)

    assert deployment.command() == [
        *(
            "deploy",
            "--config-env",
            "default",
            "--stack-name",
            "tocsin-dev",
            "--s3-prefix",
            "tocsin-dev",
            "--region",
            "eu-west-1",
        ),
        *("--no-confirm-changeset", "--parameter-overrides", 'Stage="dev"', f'EmailFrom="{SENDER}"'),
    ]


def test_production_asks_once_unless_it_is_told_not_to() -> None:
    asking = deploy.read({"ENV": "prod"}, CONFIGURATION)
    told = deploy.read({"ENV": "prod", "YES": "1"}, CONFIGURATION)

    assert CONFIGURATION["prod"]["deploy"]["parameters"]["confirm_changeset"]
    assert not {"--no-confirm-changeset", "--guided"} & set(asking.command())
    assert "--no-confirm-changeset" in told.command()


def test_what_is_said_wins_over_samconfig_and_the_rest_of_samconfig_stays() -> None:
    asked = {"ENV": "prod", "STACK": "bells", "REGION": "eu-west-1", "PARAMETERS": "MultiAz=false SmsSenderId='My Shop'"}

    deployment = deploy.read(asked, CONFIGURATION)

    assert (deployment.stack, deployment.region) == ("bells", "eu-west-1")
    assert deployment.parameters["MultiAz"] == "false"
    assert deployment.parameters["Stage"] == "prod"
    assert 'SmsSenderId="My Shop"' in deployment.command()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"EMAIL_FROM": "nobody"}, "EmailFrom=nobody does not fit: The sender of every email"),
        ({"PARAMETERS": "MultiAz=yes"}, "MultiAz=yes: it is one of true, false."),
        ({"PARAMETERS": "Colour=red"}, "template.yaml has no parameter Colour."),
        ({"PARAMETERS": "ExistingSubnetIds=subnet-1,office"}, "ExistingSubnetIds=subnet-1,office does not fit"),
        ({"STACK": "my stack"}, "STACK=my stack is no name for a stack"),
        ({"ENV": "prod"}, "prod asks before it acts, and nobody can answer here."),
    ],
)
def test_a_mistake_is_named_before_anything_is_built(asked: dict[str, str], said: str) -> None:
    found = deploy.obstacles(deploy.read(asked, CONFIGURATION), TEMPLATE["Parameters"], can_answer=False)

    assert any(each.startswith(said) for each in found), found


def test_without_the_functions_own_python_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_python, "candidates", lambda version: [])

    (found,) = deploy.obstacles(deploy.read({"EMAIL_FROM": SENDER}, CONFIGURATION), TEMPLATE["Parameters"], can_answer=False)

    assert found.startswith("Python 3.13, the functions' runtime, is not here")


@pytest.mark.usefixtures("no_account")
def test_a_shell_without_credentials_region_and_sender_is_told_all_three_at_once() -> None:
    findings = deploy_checks.look("tocsin-dev", None, {}, reserved=0)

    sender, region, credentials = findings.obstacles
    assert sender.startswith("EMAIL_FROM is missing")
    assert region.startswith("There is no region. Say REGION=us-east-1")
    assert credentials.startswith("There are no AWS credentials. Log in")


@pytest.mark.usefixtures("account")
def test_a_first_deployment_needs_a_sender_and_a_later_one_keeps_it() -> None:
    before = look()
    _stack_that_is("CREATE_COMPLETE")
    after = look()

    assert [each[:21] for each in before.obstacles] == ["EMAIL_FROM is missing"]
    assert after.obstacles == []
    assert after.place == f"us-east-1, account {ACCOUNT}"


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("ROLLBACK_COMPLETE", "its first deployment failed, and CloudFormation only lets it be deleted"),
        ("UPDATE_IN_PROGRESS", "Wait for that to end"),
    ],
)
def test_a_stack_that_cannot_be_updated_is_an_obstacle(status: str, said: str) -> None:
    _stack_that_is(status)

    (found,) = look(EmailFrom=SENDER).obstacles

    assert said in found


@pytest.mark.usefixtures("account")
def test_a_stack_that_can_be_updated_is_none() -> None:
    _stack_that_is("UPDATE_ROLLBACK_COMPLETE")

    assert look(EmailFrom=SENDER).obstacles == []


@pytest.mark.usefixtures("account")
def test_a_sender_that_ses_does_not_know_is_noted_and_a_verified_domain_above_it_is_enough() -> None:
    unknown = look(EmailFrom=SENDER).notes
    boto3.client("sesv2", region_name="us-east-1").create_email_identity(EmailIdentity="example.com")
    pending = look(EmailFrom=SENDER).notes
    ses_backends[ACCOUNT]["us-east-1"].email_identities["example.com"].verified_for_sending_status = True
    known = look(EmailFrom=SENDER).notes

    assert [note[:44] for note in unknown] == [f"SES has verified neither {SENDER}"[:44]] == [note[:44] for note in pending]
    assert known == []


class YoungAccount:
    """What moto does not know: an account's limits, and that SES begins in a sandbox."""

    def get_account_settings(self) -> dict[str, Any]:
        return {"AccountLimit": {"UnreservedConcurrentExecutions": 10}}

    def get_account(self) -> dict[str, Any]:
        return {"ProductionAccessEnabled": False}


def test_an_account_that_cannot_reserve_concurrency_is_told_how_to_do_without() -> None:
    findings = Findings()

    deploy_checks.look_at_concurrency(YoungAccount(), 103, findings)

    (found,) = findings.obstacles
    assert "this account has 10. Say PARAMETERS='ReserveConcurrency=false'" in found


def test_the_sandbox_of_ses_is_noted() -> None:
    findings = Findings()

    deploy_checks.look_at_mail(YoungAccount(), None, findings)

    (found,) = findings.notes
    assert found.startswith("SES is in its sandbox in this region")


def test_what_the_functions_reserve_is_what_the_template_says() -> None:
    # docs/deploying.md: 40 + 15 + 20 + 10 and 18 for the functions with fixed ones
    assert deploy.reserved(TEMPLATE, {}) == 103
    assert deploy.reserved(TEMPLATE, {"IntakeConcurrency": "50"}) == 113
    assert deploy.reserved(TEMPLATE, {"ReserveConcurrency": "false"}) == 0


def _stack_that_is(status: str) -> None:
    client = boto3.client("cloudformation", region_name="us-east-1")
    template = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
    made = client.create_stack(StackName="tocsin-dev", TemplateBody=template)
    cloudformation_backends[ACCOUNT]["us-east-1"].get_stack(made["StackId"]).status = status
