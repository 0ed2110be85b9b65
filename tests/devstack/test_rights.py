"""A function may do what its role in template.yaml allows. Each permission that is taken away makes the call fail, as in AWS."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from botocore.exceptions import ClientError

from devstack.aws import LocalAws, _client
from devstack.gateway import Gateway
from devstack.iam import policies
from devstack.iam.asks import TLS
from devstack.iam.callers import Callers, key_id
from devstack.iam.guard import Judge
from devstack.iam.policies import Decision
from devstack.iam.polling import check_that_pollers_may_receive
from devstack.intrinsics import TemplateError
from devstack.post_office import PostOffice
from devstack.post_office.rules import Rules
from devstack.stack import Stack
from devstack.state import State
from tests.devstack.planted import FUNCTION_ARN, PARAMETERS, ROOT, Document, Known, planted, read, without, without_policy

APNS, FCM = PARAMETERS["ApnsApplicationArn"], PARAMETERS["FcmApplicationArn"]
MAIL = {
    "FromEmailAddress": "Tocsin <tocsin@example.com>",
    "Destination": {"ToAddresses": ["ada@example.com"]},
    "Content": {"Simple": {"Subject": {"Data": "Hello"}, "Body": {"Text": {"Data": "Hi"}}}},
    "ConfigurationSetName": "tocsin-local-EmailConfigurationSet",
}
BUCKET = "tocsin-local-archivebucket"
TENANT = {"tenant": "1", "purpose": "provider:sendgrid"}


@dataclass
class Cloud:
    """The local AWS and the post office, for whoever has a function's key id."""

    aws: LocalAws
    office: PostOffice
    known: Known

    def client(self, service: str, function: str) -> Any:
        at = self.office.url if service in ("sesv2", "sns") else self.aws.url
        return _client(service, at, key_id(function))

    def queue(self, name: str) -> str:
        return f"{self.aws.url}/123456789012/tocsin-local-{name}"

    def secret(self, name: str) -> str:
        return self.known[name, "Ref"]

    @property
    def key(self) -> str:
        return self.known["DataKey", "Arn"]

    def sealed(self, context: dict[str, str]) -> bytes:
        answer = self.aws.client("kms").encrypt(KeyId=self.key, Plaintext=b"x", EncryptionContext=context)
        return bytes(answer["CiphertextBlob"])

    def grant(self, path: Path) -> None:
        self.aws.grant(read(path, self.known, self.aws.url))


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("state")
    state = State(folder)
    state.open()
    aws = LocalAws(state)
    try:
        aws.start()
        known = aws.create(read(ROOT / "template.yaml", endpoint=aws.url))
        with PostOffice(folder / "ledger.sqlite3", rules=Rules(Judge(Callers(aws.rights)))) as office:
            yield Cloud(aws, office, known)
    finally:
        aws.stop()
        state.close()


@pytest.fixture
def granted(cloud: Cloud) -> Cloud:
    """The rights are those of the template as it is."""
    cloud.grant(ROOT / "template.yaml")
    return cloud


def send(cloud: Cloud, function: str, queue: str) -> Any:
    return cloud.client("sqs", function).send_message(QueueUrl=cloud.queue(queue), MessageBody="x")


def send_batch(cloud: Cloud, function: str, queue: str) -> Any:
    entries = [{"Id": "1", "MessageBody": "x"}]
    return cloud.client("sqs", function).send_message_batch(QueueUrl=cloud.queue(queue), Entries=entries)


def receive(cloud: Cloud, function: str, queue: str) -> Any:
    return cloud.client("sqs", function).receive_message(QueueUrl=cloud.queue(queue))


def read_secret(cloud: Cloud, function: str, secret: str) -> Any:
    return cloud.client("secretsmanager", function).get_secret_value(SecretId=cloud.secret(secret))


def put_secret(cloud: Cloud, function: str, secret: str) -> Any:
    return cloud.client("secretsmanager", function).put_secret_value(SecretId=cloud.secret(secret), SecretString="x")


def seal(cloud: Cloud, function: str, context: dict[str, str]) -> Any:
    return cloud.client("kms", function).encrypt(KeyId=cloud.key, Plaintext=b"x", EncryptionContext=context)


def unseal(cloud: Cloud, function: str, context: dict[str, str]) -> Any:
    return cloud.client("kms", function).decrypt(CiphertextBlob=cloud.sealed(context), EncryptionContext=context)


def put_object(cloud: Cloud, function: str, key: str, **more: str) -> Any:
    return cloud.client("s3", function).put_object(Bucket=BUCKET, Key=key, Body=b"x", **more)


def tag_object(cloud: Cloud, function: str, key: str) -> Any:
    return put_object(cloud, function, key, Tagging="a=b")


def use_another_key(cloud: Cloud, function: str, key: str) -> Any:
    other = cloud.known["LogKey", "Arn"]
    return put_object(cloud, function, key, ServerSideEncryption="aws:kms", SSEKMSKeyId=other)


def copy_object(cloud: Cloud, function: str, key: str) -> Any:
    return cloud.client("s3", function).copy_object(Bucket=BUCKET, Key=key, CopySource=f"{BUCKET}/tenant=1/secret")


def delete_objects(cloud: Cloud, function: str, key: str) -> Any:
    return cloud.client("s3", function).delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key}]})


def mail(cloud: Cloud, function: str, changes: dict[str, str]) -> Any:
    return cloud.client("sesv2", function).send_email(**MAIL | changes)


def text(cloud: Cloud, function: str, number: str) -> Any:
    return cloud.client("sns", function).publish(PhoneNumber=number, Message="x")


def register(cloud: Cloud, function: str, application: str) -> Any:
    return cloud.client("sns", function).create_platform_endpoint(PlatformApplicationArn=application, Token="t")


def push(cloud: Cloud, function: str, application: str) -> Any:
    sns = _client("sns", cloud.office.url, "test")
    arn = sns.create_platform_endpoint(PlatformApplicationArn=application, Token="t")["EndpointArn"]
    return cloud.client("sns", function).publish(TargetArn=arn, Message="x")


def ask_depth(cloud: Cloud, function: str, queue: str) -> Any:
    return cloud.client("sqs", function).get_queue_attributes(QueueUrl=cloud.queue(queue), AttributeNames=["All"])


def ask_account(cloud: Cloud, function: str, _: None) -> Any:
    return cloud.client("sesv2", function).get_account()


def ask_identity(cloud: Cloud, function: str, name: str) -> Any:
    return cloud.client("sesv2", function).get_email_identity(EmailIdentity=name)


Call = Callable[[Cloud, str, Any], Any]
# What functions do, the permission that each needs for it, and the code of its refusal.
CALLS: list[tuple[Call, str, Any, str, str]] = [
    (send, "IntakeFunction", "plan", "sqs:SendMessage", "AccessDenied"),
    (send_batch, "SweepFunction", "trigger", "sqs:SendMessage", "AccessDenied"),
    (receive, "DispatchFunction", "email", "sqs:ReceiveMessage", "AccessDenied"),
    (read_secret, "AdminFunction", "AppDatabaseSecret", "secretsmanager:GetSecretValue", "AccessDeniedException"),
    (put_secret, "MigrateFunction", "AdminKeySecret", "secretsmanager:PutSecretValue", "AccessDeniedException"),
    (put_secret, "MigrateFunction", "AdminKeySecret", "kms:GenerateDataKey", "AccessDeniedException"),
    (seal, "AdminFunction", TENANT, "kms:Encrypt", "AccessDeniedException"),
    (unseal, "DispatchFunction", TENANT, "kms:Decrypt", "AccessDeniedException"),
    (unseal, "WebhooksFunction", TENANT | {"purpose": "webhook:1"}, "kms:Decrypt", "AccessDeniedException"),
    (put_object, "RetentionFunction", "tenant=1/a", "s3:PutObject", "AccessDenied"),
    (put_object, "RetentionFunction", "tenant=1/b", "kms:GenerateDataKey", "AccessDenied"),
    (mail, "DispatchFunction", {}, "ses:SendEmail", "AccessDeniedException"),
    (text, "DispatchFunction", "+14155550100", "sns:Publish", "AuthorizationError"),
    (register, "DispatchFunction", APNS, "sns:CreatePlatformEndpoint", "AuthorizationError"),
    (push, "DispatchFunction", FCM, "sns:Publish", "AuthorizationError"),
    (ask_depth, "OperateFunction", "WorkDeadLetterQueue", "sqs:GetQueueAttributes", "AccessDenied"),
    (ask_account, "OperateFunction", None, "ses:GetAccount", "AccessDeniedException"),
    (ask_account, "SweepFunction", None, "ses:GetAccount", "AccessDeniedException"),
    (ask_identity, "OperateFunction", "tocsin@example.com", "ses:GetEmailIdentity", "AccessDeniedException"),
    (ask_identity, "OperateFunction", "example.com", "ses:GetEmailIdentity", "AccessDeniedException"),
]


@pytest.mark.parametrize(("call", "function", "argument", "action", "code"), CALLS)
def test_a_call_goes_through_with_its_permission_and_fails_without_it(
    granted: Cloud, tmp_path: Path, call: Call, function: str, argument: Any, action: str, code: str
) -> None:
    call(granted, function, argument)

    granted.grant(planted(tmp_path, without(function, action)))

    with pytest.raises(ClientError) as refused:
        call(granted, function, argument)
    assert refused.value.response["Error"]["Code"] == code


def test_no_permission_stands_twice_so_that_each_is_missed() -> None:
    """Of those without a condition: whichever statement is taken away, what it allowed is refused."""
    for told in read(ROOT / "template.yaml").rights["functions"].values():
        for position, statement in enumerate(told["statements"]):
            others = [each for n, each in enumerate(told["statements"]) if n != position]
            if statement.keys() & {"Condition", "NotResource"}:
                continue
            for action, resource in product(*(listed(statement[name]) for name in ("Action", "Resource"))):
                allowed = [
                    policies.read({"Statement": each}).decide(action, resource, TLS) for each in (told["statements"], others)
                ]
                if not action.startswith("logs:"):  # SAM gives these twice
                    assert allowed == [Decision.ALLOWED, Decision.NOT_ALLOWED], (told["function"], action, resource)


def listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


# What no role of the template allows: the call, and what the refusal says.
FORBIDDEN: list[tuple[Call, str, Any, str]] = [
    (send, "WaitFunction", "email", "sqs:sendmessage on resource: arn:aws:sqs:us-east-1:123456789012:tocsin-local-email"),
    (receive, "IntakeFunction", "plan", "no identity-based policy allows the sqs:receivemessage action"),
    (read_secret, "IntakeFunction", "AdminKeySecret", "secretsmanager:GetSecretValue on resource: arn:aws:secretsmanager"),
    (put_secret, "MigrateFunction", "AppDatabaseSecret", "secretsmanager:PutSecretValue"),
    (seal, "AdminFunction", TENANT | {"purpose": "webhook:1"}, "kms:Encrypt on resource: arn:aws:kms"),
    (seal, "AdminFunction", TENANT | {"more": "x"}, "kms:Encrypt"),
    (seal, "AdminFunction", {}, "kms:Encrypt"),
    (seal, "DispatchFunction", TENANT, "kms:Encrypt"),
    (unseal, "AdminFunction", TENANT, "kms:Decrypt"),
    (put_object, "RetentionFunction", "elsewhere", "s3:PutObject on resource: arn:aws:s3:::tocsin-local-archivebucket/elsewhere"),
    (tag_object, "RetentionFunction", "tenant=1/a", "s3:PutObjectTagging"),
    (use_another_key, "RetentionFunction", "tenant=1/a", "kms:GenerateDataKey"),
    (
        copy_object,
        "RetentionFunction",
        "tenant=1/a",
        "s3:GetObject on resource: arn:aws:s3:::tocsin-local-archivebucket/tenant=1/secret",
    ),
    (delete_objects, "RetentionFunction", "tenant=1/a", "s3:delete"),
    (mail, "DispatchFunction", {"FromEmailAddress": "ceo@example.com"}, "ses:SendEmail"),
    (mail, "DispatchFunction", {"ConfigurationSetName": "another"}, "configuration-set/another"),
    (mail, "IntakeFunction", {}, "ses:SendEmail"),
    (push, "DispatchFunction", f"{APNS}-of-another", "SNS:Publish"),
    (receive, "OperateFunction", "WorkDeadLetterQueue", "no identity-based policy allows the sqs:receivemessage action"),
    (ask_account, "IntakeFunction", None, "ses:GetAccount"),
    (ask_identity, "OperateFunction", "ceo@example.com", "ses:GetEmailIdentity"),
]


@pytest.mark.parametrize(("call", "function", "argument", "words"), FORBIDDEN)
def test_what_a_role_does_not_allow_is_refused_in_awss_words(
    granted: Cloud, call: Call, function: str, argument: Any, words: str
) -> None:
    with pytest.raises(ClientError) as refused:
        call(granted, function, argument)

    assert words in str(refused.value)


def test_nothing_refused_was_done(granted: Cloud) -> None:
    before = len(granted.office.ledger())
    for call, function, argument, _ in FORBIDDEN:
        with pytest.raises(ClientError):
            call(granted, function, argument)

    assert len(granted.office.ledger()) == before
    assert "Messages" not in granted.aws.client("sqs").receive_message(QueueUrl=granted.queue("email"))


def test_whoever_reads_a_secret_must_be_able_to_decrypt_it(granted: Cloud, tmp_path: Path) -> None:
    granted.grant(planted(tmp_path, without_policy("DataFunction", "SecretsPolicy")))

    with pytest.raises(ClientError, match=r"AccessDeniedException.*Access to KMS is not allowed"):
        read_secret(granted, "DataFunction", "AppDatabaseSecret")


def test_a_key_that_its_account_may_not_give_away_is_of_no_use_to_a_role(granted: Cloud, tmp_path: Path) -> None:
    def keep(resources: Document) -> None:
        statement = resources["DataKey"]["Properties"]["KeyPolicy"]["Statement"][0]
        statement["Principal"] = {"Service": "rds.amazonaws.com"}

    granted.grant(planted(tmp_path, keep))

    with pytest.raises(ClientError, match="kms:Encrypt"):
        seal(granted, "AdminFunction", TENANT)


def test_a_function_is_invoked_only_where_the_template_names_it(granted: Cloud, tmp_path: Path) -> None:
    """Nobody here runs functions of others; the call gets as far as that only if it is allowed."""

    def invoke(name: str) -> str:
        with pytest.raises(ClientError) as refused:
            granted.client("lambda", "TriggersFunction").invoke(FunctionName=name, InvocationType="Event", Payload=b"{}")
        return str(refused.value.response["Error"]["Code"])

    assert invoke(FUNCTION_ARN) != "AccessDeniedException"
    assert invoke("another") == "AccessDeniedException"

    granted.grant(planted(tmp_path, without("TriggersFunction", "lambda:InvokeFunction")))
    assert invoke(FUNCTION_ARN) == "AccessDeniedException"


def test_a_denial_wins_over_what_is_allowed(granted: Cloud, tmp_path: Path) -> None:
    def deny(resources: Document) -> None:
        statement = {"Effect": "Deny", "Action": "sqs:Send*", "Resource": "*"}
        resources["IntakeFunction"]["Properties"]["Policies"].append({"Statement": [statement]})

    granted.grant(planted(tmp_path, deny))

    with pytest.raises(ClientError, match="with an explicit deny in an identity-based policy"):
        send(granted, "IntakeFunction", "plan")


def test_a_queue_may_deny_what_a_role_allows(granted: Cloud) -> None:
    url = granted.queue("plan")
    sqs = granted.aws.client("sqs")
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])["Attributes"]
    deny = {"Effect": "Deny", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps({"Statement": [deny]})})

    try:
        with pytest.raises(ClientError, match="with an explicit deny in a resource-based policy"):
            send(granted, "IntakeFunction", "plan")
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes=before)


def test_a_bucket_may_deny_what_a_role_allows(granted: Cloud, tmp_path: Path) -> None:
    def deny(resources: Document) -> None:
        (statement,) = resources["ArchiveBucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
        del statement["Condition"]

    granted.grant(planted(tmp_path, deny))

    with pytest.raises(ClientError, match=r"AccessDenied.*with an explicit deny in a resource-based policy"):
        put_object(granted, "RetentionFunction", "tenant=1/a")


def test_a_queue_takes_no_policy_that_nobody_here_can_read(granted: Cloud) -> None:
    policy = json.dumps({"Statement": [{"Effect": "Allow", "NotAction": "sqs:*", "Resource": "*"}]})

    with pytest.raises(ClientError, match="NotAction"):
        granted.aws.client("sqs").set_queue_attributes(QueueUrl=granted.queue("plan"), Attributes={"Policy": policy})


@pytest.mark.parametrize("service", ["sns", "events", "sts", "logs"])
def test_what_no_statement_speaks_of_is_refused_whatever_it_is(granted: Cloud, service: str) -> None:
    calls = {
        "sns": lambda client: client.create_topic(Name="mine"),
        "events": lambda client: client.put_events(Entries=[{"Source": "s", "DetailType": "d", "Detail": "{}"}]),
        "sts": lambda client: client.assume_role(RoleArn="arn:aws:iam::123456789012:role/admin", RoleSessionName="me"),
        "logs": lambda client: client.describe_log_groups(),
    }

    with pytest.raises(ClientError) as refused:
        calls[service](_client(service, granted.aws.url, key_id("IntakeFunction")))

    assert refused.value.response["Error"]["Code"] in {"AccessDenied", "AccessDeniedException", "AuthorizationError"}
    assert "IntakeFunctionRole/IntakeFunction is not authorized" in str(refused.value)


def test_a_presigned_address_allows_no_more_than_its_maker_may(granted: Cloud) -> None:
    asked = {"Bucket": BUCKET, "Key": "tenant=1/a"}
    url = granted.client("s3", "RetentionFunction").generate_presigned_url("get_object", Params=asked)

    with pytest.raises(HTTPError) as refused:
        urlopen(url)

    assert (refused.value.code, "s3:GetObject" in refused.value.read().decode()) == (403, True)


def test_a_key_id_of_a_function_that_nobody_knows_is_good_for_nothing(granted: Cloud) -> None:
    with pytest.raises(ClientError, match="LKIAStrangerFunction"):
        send(granted, "StrangerFunction", "plan")


def test_developers_and_the_stack_itself_stay_free(granted: Cloud) -> None:
    for key in ("test", "x", "AKIAIOSFODNN7EXAMPLE"):
        _client("sqs", granted.aws.url, key).get_queue_url(QueueName="tocsin-local-plan")
        _client("sesv2", granted.office.url, key).send_email(**MAIL | {"FromEmailAddress": "anybody@example.com"})


def test_the_log_says_what_would_have_been_allowed(granted: Cloud) -> None:
    with pytest.raises(ClientError):
        send(granted, "WaitFunction", "email")

    log = (granted.aws._state.logs / "aws.log").read_text()
    assert "is not authorized to perform: sqs:SendMessage" in log
    assert "it is allowed on arn:aws:sqs:us-east-1:123456789012:tocsin-local-plan" in log


def test_rights_hold_after_the_local_aws_came_back(granted: Cloud) -> None:
    granted.aws.restart()

    read_secret(granted, "AdminFunction", "AppDatabaseSecret")
    with pytest.raises(ClientError, match="AccessDeniedException"):
        read_secret(granted, "AdminFunction", "AdminKeySecret")


def test_the_stack_does_not_start_when_a_function_may_not_read_its_queue(tmp_path: Path) -> None:
    root = planted(tmp_path, without("WebhooksFunction", "sqs:ReceiveMessage")).parent
    state, gateway = State(tmp_path / "state"), Gateway(0)
    state.open()
    stack = Stack(root, state, parameters={}, say=lambda _: None)
    try:
        with pytest.raises(TemplateError, match="WebhooksRole does not allow sqs:ReceiveMessage"):
            stack.start(gateway)
    finally:
        stack.stop()
        gateway.close()
        state.close()


@pytest.mark.parametrize("action", ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"])
def test_a_function_that_may_not_read_its_queue_keeps_the_stack_from_starting(tmp_path: Path, action: str) -> None:
    check_that_pollers_may_receive(read(ROOT / "template.yaml"))

    with pytest.raises(TemplateError, match=f"FeedbackFunction is given the messages of .*-feedback, .* does not allow {action}"):
        check_that_pollers_may_receive(read(planted(tmp_path, without("FeedbackFunction", action))))


def attach(resources: Document) -> None:
    resources["More"] = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "x", "PolicyDocument": {"Statement": []}}}


def strange_condition(resources: Document) -> None:
    statement = resources["DispatchRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"][0]
    statement["Condition"] = {"NumericLessThan": {"aws:MultiFactorAuthAge": "1"}}


def strange_key(resources: Document) -> None:
    statement = resources["IntakeQueuePolicy"]["Properties"]["PolicyDocument"]["Statement"][1]
    statement["Condition"] = {"StringEquals": {"aws:SourceOrgID": "o-1"}}


def strange_trust(resources: Document) -> None:
    statement = resources["FeedbackRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    statement["Principal"] = {"Service": "ec2.amazonaws.com"}


def own(*policies: Any) -> Callable[[Document], None]:
    def give(resources: Document) -> None:
        resources["LiveFunction"]["Properties"]["Policies"] = list(policies)

    return give


def bound(resources: Document) -> None:
    resources["LiveFunction"]["Properties"]["PermissionsBoundary"] = "arn:aws:iam::aws:policy/x"


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (strange_condition, "the role of DispatchFunction: .*NumericLessThan"),
        (strange_key, "the policy IntakeQueuePolicy: .*aws:SourceOrgID"),
        (strange_trust, "the role of FeedbackFunction: .*lambda.amazonaws.com"),
        (attach, "More is a policy outside of its role"),
        (own("AmazonSQSFullAccess"), "the role of LiveFunction: .*AmazonSQSFullAccess"),
        (own({"SQSSendMessagePolicy": {"QueueName": "x"}}), "SQSSendMessagePolicy"),
        (own({"Statement": [{"Effect": "Allow", "NotAction": "sqs:*", "Resource": "*"}]}), "NotAction"),
        (bound, "PermissionsBoundary"),
    ],
)
def test_rights_that_nobody_here_can_read_are_refused_by_name(
    tmp_path: Path, fault: Callable[[Document], None], complaint: str
) -> None:
    with pytest.raises(TemplateError, match=complaint):
        read(planted(tmp_path, fault))
