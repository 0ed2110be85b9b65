"""`make deploy`: what it makes of its variables, and what it says before anything is built."""

import json
import re
import shutil
import socket
import tomllib
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.ses.models import ses_backends
from samtranslator.yaml_helper import yaml_parse

from tests.tools.checkout import ROOT
from tests.tools.cloudformation import CloudFormation
from tocsin.foundation import connecting
from tools import deploy, deploy_checks, find_python, gradual
from tools.deploy_checks import Findings

CONFIGURATION = tomllib.loads((ROOT / "samconfig.toml").read_text())
TEMPLATE = yaml_parse((ROOT / "template.yaml").read_text())
ACCOUNT = "123456789012"  # moto's
SENDER = "notify@shop.example.com"


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


def look(**parameters: str) -> Findings:
    return deploy_checks.look("tocsin-dev", "us-east-1", parameters, reserved=0)


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
        ({"PARAMETERS": "IntakeConcurrency=many"}, "IntakeConcurrency=many: it is a number from 1 to 900."),
        ({"PARAMETERS": "IntakeConcurrency=901"}, "IntakeConcurrency=901: it is a number from 1 to 900."),
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


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("ROLLBACK_COMPLETE", "its first deployment failed, and CloudFormation only lets it be deleted"),
        ("UPDATE_IN_PROGRESS", "Wait for that to end"),
    ],
)
def test_a_stack_that_cannot_be_updated_is_an_obstacle(cloudformation: CloudFormation, status: str, said: str) -> None:
    cloudformation.stacks["tocsin-dev"] = status

    (found,) = look(EmailFrom=SENDER).obstacles

    assert said in found


@pytest.mark.parametrize("status", ["CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"])
def test_a_first_deployment_needs_a_sender_and_a_later_one_keeps_it(cloudformation: CloudFormation, status: str) -> None:
    before = look()
    cloudformation.stacks["tocsin-dev"] = status
    after = look()

    assert [each[:21] for each in before.obstacles] == ["EMAIL_FROM is missing"]
    assert after.obstacles == []
    assert after.place == f"us-east-1, account {ACCOUNT}"


def test_a_stack_that_was_only_imported_needs_a_sender_and_one_that_was_deployed_does_not(cloudformation: CloudFormation) -> None:
    cloudformation.stacks["tocsin-dev"] = "IMPORT_COMPLETE"
    imported = look()
    cloudformation.parameters["EmailFrom"] = SENDER
    deployed = look()

    assert [each[:21] for each in imported.obstacles] == ["EMAIL_FROM is missing"]
    assert deployed.obstacles == []


@pytest.mark.parametrize(
    ("given", "is_refused"), [({"DatabaseSnapshot": ""}, True), ({"DatabaseSnapshot": "another"}, False), ({}, False)]
)
def test_a_database_is_not_replaced_by_an_empty_one(
    cloudformation: CloudFormation, given: dict[str, str], is_refused: bool
) -> None:
    cloudformation.stacks["tocsin-dev"] = "UPDATE_COMPLETE"
    cloudformation.parameters |= {"EmailFrom": SENDER, "DatabaseSnapshot": "before-the-accident"}

    found = look(**given).obstacles

    assert [("would make an empty database" in each) for each in found] == ([True] if is_refused else [])


def test_a_deployment_ends_with_where_the_api_is_and_how_to_read_the_admin_key(cloudformation: CloudFormation) -> None:
    cloudformation.stacks["tocsin-dev"] = "UPDATE_COMPLETE"

    said = deploy_checks.what_next("tocsin-dev", "us-east-1")

    assert "curl https://ApiUrl.example.com/ready\n" in said
    assert said.endswith("--secret-id https://AdminKeySecretArn.example.com")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ENV": "dev"}, "ENV=dev is not in samconfig.toml, which has default and prod."),
        ({"PARAMETERS": "SmsSenderId='Bells"}, "PARAMETERS=SmsSenderId='Bells cannot be read: No closing quotation."),
    ],
)
def test_what_cannot_be_understood_is_refused_at_once(
    asked: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    for name, value in asked.items():
        monkeypatch.setenv(name, value)

    assert deploy.main(only_check=True) == 1
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("cloudformation")
def test_a_profile_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")

    assert look(EmailFrom=SENDER).obstacles == ["The config profile (nobody) could not be found."]


@mock_aws
def test_a_sender_that_ses_does_not_know_is_noted_and_a_verified_domain_above_it_is_enough() -> None:
    ses = ProductionSes(boto3.client("sesv2", region_name="us-east-1"))

    unknown = notes_on_mail(ses)
    ses.create_email_identity(EmailIdentity="example.com")
    pending = notes_on_mail(ses)
    ses_backends[ACCOUNT]["us-east-1"].email_identities["example.com"].verified_for_sending_status = True
    known = notes_on_mail(ses)

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

    deploy_checks.look_at_concurrency(YoungAccount(), 147, findings)

    (found,) = findings.obstacles
    assert "this account has 10. Say PARAMETERS='ReserveConcurrency=false'" in found


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"amazonaws.com": socket.AF_INET, "api.aws": socket.AF_INET6}, []),
        (
            {"amazonaws.com": socket.AF_INET},
            ["In us-east-1 no IPv6 address leads to sqs.us-east-1.api.aws, sns.us-east-1.api.aws, kms"],
        ),
        ({}, []),
    ],
    ids=["every service has an address", "none has", "nobody answers for names here"],
)
def test_a_region_without_ipv6_is_refused_before_anything_is_made(
    known: dict[str, int], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_up(host: str, port: int, family: int, kind: int) -> list[object]:
        found = next((each for domain, each in known.items() if host.endswith(domain)), None)
        if found is None or family not in (found, socket.AF_UNSPEC):
            raise socket.gaierror("no address")
        return [(found, kind)]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    findings = deploy_checks.Findings()

    deploy_checks.look_at_ipv6("us-east-1", findings)

    assert [each[: len(words)] for each, words in zip(findings.obstacles, said, strict=True)] == said


def test_the_sandbox_of_ses_is_noted() -> None:
    findings = Findings()

    deploy_checks.look_at_mail(YoungAccount(), None, findings)

    (found,) = findings.notes
    assert found.startswith("SES is in its sandbox in this region")


def test_what_the_functions_reserve_is_what_the_template_says() -> None:
    # docs/deploying.md: 40 + 15 + 20 + 20 + 16 + 5 + 4 and 27 for the functions with fixed ones
    assert deploy.reserved(TEMPLATE, {"ReserveConcurrency": "true"}) == 147
    assert deploy.reserved(TEMPLATE, {"ReserveConcurrency": "true", "IntakeConcurrency": "50"}) == 157
    assert deploy.reserved(TEMPLATE, {}) == 0


class ProductionSes:
    """moto's SES, and what moto does not know: that this account is out of the sandbox."""

    def __init__(self, ses: Any) -> None:
        self._ses = ses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ses, name)

    def get_account(self) -> dict[str, Any]:
        return {"ProductionAccessEnabled": True}


def notes_on_mail(ses: Any) -> list[str]:
    findings = Findings()
    deploy_checks.look_at_mail(ses, SENDER, findings)
    return findings.notes


@pytest.mark.parametrize(
    ("status", "region", "parameters", "said"),
    [
        (None, "us-east-1", "", None),
        (None, "il-central-1", "", "The certificates of RDS in this region are not shipped."),
        (None, "us-east-1", "ExistingDatabaseHost=db.example.com", "An existing database needs ExistingSubnetIds"),
        ("CREATE_COMPLETE", "il-central-1", "", None),  # what it was given before, CloudFormation knows
    ],
)
def test_what_the_rules_of_the_template_refuse_is_refused_before_it_is_built(
    cloudformation: CloudFormation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: str | None,
    region: str,
    parameters: str,
    said: str | None,
) -> None:
    if status:
        cloudformation.stacks["tocsin-dev"] = status
    monkeypatch.setattr(deploy, "reserved", lambda *_: 0)  # moto knows no account's limits
    monkeypatch.setattr(find_python, "works", lambda *_: True)
    deployment = deploy.read({"EMAIL_FROM": SENDER, "REGION": region, "PARAMETERS": parameters}, CONFIGURATION)

    ended = deploy.check(deployment, TEMPLATE)

    assert ended == (1 if said else 0)
    assert (said or "") in capsys.readouterr().err


def test_own_certificates_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deployment = deploy.read({"EMAIL_FROM": SENDER, "PARAMETERS": "DatabaseCertificates=own"}, CONFIGURATION)
    monkeypatch.setattr(find_python, "works", lambda *_: True)
    monkeypatch.chdir(tmp_path)

    (missing,) = deploy.obstacles(deployment, TEMPLATE["Parameters"], can_answer=True)
    deploy.OWN_CERTIFICATES.parent.mkdir(parents=True)
    deploy.OWN_CERTIFICATES.write_text("a certificate")
    there = deploy.obstacles(deployment, TEMPLATE["Parameters"], can_answer=True)

    assert missing.startswith(f"DatabaseCertificates=own, and there is no {connecting.OWN_CERTIFICATES.relative_to(ROOT)}.")
    assert there == []


def test_a_gradual_deployment_is_made_of_what_was_built_and_has_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deploy.BUILD.mkdir(parents=True)
    shutil.copy(ROOT / "template.yaml", deploy.BUILD)
    deployment = deploy.read({"EMAIL_FROM": SENDER, "SHIFT": "Canary10Percent15Minutes"}, CONFIGURATION)

    deploy.write_gradual(deployment.shift)

    command = deployment.command()
    written = json.loads(Path(command[command.index("--template-file") + 1]).read_text())
    intake = written["Resources"]["IntakeFunction"]["Properties"]
    assert intake["DeploymentPreference"]["Type"] == "Canary10Percent15Minutes"
    assert re.fullmatch(r"\d{8}T\d{6}Z", intake["Environment"]["Variables"]["RELEASE"])
    assert written["Parameters"] == TEMPLATE["Parameters"]


def test_how_new_code_is_shifted_is_one_of_a_list_and_gradual_in_production_unless_said() -> None:
    asked = deploy.read({"EMAIL_FROM": SENDER, "SHIFT": "Slowly"}, CONFIGURATION)
    found = deploy.obstacles(asked, TEMPLATE["Parameters"], can_answer=True)

    assert any(each.startswith("SHIFT=Slowly: it is one of AllAtOnce, Canary10Percent15Minutes") for each in found)
    assert "--template-file" not in deploy.read({"EMAIL_FROM": SENDER}, CONFIGURATION).command()
    assert deploy.read({"ENV": "prod"}, CONFIGURATION).shift == "Canary10Percent15Minutes"
    assert deploy.read({"ENV": "prod", "SHIFT": "AllAtOnce"}, CONFIGURATION).shift == "AllAtOnce"


def test_what_goes_out_at_once_keeps_its_alias_and_waits_for_no_alarm() -> None:
    """So a repair can be deployed while an alarm rings, and the next deployment shifts again."""
    intake = gradual.gradual(TEMPLATE, "AllAtOnce", "one")["Resources"]["IntakeFunction"]["Properties"]

    assert (intake["AutoPublishAlias"], intake["DeploymentPreference"]) == ("live", {"Type": "AllAtOnce"})
