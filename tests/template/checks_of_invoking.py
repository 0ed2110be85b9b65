"""Who calls a function is let do so: the schedules, and API Gateway by each of its routes."""

import re
from fnmatch import fnmatchcase
from typing import Any

from tests.template.policies import Grant, arn, grants_of
from tests.template.reading import Template, named, of_type
from tests.template.wiring import function_of, invoked

FUNCTION = "AWS::Lambda::Function"
_PLACEHOLDER = re.compile(r"{[^}]+}")
_ROUTE = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:"


def schedules_may_invoke_what_they_point_at_and_nothing_else(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, "AWS::Scheduler::Schedule").items():
        target = each["Target"]
        wanted = {Grant("lambda:InvokeFunction", arn(template, target["Arn"]))}
        wanted |= (
            {Grant("sqs:SendMessage", arn(template, target["DeadLetterConfig"]["Arn"]))}
            if "DeadLetterConfig" in target
            else set()
        )
        violations += [
            f"{name}: {' '.join(grant)}" for grant in sorted(wanted ^ grants_of(template, str(named(target["RoleArn"]))))
        ]
        if function_of(template, target["Arn"]) is None:
            violations.append(f"{name} points at nothing")
    return violations


def failures_are_caught_of_the_very_version_that_is_invoked(template: Template) -> list[str]:
    """What is said of one version, or alias, does not count for another: a timer that fails there would tell nobody."""
    configured = [
        (function_of(template, each["FunctionName"]), each.get("Qualifier"))
        for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()
        if each.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    ]
    called = [each["Target"]["Arn"] for each in of_type(template, "AWS::Scheduler::Schedule").values()]
    called += [
        each["Properties"]["ServiceToken"] for each in template["Resources"].values() if each["Type"].startswith("Custom::")
    ]
    wanted = [(function_of(template, each), _qualifier(template, invoked(template, each))) for each in called]
    return [f"{function}: {qualifier}" for function, qualifier in wanted if (function, qualifier) not in configured]


def routes_may_invoke_the_functions_they_lead_to(template: Template) -> list[str]:
    """Else API Gateway answers 500 by itself."""
    permissions = [each for each in of_type(template, "AWS::Lambda::Permission").values() if _is_for_routes(each)]
    allowed = [(invoked(template, each["FunctionName"]), arn(template, _with_apis(each["SourceArn"]))) for each in permissions]
    return [
        f"{method} {path}"
        for api, each in of_type(template, "AWS::ApiGatewayV2::Api").items()
        for path, methods in each["Body"]["paths"].items()
        for method, route in methods.items()
        for target in [invoked(template, route["x-amazon-apigateway-integration"]["uri"])]
        for called in [f"{_ROUTE}${{{api}}}/*/{_verb(method)}{_PLACEHOLDER.sub('*', path)}"]
        if not any(function == target and fnmatchcase(called, source) for function, source in allowed)
    ]


def routes_lead_to_functions(template: Template) -> list[str]:
    return [
        f"{method} {path}"
        for each in of_type(template, "AWS::ApiGatewayV2::Api").values()
        for path, methods in each["Body"]["paths"].items()
        for method, route in methods.items()
        if function_of(template, route["x-amazon-apigateway-integration"]["uri"]) not in of_type(template, FUNCTION)
        or route["x-amazon-apigateway-integration"]["type"] != "aws_proxy"
        or route["x-amazon-apigateway-integration"].get("payloadFormatVersion") != "2.0"
    ]


def _with_apis(source: Any) -> Any:
    """A source with the APIs that it names by reference written as text."""
    match source:
        case {"Fn::Sub": [text, parts]}:
            return {"Fn::Sub": [text, {name: f"${{{named(part)}}}" if named(part) else part for name, part in parts.items()}]}
        case _:
            return source


def _qualifier(template: Template, name: str | None) -> Any:
    """By which version of it the function is meant: an alias by its name, the function itself by its latest."""
    resource = template["Resources"].get(name, {})
    return resource["Properties"]["Name"] if resource.get("Type") == "AWS::Lambda::Alias" else "$LATEST"


def _is_for_routes(permission: dict[str, Any]) -> bool:
    return bool(permission["Principal"] == "apigateway.amazonaws.com" and permission["Action"] == "lambda:InvokeFunction")


def _verb(method: str) -> str:
    return "*" if method == "x-amazon-apigateway-any-method" else method.upper()
