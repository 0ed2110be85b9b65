"""What a policy decides, case by case; and what is not known is refused, not allowed."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from devstack.iam import policies
from devstack.iam.asks import TLS
from devstack.iam.patterns import matches, matches_arn
from devstack.iam.policies import Decision, Policy
from devstack.intrinsics import TemplateError

PLAN = "arn:aws:sqs:us-east-1:123456789012:plan"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
ALLOWED, NOT_ALLOWED, DENIED = Decision.ALLOWED, Decision.NOT_ALLOWED, Decision.DENIED
SEALED = {"kms:encryptioncontext:tenant": "t", "kms:encryptioncontextkeys": ("tenant", "purpose")}


def policy(*statements: dict[str, Any]) -> Policy:
    usual = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": PLAN}
    return policies.read({"Statement": [{**({} if "NotResource" in each else usual), **each} for each in statements]})


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("*", "", True),
        ("*", "arn:aws:sqs:::plan\nx", True),
        ("a*c", "abbc", True),
        ("a*c", "ac", True),
        ("a*c", "acd", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?*", "a", False),
        ("a.c", "abc", False),
        ("a[bc]", "ab", False),
        ("a[bc]", "a[bc]", True),
        ("arn:*:sqs:*:*:pl*n", PLAN, True),
        ("**", "x", True),
        ("", "x", False),
    ],
)
def test_a_star_is_any_text_and_a_question_mark_one_character(pattern: str, value: str, expected: bool) -> None:
    assert matches(pattern, value) is expected


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("arn:aws:sns:us-east-1:1:topic", "arn:aws:sns:us-east-1:1:topic", True),
        ("arn:aws:sns:*:1:top*", "arn:aws:sns:us-east-1:1:topic", True),
        ("arn:aws:sns:*:topic", "arn:aws:sns:us-east-1:1:topic", False),
        ("arn:aws:secretsmanager:r:1:secret:*", "arn:aws:secretsmanager:r:1:secret:a-b", True),
        ("*", "arn:aws:sns:us-east-1:1:topic", False),
        ("arn:aws:s3:::bucket", "no arn", False),
    ],
)
def test_an_arn_is_compared_part_by_part(pattern: str, value: str, expected: bool) -> None:
    assert matches_arn(pattern, value) is expected


@pytest.mark.parametrize(
    ("statements", "action", "resource", "expected"),
    [
        ([{}], "sqs:SendMessage", PLAN, ALLOWED),
        ([{}], "sqs:sendmessage", PLAN, ALLOWED),
        ([{}], "sqs:SendMessages", PLAN, NOT_ALLOWED),
        ([{}], "sqs:SendMessage", PLAN.upper(), NOT_ALLOWED),
        ([{"Action": "sqs:Send*"}], "sqs:SendMessage", PLAN, ALLOWED),
        ([{"Action": "sqs:*Message"}], "sqs:ReceiveMessage", PLAN, ALLOWED),
        ([{"Action": ["kms:Decrypt", "sqs:SendMessage"]}], "sqs:SendMessage", PLAN, ALLOWED),
        ([{"Action": "*"}], "s3:GetObject", PLAN, ALLOWED),
        ([{"Resource": ["arn:x", PLAN]}], "sqs:SendMessage", PLAN, ALLOWED),
        ([{"Resource": PLAN + "*"}], "sqs:SendMessage", PLAN + "-dead", ALLOWED),
        ([{"Resource": PLAN}], "sqs:SendMessage", PLAN + "-dead", NOT_ALLOWED),
        ([{"Resource": PLAN}], "sqs:SendMessage", "*", NOT_ALLOWED),
        ([{}, {"Effect": "Deny", "Action": "sqs:*"}], "sqs:SendMessage", PLAN, DENIED),
        ([{"Effect": "Deny"}], "sqs:SendMessage", PLAN, DENIED),
        ([{"Effect": "Allow", "Action": "sns:Publish", "NotResource": "arn:aws:sns:*:*:*"}], "sns:Publish", "*", ALLOWED),
        (
            [{"Effect": "Allow", "Action": "sns:Publish", "NotResource": "arn:aws:sns:*:*:*"}],
            "sns:Publish",
            "arn:aws:sns:us-east-1:1:topic",
            NOT_ALLOWED,
        ),
        ([], "sqs:SendMessage", PLAN, NOT_ALLOWED),
    ],
)
def test_only_what_a_statement_allows_and_none_denies_is_allowed(
    statements: list[dict[str, Any]], action: str, resource: str, expected: Decision
) -> None:
    asked = policy(*statements)

    assert asked.decide(action, resource, TLS) is expected
    assert asked.decide(action, resource, TLS) is expected, "also when it is remembered"


@pytest.mark.parametrize(
    ("condition", "context", "holds"),
    [
        ({"StringEquals": {"kms:ViaService": "s3"}}, {"kms:viaservice": "s3"}, True),
        ({"StringEquals": {"KMS:viaservice": "s3"}}, {"kms:viaservice": "s3"}, True),
        ({"StringEquals": {"kms:ViaService": "s*"}}, {"kms:viaservice": "s3"}, False),
        ({"StringEquals": {"kms:ViaService": ["x", "s3"]}}, {"kms:viaservice": "s3"}, True),
        ({"StringEquals": {"kms:ViaService": "s3"}}, {}, False),
        ({"StringEquals": {"kms:ViaService": "s3", "kms:EncryptionContext:a": "b"}}, {"kms:viaservice": "s3"}, False),
        ({"StringLike": {"kms:EncryptionContext:tenant": "?*"}}, SEALED, True),
        ({"StringLike": {"kms:EncryptionContext:tenant": "?*"}}, {"kms:encryptioncontext:tenant": ""}, False),
        ({"StringLike": {"kms:EncryptionContext:purpose": "?*"}}, SEALED, False),
        ({"ForAllValues:StringEquals": {"kms:EncryptionContextKeys": ["tenant", "purpose"]}}, SEALED, True),
        ({"ForAllValues:StringEquals": {"kms:EncryptionContextKeys": ["tenant"]}}, SEALED, False),
        ({"ForAllValues:StringEquals": {"kms:EncryptionContextKeys": ["tenant"]}}, {}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:sns:*:*:a*"}}, {"aws:sourcearn": "arn:aws:sns:r:1:abc"}, True),
        ({"ArnEquals": {"aws:SourceArn": "arn:aws:sns:r:1:abc"}}, {"aws:sourcearn": "arn:aws:sns:r:1:abd"}, False),
        ({"Bool": {"aws:SecureTransport": "false"}}, {"aws:securetransport": "true"}, False),
        ({"Bool": {"aws:SecureTransport": True}}, {"aws:securetransport": "true"}, True),
    ],
)
def test_a_statement_counts_while_all_its_conditions_hold(
    condition: dict[str, Any], context: dict[str, Any], holds: bool
) -> None:
    asked = policy({"Action": "kms:Decrypt", "Resource": KEY, "Condition": condition})

    assert asked.decide("kms:Decrypt", KEY, context) is (ALLOWED if holds else NOT_ALLOWED)


def test_what_depends_on_a_condition_is_not_remembered() -> None:
    asked = policy({"Condition": {"StringEquals": {"ses:FromAddress": "us@example.com"}}})

    assert asked.decide("sqs:SendMessage", PLAN, {"ses:fromaddress": "us@example.com"}) is ALLOWED
    assert asked.decide("sqs:SendMessage", PLAN, {"ses:fromaddress": "you@example.com"}) is NOT_ALLOWED


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "MOST_REMEMBERED", 10)
    asked = policy({"Resource": "*"})

    assert all(asked.decide("sqs:SendMessage", f"{PLAN}{n}", TLS) is ALLOWED for n in range(100))
    assert len(asked._about) <= 10


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ({"NotAction": "sqs:*"}, "NotAction"),
        ({"NotPrincipal": "*"}, "NotPrincipal"),
        ({"Effect": "allow"}, "allow"),
        ({"Action": "SendMessage"}, "SendMessage"),
        ({"Action": []}, "texts"),
        ({"Resource": [{"Ref": "Plan"}]}, "texts"),
        ({"Resource": "arn:aws:s3:::b/${aws:username}"}, "policy variables"),
        ({"NotResource": PLAN, "Resource": PLAN}, "NotResource"),
        ({"Principal": {"Federated": "x"}}, "Federated"),
        ({"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}, "IpAddress"),
        ({"Condition": {"StringEqualsIfExists": {"kms:ViaService": "s3"}}}, "StringEqualsIfExists"),
        ({"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}}, "aws:PrincipalOrgID"),
        ({"Condition": {"StringEquals": {"kms:EncryptionContextKeys": "tenant"}}}, "ForAllValues:"),
        ({"Condition": {"StringEquals": {"kms:ViaService": "${aws:x}"}}}, "policy variables"),
    ],
)
def test_what_is_not_known_is_refused_by_name(statement: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        policies.read({"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": PLAN, **statement}]})


@pytest.mark.parametrize(
    ("action", "resource", "context", "words"),
    [
        ("sqs:SendMessage", PLAN + "2", {}, f"it is allowed on {PLAN}"),
        ("sqs:PurgeQueue", PLAN, {}, "no statement allows this action on anything"),
        ("kms:Decrypt", KEY, {"kms:viaservice": "s3"}, "kms:viaservice must be sm (StringEquals) but it is s3"),
    ],
)
def test_whoever_looks_for_what_is_missing_is_told_what_comes_close(
    action: str, resource: str, context: dict[str, str], words: str
) -> None:
    asked = policy({}, {"Action": "kms:Decrypt", "Resource": KEY, "Condition": {"StringEquals": {"kms:ViaService": "sm"}}})

    assert asked.nearest(action, resource, context) == words


@pytest.mark.parametrize("condition", [{}, {"Condition": {"Bool": {"aws:SecureTransport": "true"}}}])
def test_a_decision_costs_the_same_however_much_a_role_allows(condition: dict[str, Any]) -> None:
    """Counted in steps: the second time, only the statements about this action and resource are looked at."""
    steps = []
    for many in (1, 500):
        asked = policy(condition, *({"Resource": f"{PLAN}-{n}"} for n in range(many)))
        asked.decide("sqs:SendMessage", PLAN, TLS)
        steps.append(steps_of(lambda asked=asked: asked.decide("sqs:SendMessage", PLAN, TLS)))

    assert 0 < steps[1] <= steps[0]


def steps_of(work: Callable[[], object]) -> int:
    steps = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        steps += event == "line" and "/devstack/iam/" in frame.f_code.co_filename
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps
