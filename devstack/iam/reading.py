"""What the template says about rights, for the servers that hold to it."""

from collections.abc import Iterator
from typing import Any

from devstack.iam import policies
from devstack.iam.callers import key_id
from devstack.iam.roles import Roles
from devstack.intrinsics import ACCOUNT, REGION, Evaluator, TemplateError

Resources = dict[str, dict[str, Any]]
# By type: where a resource keeps its policy document.
DOCUMENTS = {
    "AWS::SQS::QueuePolicy": "PolicyDocument",
    "AWS::SNS::TopicPolicy": "PolicyDocument",
    "AWS::S3::BucketPolicy": "PolicyDocument",
    "AWS::KMS::Key": "KeyPolicy",
}


def read(resources: Resources, functions: dict[str, dict[str, Any]], evaluator: Evaluator) -> dict[str, Any]:
    """As it is written to rights.json: the functions with their roles, and who else has a say in what they do."""
    roles = Roles(resources, evaluator)
    _check_documents(resources, evaluator)
    return {
        "functions": {
            key_id(name): {"function": name, "role": role.name, "statements": list(role.statements)}
            for name, role in ((name, roles.of(name, properties)) for name, properties in functions.items())
        },
        "keys": {arn: _key_arn(key) for arn, key in _encrypted(resources, evaluator) if key},
        "bucket_keys": [arn for arn, rule in _bucket_rules(resources, evaluator) if rule.get("BucketKeyEnabled")],
        "aliases": {each["AliasName"]: each["TargetKeyId"] for _, each in _of("AWS::KMS::Alias", resources, evaluator)},
        "policies": dict(_policies(resources, evaluator)),
    }


def _of(kind: str, resources: Resources, evaluator: Evaluator) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in resources.items():
        if resource["Type"] == kind:
            yield name, evaluator.value(resource.get("Properties", {}))


def _encrypted(resources: Resources, evaluator: Evaluator) -> Iterator[tuple[str, str | None]]:
    for name, each in _of("AWS::SecretsManager::Secret", resources, evaluator):
        yield evaluator.value({"Ref": name}), each.get("KmsKeyId")
    for name, each in _of("AWS::RDS::DBInstance", resources, evaluator):
        yield (
            evaluator.value({"Fn::GetAtt": [name, "MasterUserSecret.SecretArn"]}),
            each.get("MasterUserSecret", {}).get("KmsKeyId"),
        )
    for name, each in _of("AWS::SNS::Topic", resources, evaluator):
        yield evaluator.value({"Ref": name}), each.get("KmsMasterKeyId")
    for arn, rule in _bucket_rules(resources, evaluator):
        yield arn, rule.get("ServerSideEncryptionByDefault", {}).get("KMSMasterKeyID")


def _bucket_rules(resources: Resources, evaluator: Evaluator) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in _of("AWS::S3::Bucket", resources, evaluator):
        for rule in each.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration", []):
            yield evaluator.value({"Fn::GetAtt": [name, "Arn"]}), rule


def _policies(resources: Resources, evaluator: Evaluator) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in _of("AWS::KMS::Key", resources, evaluator):
        if "KeyPolicy" in each:
            yield _key_arn(evaluator.value({"Ref": name})), each["KeyPolicy"]
    for _, each in _of("AWS::S3::BucketPolicy", resources, evaluator):
        bucket = f"arn:aws:s3:::{each['Bucket']}"
        yield bucket, each["PolicyDocument"]


def _check_documents(resources: Resources, evaluator: Evaluator) -> None:
    """An unreadable policy is noticed when the stack starts, not when somebody is refused."""
    for kind, member in DOCUMENTS.items():
        for name, each in _of(kind, resources, evaluator):
            try:
                policies.read(each.get(member, {"Statement": []}))
            except TemplateError as error:
                raise TemplateError(f"the policy {name}: {error}") from error


def _key_arn(key: str) -> str:
    return key if key.startswith("arn:") else f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{key}"
