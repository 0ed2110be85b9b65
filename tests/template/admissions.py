"""Whom a queue, a topic or a key lets in by a policy of its own: which service, for which action, on whose behalf."""

from typing import Any, NamedTuple

from tests.template.policies import arn
from tests.template.reading import Template, listed, named, of_type

OUR_ACCOUNT = "this account"
ANYBODY = "anybody"  # no condition says on whose behalf
_POLICIES = {"AWS::SQS::Queue": ("AWS::SQS::QueuePolicy", "Queues"), "AWS::SNS::Topic": ("AWS::SNS::TopicPolicy", "Topics")}


class Admission(NamedTuple):
    place: str
    service: str
    action: str
    source: str


def admissions(template: Template, place: str) -> set[Admission]:
    """What the place itself admits. A statement about another place, or of a policy that is attached to none, admits nothing."""
    return {
        Admission(place, service, action, source)
        for statement in _statements(template, place)
        if statement["Effect"] == "Allow" and isinstance(statement["Principal"], dict)
        for service in map(_text, listed(statement["Principal"].get("Service")))
        for action in listed(statement["Action"])
        for source in _sources(template, statement.get("Condition"))
    }


def admissions_by_key(template: Template, key: str) -> set[Admission]:
    """The same of a key, whose policy is part of it."""
    document = of_type(template, "AWS::KMS::Key")[key]["KeyPolicy"]
    return {
        Admission(key, service, action, source)
        for statement in document["Statement"]
        if statement["Effect"] == "Allow" and statement["Resource"] == "*"
        for service in map(_text, listed(statement["Principal"].get("Service")))
        for action in listed(statement["Action"])
        for source in _sources(template, statement.get("Condition"))
    }


def _statements(template: Template, place: str) -> list[dict[str, Any]]:
    kind, places = _POLICIES[template["Resources"][place]["Type"]]
    attached = [each for each in of_type(template, kind).values() if place in map(named, each[places])]
    found = [statement for each in attached for statement in each["PolicyDocument"]["Statement"]]
    return [statement for statement in found if place in [arn(template, each) for each in listed(statement["Resource"])]]


def _sources(template: Template, condition: dict[str, Any] | None) -> list[str]:
    match condition:
        case None:
            return [ANYBODY]
        case {"ArnEquals": {"aws:SourceArn": sources}} if condition in (
            _arns(sources),
            {**_arns(sources), "StringEquals": _ACCOUNT},
        ):
            return [arn(template, each) for each in listed(sources)]
        case {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}} if len(condition) == 1:
            return [arn(template, each) for each in listed(groups)]
        case {"StringEquals": account} if account == _ACCOUNT and len(condition) == 1:
            return [OUR_ACCOUNT]
        case _:
            return []  # a condition that nobody here knows may never hold


_ACCOUNT = {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def _arns(sources: Any) -> dict[str, Any]:
    return {"ArnEquals": {"aws:SourceArn": sources}}


def _text(value: Any) -> str:
    return str(value.get("Fn::Sub", value) if isinstance(value, dict) else value)
