"""Who may do what: every grant is narrow, or stands here with its reason."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.template.reading import Template, listed, named, of_type

# (resource, statement id): why it may be wide
WIDE_ACTIONS = {
    ("DataKey", "AccountDecidesByIam"): "a key without its account's root can never be managed again",
    ("LogKey", "AccountDecidesByIam"): "a key without its account's root can never be managed again",
}
WIDE_RESOURCES = {
    ("SweepFunctionRole", "Quota"): "what the account may send has no ARN",
    ("OperateFunctionRole", "Account"): "how the account stands has no ARN",
    ("DispatchRole", "TextMessages"): "a phone number has no ARN; whatever has one is excluded",
}
WIDE_PRINCIPALS = {
    ("S3Endpoint", None): "an endpoint's policy only narrows what the caller's own policy allows",
}
MANAGED_POLICIES = {
    "service-role/AWSLambdaBasicExecutionRole": "writes to the function's log group",
    "service-role/AWSLambdaVPCAccessExecutionRole": "network interfaces of functions have no ARN beforehand",
    "AWSXrayWriteOnlyAccess": "traces have no ARN",
    "service-role/AmazonRDSEnhancedMonitoringRole": "RDS writes its metrics to its own log group",
}
POLICY, ROLE, SECRET = "AWS::IAM::ManagedPolicy", "AWS::IAM::Role", "AWS::SecretsManager::Secret"
Statement = dict[str, Any]
_SECRET_OF = "kms:EncryptionContext:SecretARN"
_TENANT, _PURPOSE = "kms:EncryptionContext:tenant", "kms:EncryptionContext:purpose"
# What is sealed for: who seals it, and who opens it.
SEALED_FOR = {
    "provider:*": ("AdminFunctionRole", "DispatchRole"),
    "webhook:*": ("DataFunctionRole", "WebhooksRole"),
    "handler:*": ("DataFunctionRole", "WebhooksRole"),
}


def grants_name_their_actions(template: Template) -> list[str]:
    return [
        f"{name}: {action}"
        for name, statement in _allowing(template)
        for action in listed(statement.get("Action", "*"))
        if "*" in action and (name, statement.get("Sid")) not in WIDE_ACTIONS
    ]


def roles_name_their_resources(template: Template) -> list[str]:
    return [
        f"{name}: {listed(statement.get('Action'))}"
        for name, statement in _allowing_of_roles(template)
        if ("NotResource" in statement or any(_is_everything(each) for each in listed(statement.get("Resource", "*"))))
        and (name, statement.get("Sid")) not in WIDE_RESOURCES
    ]


def grants_name_their_principals(template: Template) -> list[str]:
    return [
        f"{name}: {statement.get('Sid')}"
        for name, statement in _allowing(template)
        if statement.get("Principal") in ("*", {"AWS": "*"}) and (name, statement.get("Sid")) not in WIDE_PRINCIPALS
    ]


def roles_take_only_known_managed_policies(template: Template) -> list[str]:
    return [
        f"{name}: {policy}"
        for name, role in of_type(template, ROLE).items()
        for policy in role.get("ManagedPolicyArns", [])
        if _text(policy).partition(":policy/")[2] not in MANAGED_POLICIES and named(policy) not in of_type(template, POLICY)
    ]


def functions_may_read_the_secrets_they_are_told_of_and_no_others(template: Template) -> list[str]:
    secrets = set(of_type(template, SECRET))
    violations = []
    for name, each in of_type(template, "AWS::Lambda::Function").items():
        told = {named(value) for value in each.get("Environment", {}).get("Variables", {}).values()} & secrets
        allowed = _readable(template, str(named(each.get("Role")))) & secrets
        violations += [f"{name}: {secret}" for secret in sorted(map(str, told ^ allowed))]
    return violations


def secrets_are_decrypted_by_whoever_reads_them(template: Template) -> list[str]:
    """With the keys of all the secrets that the role reads; a role that reads none decrypts none."""
    keys = {name: named(each.get("KmsKeyId")) for name, each in of_type(template, SECRET).items()}
    violations = []
    for role in of_type(template, ROLE):
        needed = {keys[str(secret)] for secret in _readable(template, role) if secret in keys}
        usable = {named(each) for statement in _decrypting_secrets(template, role) for each in listed(statement["Resource"])}
        violations += [f"{role}: {key}" for key in sorted(map(str, needed ^ (usable - {None})))]
    return violations


def one_policy_decrypts_secrets(template: Template) -> list[str]:
    """Said once, it can be mended once."""
    ours = of_type(template, "AWS::KMS::Key")
    saying = [
        name
        for name, statement in _allowing(template)
        if "kms:Decrypt" in listed(statement.get("Action"))
        and _is_through_secrets_manager(statement)
        and {named(each) for each in listed(statement["Resource"])} & set(ours)
    ]
    return [] if saying == ["SecretsPolicy"] else saying or ["no policy decrypts secrets"]


def functions_that_encrypt_are_told_of_the_key_and_no_others_may(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, "AWS::Lambda::Function").items():
        role = str(named(each.get("Role")))
        told = "DATA_KEY_ARN" in each.get("Environment", {}).get("Variables", {})
        may = any("kms:Encrypt" in listed(one.get("Action")) for holder, one in _allowing_of_roles(template) if holder == role)
        violations += [name] if told != may else []
    return violations


def sealed_values_are_opened_only_where_they_are_used(template: Template) -> list[str]:
    """For each purpose one role seals and another opens; whoever seals cannot read what is stored."""
    found = [
        (str(purpose), action, role)
        for role, statement in _allowing_of_roles(template)
        for action in listed(statement.get("Action"))
        for purpose in listed(statement.get("Condition", {}).get("StringLike", {}).get(_PURPOSE))
    ]
    wanted = {
        (purpose, action, role)
        for purpose, roles in SEALED_FOR.items()
        for action, role in zip(("kms:Encrypt", "kms:Decrypt"), roles, strict=True)
    }
    return [" ".join(each) for each in sorted(wanted ^ set(found))]


def email_is_sent_only_with_our_sender(template: Template) -> list[str]:
    return [
        name
        for name, statement in _allowing_of_roles(template)
        if any(action.startswith("ses:Send") for action in listed(statement.get("Action")))
        and "ses:FromAddress" not in statement.get("Condition", {}).get("StringEquals", {})
    ]


def keys_serve_one_purpose(template: Template) -> list[str]:
    """A role uses the key through Secrets Manager, for the objects of one bucket, or for what is sealed for one tenant and
    purpose; never for just anything."""
    return [
        f"{name}: {statement['Action']}"
        for name, statement in _allowing_of_roles(template)
        if any(action.startswith("kms:") for action in listed(statement.get("Action")))
        and not _is_through_secrets_manager(statement)
        and not _is_for_a_bucket(statement.get("Condition", {}))
        and not _for_sealed_values(statement.get("Condition", {}))
    ]


def keys_rotate(template: Template) -> list[str]:
    return [name for name, key in of_type(template, "AWS::KMS::Key").items() if key.get("EnableKeyRotation") is not True]


def nothing_names_an_account(template: Template) -> list[str]:
    return sorted(set(re.findall(r"(?<![\w-])\d{12}(?![\w-])", json.dumps(template["Resources"]))))


def security_groups_admit_no_strangers(template: Template) -> list[str]:
    rules = [
        (name, rule)
        for name, group in of_type(template, "AWS::EC2::SecurityGroup").items()
        for rule in group.get("SecurityGroupIngress", [])
    ]
    rules += of_type(template, "AWS::EC2::SecurityGroupIngress").items()
    return [name for name, rule in rules if "SourceSecurityGroupId" not in rule]


def _allowing(template: Template) -> Iterator[tuple[str, Statement]]:
    """Every allowing statement of every policy, whatever it is attached to, with the resource's name."""
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        documents = [properties.get("PolicyDocument"), properties.get("KeyPolicy")]
        documents += [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        for document in filter(None, documents):
            for statement in listed(document["Statement"]):
                if statement["Effect"] == "Allow":
                    yield name, statement


def _allowing_of_roles(template: Template) -> Iterator[tuple[str, Statement]]:
    """What each role may do by statements of its own, and by those of the policies of ours that it takes."""
    statements = list(_allowing(template))
    for role, each in of_type(template, ROLE).items():
        holders = {role, *(named(policy) for policy in each.get("ManagedPolicyArns", []))}
        yield from ((role, statement) for holder, statement in statements if holder in holders)


def _decrypting_secrets(template: Template, role: str) -> list[Statement]:
    return [
        statement
        for name, statement in _allowing_of_roles(template)
        if name == role and "kms:Decrypt" in listed(statement.get("Action")) and _is_through_secrets_manager(statement)
    ]


def _readable(template: Template, role: str) -> set[str | None]:
    return {
        named(resource)
        for name, statement in _allowing_of_roles(template)
        if name == role and "secretsmanager:GetSecretValue" in listed(statement.get("Action"))
        for resource in listed(statement.get("Resource"))
    }


def _is_through_secrets_manager(statement: Statement) -> bool:
    """It comes from there, and is about a secret: one by name, or any of this account."""
    condition = statement.get("Condition", {})
    equal, alike = condition.get("StringEquals", {}), condition.get("ArnLike", {})
    one, any_of_ours = equal.get(_SECRET_OF), _text(alike.get(_SECRET_OF, ""))
    is_of_a_secret = named(one) is not None or str(one).startswith("arn:") or "${AWS::AccountId}:secret:" in any_of_ours
    return _text(equal.get("kms:ViaService", "")).startswith("secretsmanager.") and is_of_a_secret


def _is_for_a_bucket(condition: dict[str, Any]) -> bool:
    """It comes from S3, and is about the objects of a bucket of this stack."""
    objects = listed(condition.get("StringLike", {}).get("kms:EncryptionContext:aws:s3:arn"))
    buckets = {named(each) or _text(each).removeprefix("${").removesuffix(".Arn}/*") for each in objects}
    return _text(condition.get("StringEquals", {}).get("kms:ViaService", "")).startswith("s3.") and buckets == {"ArchiveBucket"}


def _for_sealed_values(condition: dict[str, Any]) -> bool:
    """Both halves are needed: `ForAllValues` alone is also true of no context at all."""
    only = condition.get("ForAllValues:StringEquals", {}).get("kms:EncryptionContextKeys")
    present = condition.get("StringLike", {})
    purposes = listed(present.get(_PURPOSE))
    is_for_one = present == {_TENANT: "?*", _PURPOSE: present.get(_PURPOSE)}
    return only == ["tenant", "purpose"] and is_for_one and bool(purposes) and set(purposes) <= SEALED_FOR.keys()


def _is_everything(resource: Any) -> bool:
    """`*`, or an ARN that leaves even the kind of resource open."""
    text = _text(resource)
    return text == "*" or bool(re.fullmatch(r"arn:[^:]*:[^:]*:[^:]*:[^:]*:\*|arn:[^:]*:\*.*", re.sub(r"\$\{[^}]*\}", "x", text)))


def _text(value: Any) -> str:
    return str(value.get("Fn::Sub", value) if isinstance(value, dict) else value)
