"""`make deploy`: look first whether it can work, then `sam deploy` without questions (production asks once).

`python -m tools.deploy check` only looks. What is wanted comes from the variables of make, the rest from samconfig.toml.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

from tools import deploy_checks, find_python, template_rules
from tools.gradual import DEFAULT_SHIFTS, SHIFTS, gradual

RUNTIME = "3.13"
BUILD = Path(".aws-sam/build")
OWN_CERTIFICATES = Path("layers/shared/tocsin/foundation/own-certificates.pem")
HELP = """
  make deploy EMAIL_FROM=notify@example.com             the sender of every email; SES must have verified it
  make deploy EMAIL_FROM=notify@example.com ENV=prod    the other environment of samconfig.toml

  STACK=name                     another name for the stack
  REGION=us-east-1 PROFILE=name  another region or AWS profile than your shell's
  PARAMETERS="Name=value …"      any parameter of template.yaml
  SHIFT=Canary10Percent15Minutes  new code for a tenth of the traffic first, and back if an alarm rings; prod's default
  SHIFT=AllAtOnce                for all of it, as a repair goes out while an alarm rings
  YES=1                          do not ask before a change set is carried out

docs/deploying.md explains them."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What was asked for, completed by samconfig.toml."""

    environment: str
    stack: str
    region: str | None
    parameters: dict[str, str]
    is_confirmed: bool
    shift: str | None = None  # None: no aliases, so nothing to shift between

    def command(self) -> list[str]:
        """`--parameter-overrides` hides what samconfig.toml says of parameters, so it repeats them."""
        region = ["--region", self.region] if self.region else []
        confirmed = ["--no-confirm-changeset"] if self.is_confirmed else []
        overrides = [f"{name}={_quoted(value)}" for name, value in self.parameters.items()]
        where = ["--config-env", self.environment, "--stack-name", self.stack, "--s3-prefix", self.stack]
        # Beside a template that is named, sam looks for its configuration too, and goes on without.
        named = ["--template-file", str(BUILD / "gradual.json"), "--config-file", str(Path("samconfig.toml").resolve())]
        built = named if self.shift else []
        return ["deploy", *where, *region, *confirmed, *built, "--parameter-overrides", *overrides]


def read(asked: Mapping[str, str], configuration: dict[str, Any]) -> Deployment:
    """The deployment that make's variables ask for."""
    environment = asked.get("ENV") or "default"
    settings = configuration[environment].get("deploy", {}).get("parameters", {})
    stack = asked.get("STACK") or configuration[environment]["global"]["parameters"]["stack_name"]
    parameters = _pairs(settings.get("parameter_overrides", "")) | _pairs(asked.get("PARAMETERS", ""))
    if asked.get("EMAIL_FROM"):
        parameters["EmailFrom"] = asked["EMAIL_FROM"]
    region = asked.get("REGION") or settings.get("region") or asked.get("AWS_REGION")  # which boto3 does not read by itself
    is_confirmed = bool(asked.get("YES")) or not settings.get("confirm_changeset")
    shift = asked.get("SHIFT") or DEFAULT_SHIFTS.get(environment)
    return Deployment(environment, stack, region, parameters, is_confirmed, shift)


def reserved(template: dict[str, Any], parameters: Mapping[str, str]) -> int:
    """How many concurrent executions the functions of the template reserve."""
    if _parameter("ReserveConcurrency", template, parameters) != "true":
        return 0
    given = [each.get("Properties", {}).get("ReservedConcurrentExecutions") for each in template["Resources"].values()]
    values = [each["Fn::If"][1] if isinstance(each, dict) and "Fn::If" in each else each for each in given if each]
    return sum(each if isinstance(each, int) else _chosen(each, template, parameters) for each in values)


def _chosen(value: dict[str, Any], template: dict[str, Any], parameters: Mapping[str, str]) -> int:
    """What a parameter, or the row of a mapping that it picks, comes to."""
    if "Fn::FindInMap" in value:
        table, row, column = value["Fn::FindInMap"]
        return int(template["Mappings"][table][_parameter(row["Ref"], template, parameters)][column])
    return int(_parameter(value["Ref"], template, parameters))


def _parameter(name: str, template: dict[str, Any], parameters: Mapping[str, str]) -> str:
    return str(parameters.get(name, template["Parameters"][name]["Default"]))


def obstacles(deployment: Deployment, declared: dict[str, Any], *, can_answer: bool) -> list[str]:
    """What stands in the way on our side, all of it at once."""
    found = [_wrong(name, value, declared) for name, value in deployment.parameters.items()]
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,99}", deployment.stack):
        found.append(f"STACK={deployment.stack} is no name for a stack: letters, digits and hyphens, a letter first.")
    if not any(find_python.works(python, RUNTIME) for python in find_python.candidates(RUNTIME)):
        found.append(
            f"Python {RUNTIME}, the functions' runtime, is not here, and the build needs it. Put python{RUNTIME} on the PATH."
        )
    if deployment.shift and deployment.shift not in SHIFTS:
        found.append(f"SHIFT={deployment.shift}: it is one of {', '.join(SHIFTS)}.")
    if deployment.parameters.get("DatabaseCertificates") == "own" and not OWN_CERTIFICATES.exists():
        found.append(
            f"DatabaseCertificates=own, and there is no {OWN_CERTIFICATES}. docs/deploying.md says what belongs into it."
        )
    if not deployment.is_confirmed and not can_answer:
        found.append(f"{deployment.environment} asks before it acts, and nobody can answer here. Say YES=1 to go on without.")
    return [each for each in found if each]


def check(deployment: Deployment, template: dict[str, Any]) -> int:
    """Say what is about to happen, or everything that keeps it from happening."""
    wrong = obstacles(deployment, template["Parameters"], can_answer=sys.stdin.isatty())
    reservations = 0 if wrong else reserved(template, deployment.parameters)
    aws = deploy_checks.look(deployment.stack, deployment.region, deployment.parameters, reserved=reservations)
    if aws.is_new and aws.region and not wrong:  # a stack that is there keeps parameters that we do not know
        wrong = template_rules.refusals(template, aws.region, deployment.parameters)
    if wrong or aws.obstacles:
        return _refuse(*wrong, *aws.obstacles)
    print("\n".join([f"Deploying {deployment.stack} to {aws.place}.", *(f"Note: {each}" for each in aws.notes)]), flush=True)
    return 0


def main(*, only_check: bool) -> int:
    if os.environ.get("PROFILE"):
        os.environ["AWS_PROFILE"] = os.environ["PROFILE"]
    configuration = tomllib.loads(Path("samconfig.toml").read_text())
    environments = [name for name in configuration if name != "version"]
    if os.environ.get("ENV", "default") not in environments:
        return _refuse(f"ENV={os.environ['ENV']} is not in samconfig.toml, which has {' and '.join(environments)}.")
    try:
        deployment = read(os.environ, configuration)
    except ValueError as error:  # of shlex
        return _refuse(f"PARAMETERS={os.environ['PARAMETERS']} cannot be read: {error}.")
    if only_check:
        return check(deployment, yaml_parse(Path("template.yaml").read_text()))
    if deployment.shift:
        write_gradual(deployment.shift)
    done = subprocess.run([str(Path(sys.executable).with_name("sam")), *deployment.command()], check=False)
    if done.returncode == 0:
        print(deploy_checks.what_next(deployment.stack, deployment.region))
    return done.returncode


def write_gradual(shift: str) -> None:
    """Beside what was built, since it names its folders. Called by the moment: no two deployments have the same name."""
    built = yaml_parse((BUILD / "template.yaml").read_text())
    release = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    (BUILD / "gradual.json").write_text(json.dumps(gradual(built, shift, release), indent=1))


def _refuse(*obstacles: str) -> int:
    print("\n".join(["This cannot be deployed yet:", "", *(f"  - {each}" for each in obstacles), HELP]), file=sys.stderr)
    return 1


def _pairs(given: str | list[str]) -> dict[str, str]:
    """`Name=value` pairs: in one text, as on a command line, or in a list."""
    pairs = shlex.split(given) if isinstance(given, str) else given
    return {name: value for name, _, value in (each.partition("=") for each in pairs)}


def _wrong(name: str, value: str, declared: dict[str, Any]) -> str | None:
    if name not in declared:
        return f"template.yaml has no parameter {name}."
    rules = declared[name]
    if rules.get("AllowedValues") and value not in map(str, rules["AllowedValues"]):
        return f"{name}={value}: it is one of {', '.join(map(str, rules['AllowedValues']))}."
    if rules["Type"] == "Number" and not (
        value.isdecimal() and rules.get("MinValue", 0) <= int(value) <= rules.get("MaxValue", int(value))
    ):
        return f"{name}={value}: it is a number from {rules.get('MinValue', 0)} to {rules.get('MaxValue', 'any')}."
    values = value.split(",") if rules["Type"] == "CommaDelimitedList" else [value]
    if not all(re.fullmatch(rules.get("AllowedPattern", ".*"), each) for each in values):
        return f"{name}={value} does not fit: {rules['Description']}"
    return None


def _quoted(value: str) -> str:
    escaped = value.replace('"', '\\"')
    return f'"{escaped}"'


if __name__ == "__main__":
    sys.exit(main(only_check=sys.argv[1:] == ["check"]))
