"""What only AWS can say before a deployment: who we are there, what the stack's state is, whether mail will go out."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tools import name_checks

NOT_RESERVED = 100  # executions that AWS keeps free of reservations
_REACHED = ("sqs", "sns", "kms", "secretsmanager", "sesv2")  # what the functions call in every installation
_PATIENCE = Config(connect_timeout=10, read_timeout=20, retries={"total_max_attempts": 2})


@dataclass(slots=True)
class Findings:
    """Obstacles end the deployment before it begins; notes are printed and may wait."""

    place: str = ""
    region: str | None = None
    is_new: bool = True  # whether this is the stack's first deployment, as far as anybody knows
    obstacles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def look(stack: str, region: str | None, parameters: Mapping[str, str], *, reserved: int) -> Findings:
    """`reserved` is how many concurrent executions the functions want to themselves."""
    findings = Findings()
    try:
        session = boto3.Session(region_name=region)
        credentials = session.get_credentials()
    except BotoCoreError as error:  # such as a profile that does not exist
        return Findings(obstacles=[f"{error}."])
    findings.region = session.region_name
    if session.region_name is None:
        findings.obstacles.append("There is no region. Say REGION=us-east-1, or set AWS_REGION.")
    if credentials is None:
        findings.obstacles.append("There are no AWS credentials. Log in (`aws sso login`, `aws configure`), or say PROFILE=….")
    if not findings.obstacles:
        try:
            account = _client(session, "sts").get_caller_identity()["Account"]
        except (BotoCoreError, ClientError) as error:
            return Findings(
                obstacles=[f"AWS does not say whose credentials these are: {error}", *_missing_sender(parameters, is_new=True)]
            )
        findings.place = f"{session.region_name}, account {account}"
        findings.is_new = _look_at_stack(_client(session, "cloudformation"), stack, parameters, findings)
        is_verified_here = parameters.get("VerifyEmailDomain") == "true"
        look_at_mail(_client(session, "sesv2"), None if is_verified_here else parameters.get("EmailFrom"), findings)
        if findings.is_new:
            findings.obstacles += name_checks.obstacles(_client(session, "route53"), _client(session, "sesv2"), parameters)
        if (
            findings.is_new
            and parameters.get("PrivateEndpoints", "false") == "false"
            and not parameters.get("ExistingDatabaseHost")
        ):
            look_at_ipv6(session.region_name, findings)
        if findings.is_new and reserved:
            look_at_concurrency(_client(session, "lambda"), reserved, findings)
    findings.obstacles[:0] = _missing_sender(parameters, is_new=findings.is_new)
    return findings


def what_next(stack: str, region: str | None) -> str:
    """The last words of a deployment."""
    cloudformation = _client(boto3.Session(region_name=region), "cloudformation")
    (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}
    return (
        f"\nIs it up?       curl {outputs.get('ApiUrl')}/ready\n"
        f"The console:    {outputs.get('ApiUrl')}/console\n"
        f"The admin key:  aws secretsmanager get-secret-value --query SecretString --output text "
        f"--secret-id {outputs.get('AdminKeySecretArn')}"
    )


def _missing_sender(parameters: Mapping[str, str], *, is_new: bool) -> list[str]:
    if "EmailFrom" in parameters or not is_new:  # an update keeps what the stack has
        return []
    return ["EMAIL_FROM is missing: the sender of every email, an address that SES has verified, itself or by its domain."]


def _look_at_stack(cloudformation: Any, stack: str, parameters: Mapping[str, str], findings: Findings) -> bool:
    """Whether this is the stack's first deployment."""
    try:
        (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" not in str(error):
            findings.obstacles.append(f"CloudFormation does not say whether there is a stack {stack}: {error}")
        return True
    status = found["StackStatus"]
    if status in {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"}:
        findings.obstacles.append(
            f"The stack {stack} is {status}: its first deployment failed, and CloudFormation only lets it be deleted. "
            f"Read why (`aws cloudformation describe-stack-events --stack-name {stack}`), then "
            f"`aws cloudformation delete-stack --stack-name {stack}`."
        )
    elif status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        findings.obstacles.append(f"The stack {stack} is {status}. Wait for that to end.")
    given = {each["ParameterKey"]: each.get("ParameterValue", "") for each in found.get("Parameters", [])}
    if given.get("DatabaseSnapshot") and parameters.get("DatabaseSnapshot") == "":
        findings.obstacles.append(
            f"The database of {stack} was made from the snapshot {given['DatabaseSnapshot']}. Without it CloudFormation "
            "would make an empty database and delete yours: leave DatabaseSnapshot out, and the stack keeps it."
        )
    # what was only imported (docs/restoring.md) has no parameters of a deployment yet
    return bool(status == "REVIEW_IN_PROGRESS" or (status == "IMPORT_COMPLETE" and "EmailFrom" not in given))


def look_at_mail(ses: Any, sender: str | None, findings: Findings) -> None:
    try:
        if sender and not any(_is_verified(ses, identity) for identity in _identities(sender)):
            findings.notes.append(
                f"SES has verified neither {sender} nor its domain in this region, and refuses mail from it until then: "
                f"`aws sesv2 create-email-identity --email-identity {sender.partition('@')[2]}`."
            )
        if not ses.get_account()["ProductionAccessEnabled"]:
            findings.notes.append(
                "SES is in its sandbox in this region: until you ask for production access, only verified addresses get mail."
            )
    except (BotoCoreError, ClientError):
        pass  # who may deploy need not be allowed to read this


def _identities(sender: str) -> list[str]:
    """The address, its domain, and the domains above that: a verified one covers what is below it."""
    labels = sender.partition("@")[2].split(".")
    return [sender, *(".".join(labels[first:]) for first in range(len(labels) - 1))]


def _is_verified(ses: Any, identity: str) -> bool:
    try:
        return bool(ses.get_email_identity(EmailIdentity=identity)["VerifiedForSendingStatus"])
    except ses.exceptions.NotFoundException:
        return False


def look_at_ipv6(region: str, findings: Findings) -> None:
    """Without endpoints in the network each service must have an IPv6 address, which the names themselves say."""
    hosts = [urlsplit(_dual_stack(service, region)).hostname or "" for service in _REACHED]
    if not _has_address(f"sqs.{region}.amazonaws.com", socket.AF_UNSPEC):
        return  # nobody answers for any name here
    if without := [host for host in hosts if not _has_address(host, socket.AF_INET6)]:
        findings.obstacles.append(
            f"In {region} no IPv6 address leads to {', '.join(without)}, and without endpoints the functions have no other way. "
            "Say PARAMETERS='PrivateEndpoints=true'."
        )


def _dual_stack(service: str, region: str) -> str:
    """Where the functions' own SDK looks for it."""
    config = Config(use_dualstack_endpoint=True, ignore_configured_endpoint_urls=True)  # type: ignore[call-arg]
    return str(boto3.client(service, region_name=region, config=config).meta.endpoint_url)  # type: ignore[call-overload]


def _has_address(host: str, family: int) -> bool:
    try:
        return bool(socket.getaddrinfo(host, 443, family, socket.SOCK_STREAM))
    except OSError:
        return False


def look_at_concurrency(functions: Any, reserved: int, findings: Findings) -> None:
    """A reservation that the account cannot give would fail the deployment after the quarter of an hour that a database takes."""
    try:
        free = functions.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"]
    except (BotoCoreError, ClientError):
        return
    if free - reserved < NOT_RESERVED:
        findings.obstacles.append(
            f"The functions reserve {reserved} concurrent executions and AWS wants {NOT_RESERVED} left free, but this account "
            f"has {free}. Say PARAMETERS='ReserveConcurrency=false', or ask AWS for more."
        )


def _client(session: boto3.Session, service: str) -> Any:
    return session.client(service, config=_PATIENCE)  # type: ignore[call-overload]
