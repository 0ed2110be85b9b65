"""The command line of `make deploy`, as the real `sam` takes it: up to the change set, without a single question."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from samtranslator.yaml_helper import yaml_parse

from tests.tools.checkout import ROOT
from tests.tools.cloudformation import CloudFormation
from tools import deploy

SAM = Path(sys.executable).with_name("sam")

pytestmark = pytest.mark.skipif(
    not SAM.exists() and not os.environ.get("TOCSIN_REQUIRE_SAM"),
    reason="`make build` installs sam; .ci/run comes back here after it",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What sam reads here, in a folder without a build of somebody's."""
    for name in ("template.yaml", "network.yaml", "samconfig.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("functions", "layers", "migrations"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """sam, with nobody to answer its questions."""
    quiet = {"SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(project / "sam"), "AWS_EC2_METADATA_DISABLED": "true"}
    return subprocess.run(
        [SAM, *arguments],
        cwd=project,
        env=os.environ | quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=150,
        check=False,
    )


def deployment(**asked: str) -> deploy.Deployment:
    given = {"EMAIL_FROM": "notify@example.com", "REGION": "us-east-1"} | asked
    return deploy.read(given, tomllib.loads((ROOT / "samconfig.toml").read_text()))


def build(project: Path, asked: deploy.Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make build` leaves it, as far as sam looks; with aliases where the deployment has them."""
    monkeypatch.chdir(project)
    deploy.BUILD.mkdir(parents=True)
    for name in ("template.yaml", "network.yaml", "functions", "layers", "migrations"):
        (deploy.BUILD / name).symlink_to(project / name)
    if asked.shift:
        deploy.write_gradual(asked.shift)


@pytest.mark.usefixtures("cloudformation")
@pytest.mark.parametrize("environment", ["default", "prod"])
def test_without_credentials_sam_gets_as_far_as_missing_them(
    project: Path, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    asked = deployment(ENV=environment)
    build(project, asked, monkeypatch)

    done = run(project, *asked.command())

    assert done.returncode == 1
    assert "Unable to locate credentials" in done.stdout, done.stdout


@pytest.mark.parametrize(("environment", "stage"), [("default", "dev"), ("prod", "prod")])
def test_sam_asks_for_a_change_set_with_every_parameter_and_asks_us_nothing(
    project: Path, cloudformation: CloudFormation, environment: str, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = deployment(
        ENV=environment, YES="1", PARAMETERS="SmsSenderId=Bells RestoredDatabaseHost= ExistingSubnetIds=subnet-1,subnet-2"
    )
    build(project, asked, monkeypatch)
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="uploads")

    # sam would make its own bucket by a stack of its own, so it is given one.
    done = run(project, *asked.command(), "--no-resolve-s3", "--s3-bucket", "uploads")

    assert "It was noted, and that is all." in done.stdout, done.stdout
    assert "[y/N]" not in done.stdout
    given = cloudformation.members("Parameters")
    assert given["EmailFrom"] == "notify@example.com"
    assert given["ExistingSubnetIds"] == "subnet-1,subnet-2"
    assert given["SmsSenderId"] == "Bells"
    assert given["RestoredDatabaseHost"] == "", "what is emptied goes back to the stack's own database"
    assert given["Stage"] == stage
    assert given.get("MultiAz") == ("true" if stage == "prod" else None)
    assert cloudformation.members("Tags") == {"service": "tocsin", "stage": stage}
    assert cloudformation.change_sets[0]["StackName"] == f"tocsin-{stage}"
    assert _asked_capabilities(cloudformation.change_sets[0]) == {"CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"}


def test_sam_takes_a_gradual_deployment(project: Path, cloudformation: CloudFormation, monkeypatch: pytest.MonkeyPatch) -> None:
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="uploads")
    asked = deployment(YES="1", SHIFT="Canary10Percent15Minutes")
    build(project, asked, monkeypatch)

    done = run(project, *asked.command(), "--no-resolve-s3", "--s3-bucket", "uploads")

    assert len(cloudformation.change_sets) == 1, done.stdout
    assert cloudformation.members("Tags") == {"service": "tocsin", "stage": "dev"}, "samconfig.toml was read"
    root = yaml_parse(_uploaded(s3, cloudformation.change_sets[0]["TemplateURL"]))
    shifted = {name for name, each in root["Resources"].items() if each.get("Properties", {}).get("AutoPublishAlias")}
    assert {"IntakeFunction", "DispatchFunction"} <= shifted
    assert not {"SweepFunction", "MigrateFunction"} & shifted


def test_sam_uploads_the_network_and_names_it_in_the_template(project: Path, cloudformation: CloudFormation) -> None:
    s3 = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="uploads")

    done = run(project, *deployment(YES="1").command(), "--no-resolve-s3", "--s3-bucket", "uploads")

    assert len(cloudformation.change_sets) == 1, done.stdout
    root = yaml_parse(_uploaded(s3, cloudformation.change_sets[0]["TemplateURL"]))
    network = yaml_parse(_uploaded(s3, root["Resources"]["Network"]["Properties"]["TemplateURL"]))
    written = yaml_parse((ROOT / "network.yaml").read_text())
    assert {name: each["Properties"] for name, each in network["Resources"].items()} == {
        name: each["Properties"] for name, each in written["Resources"].items()
    }
    assert network["Outputs"] == written["Outputs"]


def _asked_capabilities(change_set: dict[str, str]) -> set[str]:
    return {value for name, value in change_set.items() if name.startswith("Capabilities.member.")}


def _uploaded(s3: Any, url: str) -> str:
    key = urlsplit(url).path.removeprefix("/uploads").lstrip("/")
    return str(s3.get_object(Bucket="uploads", Key=key)["Body"].read().decode())
