"""The command line of `make deploy`, as the real `sam` takes it: up to the change set, without a single question."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import boto3
import pytest

from tests.tools.checkout import ROOT
from tools import deploy

SAM = Path(sys.executable).with_name("sam")

pytestmark = pytest.mark.skipif(
    not SAM.exists() and not os.environ.get("TOCSIN_REQUIRE_SAM"),
    reason="`make build` installs sam; .ci/run comes back here after it",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What sam reads here, in a folder without a build of somebody's."""
    for name in ("template.yaml", "samconfig.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("functions", "layers", "migrations"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """sam, with nobody to answer its questions."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    quiet = {"SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(project / "sam"), "AWS_EC2_METADATA_DISABLED": "true"}
    nobody = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    return subprocess.run(
        [SAM, *arguments],
        cwd=project,
        env=inherited | quiet | nobody | variables,
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


@pytest.mark.parametrize("environment", ["default", "prod"])
def test_without_credentials_sam_gets_as_far_as_missing_them(project: Path, environment: str) -> None:
    done = run(project, *deployment(ENV=environment).command())

    assert done.returncode == 1
    assert "Unable to locate credentials" in done.stdout, done.stdout
    assert "[y/N]" not in done.stdout


@pytest.mark.parametrize(("environment", "stage"), [("default", "dev"), ("prod", "prod")])
def test_sam_asks_for_a_change_set_with_every_parameter_and_asks_us_nothing(
    project: Path, aws: str, environment: str, stage: str
) -> None:
    """moto knows neither sam's own bucket nor our whole template, so it is given a bucket, and ends at the change set."""
    asked = deployment(ENV=environment, YES="1", STACK=f"bells-{stage}", PARAMETERS="SmsSenderId=Bells")
    account = {"AWS_ENDPOINT_URL": aws, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    session = boto3.Session("x", "x", region_name="us-east-1")
    session.client("s3", endpoint_url=aws).create_bucket(Bucket="uploads")

    done = run(project, *asked.command(), "--no-resolve-s3", "--s3-bucket", "uploads", **account)

    assert "[y/N]" not in done.stdout, done.stdout
    cloudformation = session.client("cloudformation", endpoint_url=aws)
    (stack,) = cloudformation.describe_stacks(StackName=f"bells-{stage}")["Stacks"]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert (given["EmailFrom"], given["SmsSenderId"], given["Stage"]) == ("notify@example.com", "Bells", stage)
    assert given["MultiAz"] == ("true" if stage == "prod" else "false")
    assert {"Key": "stage", "Value": stage} in stack["Tags"]
