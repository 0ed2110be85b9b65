"""What a call needs to be allowed: the actions and resources that AWS looks at, with what KMS does for the caller. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from devstack.iam.conditions import OF_ENCRYPTION, Context
from devstack.intrinsics import ACCOUNT, REGION

# Nothing here is encrypted on its way, and nothing leaves the machine: calls count as if it were.
TLS: dict[str, str | tuple[str, ...]] = {"aws:securetransport": "true"}
KEY_ID_LENGTH = 36  # a ciphertext begins with the id of its key
_BATCH = "Batch"
_OF_SECRETS = {"GetSecretValue": "kms:Decrypt", "PutSecretValue": "kms:GenerateDataKey", "UpdateSecret": "kms:GenerateDataKey"}
_OF_OBJECTS = {"PUT": "PutObject", "POST": "PutObject", "GET": "GetObject", "HEAD": "GetObject", "DELETE": "DeleteObject"}
_KMS_OF_OBJECTS = {"s3:PutObject": "kms:GenerateDataKey", "s3:GetObject": "kms:Decrypt"}
_OF_UPLOADS = {"uploads", "uploadId", "partNumber", "x-id", "list-type", "prefix", "delimiter", "max-keys", "continuation-token"}
_OF_HEADERS = {"HTTP_X_AMZ_TAGGING": "s3:PutObjectTagging", "HTTP_X_AMZ_ACL": "s3:PutObjectAcl"}
_OF_SIGNATURE = {"AWSAccessKeyId", "Signature", "Expires"}

Keys = Mapping[str, str]  # which KMS key encrypts a resource, both by ARN


@dataclass(frozen=True, slots=True)
class Ask:
    action: str
    resource: str
    context: Context = field(default_factory=lambda: TLS)


def of_sqs(operation: str, queue: str) -> Ask:
    """A batch needs what its entries need."""
    resource = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}" if queue else "*"
    return Ask(f"sqs:{operation.removesuffix(_BATCH)}", resource)


def of_secrets(operation: str, asked: Mapping[str, Any], keys: Keys) -> Iterator[Ask]:
    arn = _secret_arn(str(asked.get("SecretId", "*")), keys)
    yield Ask(f"secretsmanager:{operation}", arn)
    if arn in keys and operation in _OF_SECRETS:
        yield Ask(_OF_SECRETS[operation], keys[arn], _through("secretsmanager", {"SecretARN": arn, "SecretVersionId": "any"}))


def of_kms(operation: str, asked: Mapping[str, Any], key_id: str, aliases: Mapping[str, str]) -> Ask:
    """`key_id` is that of the ciphertext, where there is one; else the request names the key, by ARN, id or alias."""
    named = key_id or str(asked.get("KeyId", "*"))
    alias = f"alias/{named.partition('alias/')[2]}"
    key = aliases.get(alias, named).rpartition("/")[2]
    resource = "*" if named == "*" else f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{key}"
    return Ask(f"kms:{operation}", resource, TLS | _encryption(asked.get("EncryptionContext") or {}))


def of_sns(form: Mapping[str, str], keys: Keys) -> Iterator[Ask]:
    """A phone number has no ARN, so whoever texts asks for `*`."""
    names = ("TopicArn", "TargetArn", "PlatformApplicationArn", "EndpointArn", "SubscriptionArn")
    resource = next((form[name] for name in names if name in form), "*")
    action = str(form.get("Action", "")).removesuffix(_BATCH)
    yield Ask(f"sns:{action}", resource)
    if resource in keys and action == "Publish":
        context = _through("sns", {"aws:sns:topicArn": resource})
        yield Ask("kms:GenerateDataKey", keys[resource], context)
        yield Ask("kms:Decrypt", keys[resource], context)


def of_ses(sender: str, configuration_set: str | None) -> tuple[list[Ask], list[Ask]]:
    """The identity, which is the address or its domain, whichever was verified; and all the rest."""
    context = TLS | {"ses:fromaddress": sender}
    base = f"arn:aws:ses:{REGION}:{ACCOUNT}"
    identities = [Ask("ses:SendEmail", f"{base}:identity/{each}", context) for each in (sender, sender.rpartition("@")[2])]
    sets = [Ask("ses:SendEmail", f"{base}:configuration-set/{configuration_set}", context)] if configuration_set else []
    return identities, sets


def of_ses_account() -> Ask:
    """The account has no ARN."""
    return Ask("ses:GetAccount", "*")


def of_ses_identity(name: str) -> Ask:
    return Ask("ses:GetEmailIdentity", f"arn:aws:ses:{REGION}:{ACCOUNT}:identity/{name}")


def of_s3(
    method: str, path: str, query: Iterable[str], headers: Mapping[str, str], keys: Keys, bucket_keys: frozenset[str]
) -> Iterator[Ask]:
    """`headers` as WSGI names them; some ask for more, and one for another key than the bucket's own."""
    name, _, key = path.lstrip("/").partition("/")
    bucket = f"arn:aws:s3:::{name}"
    query = {each for each in query if not each.startswith("X-Amz-") and each not in _OF_SIGNATURE}
    if query - _OF_UPLOADS:
        yield Ask(f"s3:{'+'.join(sorted(query))}", bucket)  # a part of it that no permission here is known for
    elif not key:
        yield Ask("s3:ListBucket" if method in ("GET", "HEAD") else f"s3:{method}Bucket", bucket)
    else:
        its = Ask(f"s3:{_OF_OBJECTS.get(method, method)}", f"{bucket}/{key}")
        yield its
        yield from (Ask(action, its.resource) for header, action in _OF_HEADERS.items() if header in headers)
        if source := headers.get("HTTP_X_AMZ_COPY_SOURCE"):
            yield Ask("s3:GetObject", f"arn:aws:s3:::{unquote(source).lstrip('/')}")
        key_arn = headers.get("HTTP_X_AMZ_SERVER_SIDE_ENCRYPTION_AWS_KMS_KEY_ID") or keys.get(bucket)
        is_kms = headers.get("HTTP_X_AMZ_SERVER_SIDE_ENCRYPTION", "aws:kms").startswith("aws:kms")
        if key_arn and is_kms and its.action in _KMS_OF_OBJECTS:
            encrypted = bucket if bucket in bucket_keys else its.resource
            yield Ask(_KMS_OF_OBJECTS[its.action], key_arn, _through("s3", {"aws:s3:arn": encrypted}))


def of_lambda(method: str, path: str, qualifier: str) -> Ask:
    match method, path.strip("/").split("/", 3):
        case "POST", [_, "functions", name, "invocations"]:
            arn = name if name.startswith("arn:") else f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
            return Ask("lambda:InvokeFunction", f"{arn}:{qualifier}" if qualifier else arn)
    return Ask(f"lambda:{method}{path}", "*")


def of_events(operation: str, asked: Mapping[str, Any]) -> Iterator[Ask]:
    buses = {str(each.get("EventBusName", "default")) for each in asked.get("Entries", [])} if operation == "PutEvents" else {"*"}
    for bus in sorted(buses):
        whole = bus if bus == "*" or bus.startswith("arn:") else f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/{bus}"
        yield Ask(f"events:{operation}", whole)


def _secret_arn(named: str, keys: Keys) -> str:
    """A secret may be asked for by its name, too; its ARN has six characters more."""
    beginning = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{named}-"
    found = (arn for arn in keys if arn.startswith(beginning) and "-" not in arn.removeprefix(beginning))
    return named if named.startswith("arn:") or named == "*" else next(found, beginning + "??????")


def _through(service: str, pairs: Mapping[str, str]) -> Context:
    """What a service does with KMS for its caller, whose permission it needs."""
    return TLS | {"kms:viaservice": f"{service}.{REGION}.amazonaws.com"} | _encryption(pairs)


def _encryption(pairs: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    found: dict[str, str | tuple[str, ...]] = {f"{OF_ENCRYPTION}{name}".lower(): value for name, value in pairs.items()}
    return found | ({"kms:encryptioncontextkeys": tuple(pairs)} if pairs else {})
