"""What each function's code calls, its role allows, on the very resources that its variables name; and nothing else."""

from collections.abc import Callable
from typing import Any

from tests.template.aws_calls import Call, called_by
from tests.template.doors import folders
from tests.template.policies import Grant, arn, grants_of, statements_of
from tests.template.reading import Template, listed, named, of_type
from tests.template.wiring import function_of
from tocsin.foundation.settings import QUEUES

FUNCTION, ROLE = "AWS::Lambda::Function", "AWS::IAM::Role"
Variables = dict[str, Any]
Needs = Callable[[Template, Variables], set[Grant]]
# (function, call): why its code, which the reader finds it to reach, never comes to call it
NEVER_CALLED = {
    ("OperateFunction", Call("s3", "put_object")): "it shows the rules of retention, and applies none",
    ("WebhooksFunction", Call("lambda", "invoke")): "runs whose handler is a function are on the queue of triggers",
    ("TriggersFunction", Call("kms", "decrypt")): "runs whose handler is a webhook are on the queue of webhooks",
}
ARCHIVED = "tenant=*"  # how the keys of archived objects begin
POLLING = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
# What Lambda does in the function's name: policies of AWS, by what asks for them.
FOR_THE_NETWORK, FOR_TRACES = "service-role/AWSLambdaVPCAccessExecutionRole", "AWSXrayWriteOnlyAccess"
FOR_LOGS = {FOR_THE_NETWORK, "service-role/AWSLambdaBasicExecutionRole"}


def functions_may_do_what_their_code_does_and_nothing_else(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, FUNCTION).items():
        needed = {grant for call in calls_of(name) for grant in needs_of(call)(template, variables_of(each))}
        needed |= _for_lambda(template, name)
        allowed = grants_of(template, str(named(each["Role"])))
        violations += [f"{name}: may not {' '.join(grant)}" for grant in sorted(needed - allowed)]
        violations += [f"{name}: may {' '.join(grant)}, which nothing asks for" for grant in sorted(allowed - needed)]
    return violations


def roles_let_lambda_do_its_part(template: Template) -> list[str]:
    """Enter the network, write logs and traces: without the first the function cannot even start."""
    violations = []
    for name, each in of_type(template, FUNCTION).items():
        taken = of_type(template, ROLE)[str(named(each["Role"]))].get("ManagedPolicyArns", [])
        policies = {_name_of_policy(template, policy) for policy in taken}
        missing = [] if FOR_THE_NETWORK in policies or "VpcConfig" not in each else [FOR_THE_NETWORK]
        missing += [] if FOR_TRACES in policies or each.get("TracingConfig", {}).get("Mode") != "Active" else [FOR_TRACES]
        missing += [] if FOR_LOGS & policies else ["a policy that lets it log"]
        violations += [f"{name}: {policy}" for policy in missing]
    return violations


def roles_forbid_nothing(template: Template) -> list[str]:
    """A denial, or a boundary, takes away what a grant beside it seems to give."""
    bounded = [name for name, each in of_type(template, ROLE).items() if "PermissionsBoundary" in each]
    return bounded + [
        name for name in of_type(template, ROLE) for statement in statements_of(template, name) if statement["Effect"] != "Allow"
    ]


def roles_are_taken_by_whoever_they_are_for(template: Template) -> list[str]:
    """By the service in whose configuration the role stands, and by no other."""
    wanted = {str(named(each["Role"])): "lambda.amazonaws.com" for each in of_type(template, FUNCTION).values()}
    for each in of_type(template, "AWS::Scheduler::Schedule").values():
        wanted[str(named(each["Target"]["RoleArn"]))] = "scheduler.amazonaws.com"
    for each in of_type(template, "AWS::RDS::DBInstance").values():
        wanted[str(named(each.get("MonitoringRoleArn")))] = "monitoring.rds.amazonaws.com"
    for each in of_type(template, "AWS::RDS::DBProxy").values():
        wanted[str(named(each["RoleArn"]))] = "rds.amazonaws.com"
    roles = of_type(template, ROLE)
    trusted = {name: _trusted(each["AssumeRolePolicyDocument"]) for name, each in roles.items()}
    return [f"{name}: {trusted.get(name)}" for name in sorted({*wanted, *roles}) if trusted.get(name) != [wanted.get(name)]]


def calls_of(function: str) -> list[Call]:
    return [call for call in called_by(folders()[function]) if (function, call) not in NEVER_CALLED]


def needs_of(call: Call) -> Needs:
    if call not in NEEDS:
        raise KeyError(f"{'.'.join(call)} is called, and nobody knows what it takes: add it to NEEDS")
    return NEEDS[call]


def variables_of(function: dict[str, Any]) -> Variables:
    variables: Variables = function.get("Environment", {}).get("Variables", {})
    return variables


def _to_send(template: Template, variables: Variables) -> set[Grant]:
    """On the work queues. Of the others a function may know only how deep they are."""
    work = {f"{queue.upper()}_QUEUE_URL" for queue in QUEUES}
    return {Grant("sqs:SendMessage", str(named(value))) for name, value in variables.items() if name in work}


def _to_ask_how_deep(template: Template, variables: Variables) -> set[Grant]:
    queues = [named(value) for name, value in variables.items() if name.endswith("_QUEUE_URL")]
    return {Grant("sqs:GetQueueAttributes", str(queue)) for queue in queues}


def _to_read_secrets(template: Template, variables: Variables) -> set[Grant]:
    secrets = {arn(template, value) for name, value in variables.items() if name.endswith("_SECRET_ARN")}
    keys = {_key_of(template, secret) for secret in secrets} - {("", "")}
    return {Grant("secretsmanager:GetSecretValue", secret) for secret in secrets} | {
        Grant("kms:Decrypt", key, purpose) for key, purpose in keys
    }


def _to_write_the_first_key(template: Template, variables: Variables) -> set[Grant]:
    """A new value of a secret is encrypted with a new data key."""
    secret = arn(template, variables["ADMIN_KEY_SECRET_ARN"])
    key = str(named(of_type(template, "AWS::SecretsManager::Secret")[secret]["KmsKeyId"]))
    return {Grant("secretsmanager:PutSecretValue", secret), Grant("kms:GenerateDataKey", key, f"the secret {secret}")}


def _to_seal(template: Template, variables: Variables) -> set[Grant]:
    return {Grant("kms:Encrypt", arn(template, variables["DATA_KEY_ARN"]), "sealed values")}


def _to_open(template: Template, variables: Variables) -> set[Grant]:
    """With the key that others seal with: what is sealed says which one that was."""
    told = [variables_of(each) for each in of_type(template, FUNCTION).values()]
    return {Grant("kms:Decrypt", arn(template, each["DATA_KEY_ARN"]), "sealed values") for each in told if "DATA_KEY_ARN" in each}


def _to_email(template: Template, variables: Variables) -> set[Grant]:
    """Any identity, because the sandbox of SES checks the recipient's too."""
    place = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}"
    through = f"{place}:configuration-set/${{{named(variables['EMAIL_CONFIGURATION_SET'])}}}"
    return {Grant("ses:SendEmail", resource, f"from {variables['EMAIL_FROM']}") for resource in (f"{place}:identity/*", through)}


def _to_publish(template: Template, variables: Variables) -> set[Grant]:
    """To phone numbers, which have no ARN, and to the endpoints of our applications."""
    endpoints = {f"{each.replace(':app/', ':endpoint/')}/*" for each in _applications(variables)}
    return {Grant("sns:Publish", "all but arn:${AWS::Partition}:sns:*:*:*"), *(Grant("sns:Publish", each) for each in endpoints)}


def _to_make_endpoints(template: Template, variables: Variables) -> set[Grant]:
    return {Grant("sns:CreatePlatformEndpoint", each) for each in _applications(variables)}


def _to_invoke(template: Template, variables: Variables) -> set[Grant]:
    return {Grant("lambda:InvokeFunction", each) for each in variables["TRIGGER_FUNCTION_ARNS"].split(",") if each}


def _to_archive(template: Template, variables: Variables) -> set[Grant]:
    bucket = named(variables["ARCHIVE_BUCKET"])
    if bucket is None:
        return set()
    (rule,) = of_type(template, "AWS::S3::Bucket")[bucket]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    key = arn(template, rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"])
    objects = f"objects of {bucket} ${{{bucket}.Arn}}/*"  # with a bucket key, S3 speaks of the bucket; without, of the object
    return {Grant("s3:PutObject", f"${{{bucket}.Arn}}/{ARCHIVED}"), Grant("kms:GenerateDataKey", key, objects)}


def _to_ask_for_the_quota(template: Template, variables: Variables) -> set[Grant]:
    """The account's own numbers have no ARN."""
    return {Grant("ses:GetAccount", "*")}


def _to_ask_for_the_sender(template: Template, variables: Variables) -> set[Grant]:
    """The sender's address and its domain, whichever was verified, and nobody else's."""
    place, sender = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity", str(variables["EMAIL_FROM"])
    return {Grant("ses:GetEmailIdentity", f"{place}/{each}") for each in (sender, sender.rpartition("@")[2])}


# What each call takes of IAM.
NEEDS: dict[Call, Needs] = {
    Call("sqs", "send_message"): _to_send,
    Call("sqs", "send_message_batch"): _to_send,
    Call("sqs", "get_queue_attributes"): _to_ask_how_deep,
    Call("secretsmanager", "get_secret_value"): _to_read_secrets,
    Call("secretsmanager", "put_secret_value"): _to_write_the_first_key,
    Call("kms", "encrypt"): _to_seal,
    Call("kms", "decrypt"): _to_open,
    Call("sesv2", "send_email"): _to_email,
    Call("sesv2", "get_account"): _to_ask_for_the_quota,
    Call("sesv2", "get_email_identity"): _to_ask_for_the_sender,
    Call("sns", "publish"): _to_publish,
    Call("sns", "create_platform_endpoint"): _to_make_endpoints,
    Call("lambda", "invoke"): _to_invoke,
    Call("s3", "put_object"): _to_archive,
}


def _for_lambda(template: Template, function: str) -> set[Grant]:
    """What Lambda does with the function's role: it polls its sources, and tells where an invocation has failed."""
    sources = [
        arn(template, each["EventSourceArn"])
        for each in of_type(template, "AWS::Lambda::EventSourceMapping").values()
        if function_of(template, each["FunctionName"]) == function
    ]
    destinations = [
        arn(template, destination["Destination"])
        for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()
        if function_of(template, each["FunctionName"]) == function
        for destination in each.get("DestinationConfig", {}).values()
    ]
    polled = {Grant(action, source) for source in sources for action in POLLING}
    return polled | {Grant("sqs:SendMessage", destination) for destination in destinations}


def _key_of(template: Template, secret: str) -> tuple[str, str]:
    """The key of a secret, and the purpose for which a reader has it; both empty where the account's own key serves."""
    ours, values = of_type(template, "AWS::SecretsManager::Secret"), template["Values"]
    if secret in ours:
        return str(named(ours[secret]["KmsKeyId"])), "secrets"
    if secret.endswith(".MasterUserSecret.SecretArn"):
        database = of_type(template, "AWS::RDS::DBInstance")[secret.partition(".")[0]]
        return str(named(database["MasterUserSecret"]["KmsKeyId"])), "secrets"
    key = values["ExistingDatabaseSecretKeyArn"]
    return (str(key), f"the secret {secret}") if key else ("", "")


def _applications(variables: Variables) -> list[str]:
    return [each for name, each in variables.items() if name.endswith("_APPLICATION_ARN") and each]


def _name_of_policy(template: Template, policy: Any) -> str:
    return arn(template, policy).partition(":policy/")[2]


def _trusted(document: dict[str, Any]) -> list[Any] | None:
    """The services that may take a role; None if it says anything else."""
    services = []
    for statement in listed(document["Statement"]):
        if (
            statement["Effect"] != "Allow"
            or listed(statement["Action"]) != ["sts:AssumeRole"]
            or set(statement["Principal"]) != {"Service"}
        ):
            return None
        services += listed(statement["Principal"]["Service"])
    return services
