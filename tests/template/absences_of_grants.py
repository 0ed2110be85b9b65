"""Every grant of every function is taken away in turn, whole and in part."""

from collections.abc import Iterator

from tests.template import checks_of_grants as grants
from tests.template import reading
from tests.template.everything import EVERYTHING, Place, at, fault, resources
from tests.template.faults import Fault
from tests.template.reading import listed


def _roles_of_functions() -> list[str]:
    functions = reading.of_type(reading.standing(**EVERYTHING), "AWS::Lambda::Function")
    return [str(reading.named(each["Role"])) for each in functions.values()]


def _statements(role: str) -> Iterator[Place]:
    policies: Place = ("Resources", role, "Properties", "Policies")
    for number, policy in enumerate(at(policies)):
        for other, _ in enumerate(policy["PolicyDocument"]["Statement"]):
            yield (*policies, number, "PolicyDocument", "Statement", other)


def _of_a_statement(place: Place) -> Iterator[Fault]:
    """It is gone; it allows one action less; it names one resource less, or one by its name instead of its ARN."""
    check, statement = grants.functions_may_do_what_their_code_does_and_nothing_else, at(place)
    yield fault(check, place)
    yield fault(check, (*place, "Effect"), "Deny")
    for key in ("Action", "Resource"):
        parts = listed(statement.get(key))
        if len(parts) > 1:
            yield from (fault(check, (*place, key, number)) for number in range(len(parts)))
    for number, resource in enumerate(listed(statement.get("Resource"))):
        if "Fn::GetAtt" in resource:
            spot = (*place, "Resource", number) if isinstance(statement["Resource"], list) else (*place, "Resource")
            yield fault(check, spot, {"Ref": reading.named(resource)})
    yield fault(check, place, {**statement, "Condition": {"StringEquals": {"aws:SourceVpc": "vpc-1"}}})


def faults() -> Iterator[Fault]:
    for role in _roles_of_functions():
        for place in _statements(role):
            yield from _of_a_statement(place)
        policies = ("Resources", role, "Properties", "ManagedPolicyArns")
        for number, policy in enumerate(at(policies)):
            if reading.named(policy):
                yield fault(grants.functions_may_do_what_their_code_does_and_nothing_else, (*policies, number))
        yield fault(grants.roles_let_lambda_do_its_part, policies, [])
        yield fault(
            grants.roles_forbid_nothing, (*policies[:-1], "PermissionsBoundary"), "arn:aws:iam::aws:policy/ReadOnlyAccess"
        )
    for role in resources("AWS::IAM::Role"):
        trust = ("Resources", role, "Properties", "AssumeRolePolicyDocument", "Statement", 0)
        yield fault(grants.roles_are_taken_by_whoever_they_are_for, (*trust, "Principal"), {"Service": "ec2.amazonaws.com"})
        yield fault(grants.roles_are_taken_by_whoever_they_are_for, (*trust, "Effect"), "Deny")
