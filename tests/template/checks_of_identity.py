"""What holds data, or an address that others know, keeps the name and the properties by which CloudFormation knows it again.

Under another name it would be another resource: made empty, while the old one is deleted with what it holds."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.template.reading import Template, of_type

SECRET, QUEUE, KEY = "AWS::SecretsManager::Secret", "AWS::SQS::Queue", "AWS::KMS::Key"


class Given(NamedTuple):
    """The value of this parameter, whatever it is."""

    parameter: str


@dataclass(frozen=True)
class Kept:
    """A resource that keeps its name, why, and the properties of which a change would replace it, or what it holds."""

    kind: str
    why: str
    properties: dict[str, Any] = field(default_factory=dict)


def _password_of(role: str) -> dict[str, Any]:
    """A change of any of it makes a new password, which the migration sets only when it next runs."""
    written = f'{{"username": "{role}"}}'
    return {
        "GenerateSecretString": {
            "SecretStringTemplate": written,
            "GenerateStringKey": "password",
            "PasswordLength": 40,
            "ExcludePunctuation": True,
        }
    }


def _named(name: str) -> dict[str, Any]:
    return {"QueueName": {"Fn::Sub": f"${{AWS::StackName}}-{name}"}}


_SIGNS = {"GenerateSecretString": {"PasswordLength": 64, "ExcludePunctuation": True}}
_BLOCK = {"Fn::Cidr": [Given("VpcCidr"), 4, 6]}
ALWAYS = {
    "DataKey": Kept(KEY, "without it neither the database nor its snapshots can be read"),
    "LogKey": Kept(KEY, "without it the logs cannot be read"),
    "AppDatabaseSecret": Kept(SECRET, "the password of a role", _password_of("tocsin_app")),
    "WorkerDatabaseSecret": Kept(SECRET, "the password of a role", _password_of("tocsin_worker")),
    "RetentionDatabaseSecret": Kept(SECRET, "the password of a role", _password_of("tocsin_retention")),
    "UnsubscribeSecret": Kept(SECRET, "signs the links in every mail that was ever sent", _SIGNS),
    "UserTokenSecret": Kept(SECRET, "signs the tokens that people have", _SIGNS),
    "AdminKeySecret": Kept(SECRET, "holds the first admin key, which is nowhere else", {"SecretString": "none yet"}),
    "EventBus": Kept("AWS::Events::EventBus", "producers know it", {"Name": {"Ref": "AWS::StackName"}}),
    "IntakeQueue": Kept(QUEUE, "holds intents that were handed over, and producers know it", _named("intake")),
    "IntakeDeadLetterQueue": Kept(QUEUE, "holds intents that could not be accepted"),
    "FeedbackQueue": Kept(QUEUE, "holds what providers told, once", _named("feedback")),
    "FeedbackDeadLetterQueue": Kept(QUEUE, "holds what providers told, once"),
    "FailedInvocationsQueue": Kept(QUEUE, "holds why a timer or a migration failed"),
    "WorkDeadLetterQueue": Kept(QUEUE, "holds why workers failed"),
    **{
        f"{name.capitalize()}Queue": Kept(QUEUE, "nudges are on it", _named(name))
        for name in ("plan", "email", "sms", "push", "webhook", "trigger")
    },
    "HttpApi": Kept("AWS::ApiGatewayV2::Api", "its address stands in mails and in the settings of callers"),
    "AlarmTopic": Kept("AWS::SNS::Topic", "people have subscribed to it"),
    "FeedbackTopic": Kept("AWS::SNS::Topic", "events of mails under way lead to it"),
    "EmailConfigurationSet": Kept("AWS::SES::ConfigurationSet", "mails under way were sent with it"),
}
WITH_A_DATABASE = {
    "Database": Kept(
        "AWS::RDS::DBInstance",
        "holds everything",
        {
            "Engine": "postgres",
            "MasterUsername": "tocsin_owner",
            "DBName": "tocsin",
            "StorageEncrypted": True,
            "KmsKeyId": {"Fn::GetAtt": ["DataKey", "Arn"]},
            "DBSubnetGroupName": {"Ref": "DatabaseSubnets"},
        },
    ),
    "DatabaseSubnets": Kept("AWS::RDS::DBSubnetGroup", "another one is another database"),
    "Vpc": Kept("AWS::EC2::VPC", "the database stands in it", {"CidrBlock": Given("VpcCidr")}),
    "SubnetA": Kept("AWS::EC2::Subnet", "the database stands in it", {"CidrBlock": {"Fn::Select": [0, _BLOCK]}}),
    "SubnetB": Kept("AWS::EC2::Subnet", "the database stands in it", {"CidrBlock": {"Fn::Select": [1, _BLOCK]}}),
}
FROM_A_SNAPSHOT = {("Database", key) for key in ("MasterUsername", "DBName", "StorageEncrypted", "KmsKeyId")}
WITH_EGRESS = {"PublicSubnet": Kept("AWS::EC2::Subnet", "holds the way out", {"CidrBlock": {"Fn::Select": [2, _BLOCK]}})}
WITH_AN_ARCHIVE = {"ArchiveBucket": Kept("AWS::S3::Bucket", "holds what is nowhere else any more")}
# Names that a person would choose keep CloudFormation from replacing what must be replaced, and collide between stacks.
UNNAMED = {SECRET: "Name", "AWS::RDS::DBInstance": "DBInstanceIdentifier", "AWS::S3::Bucket": "BucketName"}


def what_holds_data_keeps_its_name(template: Template) -> list[str]:
    """And whatever else holds data is added to the tables, before the first installation has it."""
    kept, resources = _kept(template), template["Resources"]
    kinds = {each.kind for each in kept.values()}
    gone = [f"{name}, which {each.why}" for name, each in kept.items() if resources.get(name, {}).get("Type") != each.kind]
    new = [f"{name} is in no table" for name, each in resources.items() if each["Type"] in kinds and name not in kept]
    stacks = ["Network"] if _has_a_database(template) else []
    return gone + new + ([] if list(template["Stacks"]) == stacks else [f"stacks are {list(template['Stacks'])}"])


def what_holds_data_is_not_replaced_by_the_way(template: Template) -> list[str]:
    """A database that was made from a snapshot has from there what RDS would refuse to be told again."""
    brought = FROM_A_SNAPSHOT if template["Values"]["DatabaseSnapshot"] else set()
    return [
        f"{name}: {key} is {found}, and {each.why}"
        for name, each in _kept(template).items()
        for key, wanted in each.properties.items()
        if (name, key) not in brought
        and (found := template["Resources"].get(name, {}).get("Properties", {}).get(key)) != _written(template, wanted)
    ]


def what_holds_data_is_named_by_cloudformation(template: Template) -> list[str]:
    return [name for kind, key in UNNAMED.items() for name, each in of_type(template, kind).items() if key in each]


def _kept(template: Template) -> dict[str, Kept]:
    values = template["Values"]
    database = WITH_A_DATABASE if _has_a_database(template) else {}
    egress = WITH_EGRESS if values["InternetEgress"] == "true" else {}
    return ALWAYS | database | egress | (WITH_AN_ARCHIVE if values["ArchiveRecords"] == "true" else {})


def _has_a_database(template: Template) -> bool:
    return bool(template["Values"]["ExistingDatabaseHost"] == "")


def _written(template: Template, wanted: Any) -> Any:
    match wanted:
        case Given(parameter):
            return template["Values"][parameter]
        case dict():
            return {key: _written(template, part) for key, part in wanted.items()}
        case list():
            return [_written(template, part) for part in wanted]
        case _:
            return wanted
