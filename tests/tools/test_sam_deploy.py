"""The command line of `make deploy`, as the real `sam` takes it: up to the change set, without a single question."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.tools.checkout import ROOT
from tools import deploy, deploy_checks

SAM = Path(sys.executable).with_name("sam")

pytestmark = pytest.mark.skipif(
    not SAM.exists() and not os.environ.get("TOCSIN_REQUIRE_SAM"),
    reason="`make build` installs sam; .ci/run comes back here after it",
)


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://localhost:{server.get_host_and_port()[1]}"
    server.stop()


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


def account(aws: str) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL": aws, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_CONFIG_FILE": os.devnull}


def client(service: str, aws: str) -> Any:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    return boto3.client(service, endpoint_url=aws, region_name="us-east-1", **keys)  # type: ignore[call-overload]


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
    client("s3", aws).create_bucket(Bucket="uploads")

    done = run(project, *asked.command(), "--no-resolve-s3", "--s3-bucket", "uploads", **account(aws))

    assert "[y/N]" not in done.stdout, done.stdout
    (stack,) = client("cloudformation", aws).describe_stacks(StackName=f"bells-{stage}")["Stacks"]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert (given["EmailFrom"], given["SmsSenderId"], given["Stage"]) == ("notify@example.com", "Bells", stage)
    assert given["MultiAz"] == ("true" if stage == "prod" else "false")
    assert {"Key": "stage", "Value": stage} in stack["Tags"]


def test_a_first_deployment_needs_a_sender_and_a_later_one_keeps_it(aws: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in account(aws).items():
        monkeypatch.setenv(name, value)

    before = deploy_checks.look("chimes", "us-east-1", {}, reserved=0)
    template = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
    client("cloudformation", aws).create_stack(StackName="chimes", TemplateBody=template)
    after = deploy_checks.look("chimes", "us-east-1", {}, reserved=0)

    assert [each[:21] for each in before.obstacles] == ["EMAIL_FROM is missing"]
    assert after.obstacles == []
    assert after.place == "us-east-1, account 123456789012"
