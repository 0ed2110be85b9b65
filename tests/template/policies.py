"""Grants as triples: which action, on which resource, for which purpose. What is in no form that an ARN has is told apart."""

import json
import re
from typing import Any, NamedTuple

from tests.template.reading import Template, listed, named, of_type

# Of these a Ref is the ARN; of the others it is a name or a URL, which no policy understands.
REF_IS_ARN = {
    *("AWS::SecretsManager::Secret", "AWS::SNS::Topic", "AWS::IAM::ManagedPolicy", "AWS::CloudWatch::Alarm"),
    *("AWS::Lambda::Alias", "AWS::Lambda::Version"),
}
_HOLE = re.compile(r"\$\{(\w+)(\.Arn)?\}")


class Grant(NamedTuple):
    action: str
    resource: str
    purpose: str = ""  # what its condition is for; "" without one


def grants_of(template: Template, role: str) -> set[Grant]:
    """What a role may do, by statements of its own and by those of the policies of ours that it takes."""
    return {
        Grant(action, resource, purpose_of(template, statement.get("Condition")))
        for statement in statements_of(template, role)
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in _resources(template, statement)
    }


def statements_of(template: Template, role: str) -> list[dict[str, Any]]:
    own = of_type(template, "AWS::IAM::Role")[role]
    ours = of_type(template, "AWS::IAM::ManagedPolicy")
    taken = [ours[str(named(each))] for each in own.get("ManagedPolicyArns", []) if named(each) in ours]
    documents = [each["PolicyDocument"] for each in (*own.get("Policies", []), *taken)]
    return [statement for document in documents for statement in listed(document["Statement"])]


def arn(template: Template, value: Any) -> str:
    """What an ARN leads to: the logical id of a resource of ours, or the text. Anything else is given back as it is written."""
    match value:
        case str():
            return value
        case {"Ref": name} if template["Resources"].get(name, {}).get("Type") in REF_IS_ARN:
            return str(name)
        case {"Fn::GetAtt": [name, "Arn"]}:
            return str(name)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{name}.{attribute}"
        case {"Fn::Sub": [str(text), dict(parts)]}:
            return _filled(text, {name: arn(template, part) for name, part in parts.items()})
        case {"Fn::Sub": str(text)}:
            whole = _HOLE.fullmatch(text)
            return arn(template, {"Fn::GetAtt": [whole[1], "Arn"]} if whole[2] else {"Ref": whole[1]}) if whole else text
        case {"Fn::Join": [glue, {"Fn::Split": [cut, str(text)]}]}:
            return str(glue).join(text.split(cut))
        case {"Fn::Select": [place, {"Fn::Split": [cut, str(text)]}]}:
            return text.split(cut)[int(place)]
        case _:
            return json.dumps(value)


def purpose_of(template: Template, condition: dict[str, Any] | None) -> str:
    """What the condition of a grant is for, in a word of ours; one that nobody knows is given back as it is written."""
    match condition:
        case None:
            return ""
        case {"StringEquals": {"ses:FromAddress": sender}} if len(condition) == 1:
            return f"from {sender}"
        case {"ForAllValues:StringEquals": _, "StringLike": {"kms:EncryptionContext:purpose": _}}:
            return "sealed values"
        case {"StringEquals": {"kms:ViaService": by, "kms:EncryptionContext:SecretARN": secret}} if _is(by, "secretsmanager"):
            return f"the secret {arn(template, secret)}"
        case {"StringEquals": {"kms:ViaService": by}, "ArnLike": {"kms:EncryptionContext:SecretARN": _}} if _is(
            by, "secretsmanager"
        ):
            return "secrets"
        case {"StringEquals": {"kms:ViaService": by}, "StringLike": {"kms:EncryptionContext:aws:s3:arn": objects}} if _is(
            by, "s3"
        ):
            return " ".join(["objects of", *(arn(template, each) for each in objects)])
        case _:
            return json.dumps(condition)


def _is(by: Any, service: str) -> bool:
    return bool(by == {"Fn::Sub": f"{service}.${{AWS::Region}}.amazonaws.com"})


def _resources(template: Template, statement: dict[str, Any]) -> list[str]:
    excluded = [f"all but {arn(template, each)}" for each in listed(statement.get("NotResource"))]
    return excluded + [arn(template, each) for each in listed(statement.get("Resource"))]


def _filled(text: str, parts: dict[str, str]) -> str:
    return _HOLE.sub(lambda hole: parts.get(hole[1], hole[0]), text)
