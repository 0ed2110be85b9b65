"""What each function's role allows, as SAM and CloudFormation would put it together from the template."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from devstack.iam import policies
from devstack.iam.policies import Decision
from devstack.intrinsics import ACCOUNT, Evaluator, TemplateError

Properties = dict[str, Any]
Statements = list[dict[str, Any]]

RECEIVING = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
_LOGS = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
_NETWORK = [
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
]
_TRACES = ["xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSampling*"]
# Policies that AWS keeps, by the end of their ARN: what they allow, of everything.
OF_AWS = {
    "AWSLambdaBasicExecutionRole": _LOGS,
    "AWSLambdaVPCAccessExecutionRole": _LOGS + _NETWORK,
    "AWSLambdaSQSQueueExecutionRole": _LOGS + RECEIVING,
    "AWSXrayWriteOnlyAccess": _TRACES,
    "AWSXRayDaemonWriteAccess": _TRACES,
}
POLICY, ROLE = "AWS::IAM::ManagedPolicy", "AWS::IAM::Role"
ATTACHED = ("AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::UserPolicy", "AWS::IAM::GroupPolicy")


@dataclass(frozen=True, slots=True)
class Role:
    """By its name: the statements of all its policies, with every reference resolved."""

    name: str
    statements: tuple[dict[str, Any], ...] = field(repr=False)


class Roles:
    """The roles of a template, for its functions."""

    def __init__(self, resources: dict[str, dict[str, Any]], evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._managed: dict[str, Statements] = {}
        self._roles: dict[str, tuple[str, Properties]] = {}
        for name, resource in resources.items():
            if resource["Type"] in ATTACHED:
                raise TemplateError(f"{name} is a policy outside of its role; the local stack reads roles whole")
            if resource["Type"] == POLICY:
                given = evaluator.value(resource["Properties"])
                if given.keys() & {"Roles", "Users", "Groups"}:
                    raise TemplateError(f"{name} attaches itself; the local stack reads what a role or a function names")
                self._managed[evaluator.value({"Ref": name})] = policies_of(given["PolicyDocument"])
            if resource["Type"] == ROLE:
                self._roles[evaluator.value({"Fn::GetAtt": [name, "Arn"]})] = (
                    name,
                    evaluator.value(resource.get("Properties", {})),
                )

    def of(self, function: str, properties: Properties) -> Role:
        """The role that the function names, or the one that SAM makes for it."""
        if "PermissionsBoundary" in properties:
            raise TemplateError(f"{function}: the local stack does not know permissions boundaries")
        try:
            if "Role" in properties:
                name, statements = self._named(properties["Role"])
            else:
                name, statements = f"{function}Role", list(self._made_by_sam(properties))
            policies.read({"Statement": statements})
        except TemplateError as error:
            raise TemplateError(f"the role of {function}: {error}") from error
        return Role(name, tuple(statements))

    def _named(self, arn: str) -> tuple[str, Statements]:
        if arn not in self._roles:
            raise TemplateError(f"{arn} is not a role of this template")
        name, properties = self._roles[arn]
        if "PermissionsBoundary" in properties:
            raise TemplateError("the local stack does not know permissions boundaries")
        _check_that_lambda_may_take_it(properties["AssumeRolePolicyDocument"])
        statements = [one for each in properties.get("ManagedPolicyArns", []) for one in self._of_policy(each)]
        for policy in properties.get("Policies", []):
            statements += policies_of(policy["PolicyDocument"])
        return name, statements

    def _made_by_sam(self, properties: Properties) -> Iterator[dict[str, Any]]:
        yield from self._of_policy("AWSLambdaBasicExecutionRole")
        if "VpcConfig" in properties:
            yield from self._of_policy("AWSLambdaVPCAccessExecutionRole")
        if properties.get("Tracing") == "Active":
            yield from self._of_policy("AWSXrayWriteOnlyAccess")
        if any(event["Type"] == "SQS" for event in properties.get("Events", {}).values()):
            yield from self._of_policy("AWSLambdaSQSQueueExecutionRole")
        for destination in properties.get("EventInvokeConfig", {}).get("DestinationConfig", {}).values():
            if destination.get("Type") == "SQS":
                yield {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": destination["Destination"]}
        given = properties.get("Policies", [])
        for each in given if isinstance(given, list) else [given]:
            yield from self._of_policy(each)

    def _of_policy(self, given: Any) -> Statements:
        if isinstance(given, dict):
            if "Statement" not in given:
                raise TemplateError(f"the local stack does not know SAM's policy template {', '.join(given)}")
            return policies_of(given)
        if given in self._managed:
            return self._managed[given]
        actions = OF_AWS.get(str(given).rpartition("/")[2])
        if actions is None:
            raise TemplateError(f"the local stack does not know what the policy {given} allows")
        return [{"Effect": "Allow", "Action": actions, "Resource": "*"}]


def policies_of(document: dict[str, Any]) -> Statements:
    statements = document["Statement"]
    return statements if isinstance(statements, list) else [statements]


def _check_that_lambda_may_take_it(document: dict[str, Any]) -> None:
    trust = policies.read({"Statement": [{"Resource": "*", **each} for each in policies_of(document)]})
    lets = trust.for_principals(("lambda.amazonaws.com",)).decide("sts:AssumeRole", "*", {"aws:sourceaccount": ACCOUNT})
    if lets is not Decision.ALLOWED:
        raise TemplateError("its AssumeRolePolicyDocument does not let lambda.amazonaws.com assume it")
