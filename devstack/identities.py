"""What AWS would call the resources of a template, where that follows from their names."""

from typing import Any

from devstack.intrinsics import ACCOUNT, REGION, STACK, Evaluator

# By type: the property that may hold the name, and what each attribute is, given that name.
_SCHEMES: dict[str, tuple[str, dict[str, str]]] = {
    "AWS::Serverless::Function": (
        "FunctionName",
        {"Ref": "{name}", "Arn": "arn:aws:lambda:{region}:{account}:function:{name}"},
    ),
    "AWS::SQS::Queue": (
        "QueueName",
        {
            "Ref": "{endpoint}/{account}/{name}",
            "QueueUrl": "{endpoint}/{account}/{name}",
            "Arn": "arn:aws:sqs:{region}:{account}:{name}",
            "QueueName": "{name}",
        },
    ),
    "AWS::SNS::Topic": (
        "TopicName",
        {
            "Ref": "arn:aws:sns:{region}:{account}:{name}",
            "TopicArn": "arn:aws:sns:{region}:{account}:{name}",
            "TopicName": "{name}",
        },
    ),
    "AWS::Events::EventBus": (
        "Name",
        {"Ref": "{name}", "Name": "{name}", "Arn": "arn:aws:events:{region}:{account}:event-bus/{name}"},
    ),
    "AWS::SecretsManager::Secret": ("Name", {"Name": "{name}"}),
    "AWS::S3::Bucket": ("BucketName", {"Ref": "{name}", "Arn": "arn:aws:s3:::{name}"}),
    "AWS::SES::ConfigurationSet": ("Name", {"Ref": "{name}"}),
    "AWS::IAM::Role": ("RoleName", {"Ref": "{name}", "Arn": "arn:aws:iam::{account}:role/{name}"}),
    "AWS::IAM::ManagedPolicy": ("ManagedPolicyName", {"Ref": "arn:aws:iam::{account}:policy/{name}"}),
}


def predictable(resources: dict[str, dict[str, Any]], evaluator: Evaluator, endpoint: str) -> dict[tuple[str, str], str]:
    """The identities that need no call to AWS. A layer goes by its logical id, since only that leads to its folder."""
    found: dict[tuple[str, str], str] = {}
    for logical_id, resource in resources.items():
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            found[logical_id, "Ref"] = logical_id
        if resource["Type"] not in _SCHEMES:
            continue
        name_property, attributes = _SCHEMES[resource["Type"]]
        given = evaluator.value(resource.get("Properties", {}).get(name_property))
        name = given if isinstance(given, str) else _default_name(resource, logical_id)
        values = {"name": name, "endpoint": endpoint, "region": REGION, "account": ACCOUNT}
        found |= {(logical_id, attribute): pattern.format(**values) for attribute, pattern in attributes.items()}
    return found | _rules(resources, evaluator, found)


def _rules(
    resources: dict[str, dict[str, Any]], evaluator: Evaluator, known: dict[tuple[str, str], str]
) -> dict[tuple[str, str], str]:
    """A rule's ARN has the name of its bus in it, unless that is the default one; here its own name is its logical id."""
    found = {}
    for logical_id, resource in resources.items():
        if resource["Type"] == "AWS::Events::Rule":
            given = resource.get("Properties", {}).get("EventBusName", "default")
            bus = known.get((given.get("Ref", ""), "Ref")) if isinstance(given, dict) else given
            bus = str(bus or evaluator.value(given)).rpartition("/")[2]
            path = logical_id if bus == "default" else f"{bus}/{logical_id}"
            found[logical_id, "Arn"] = f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{path}"
    return found


def _default_name(resource: dict[str, Any], logical_id: str) -> str:
    name = f"{STACK}-{logical_id}"
    if resource["Type"] == "AWS::S3::Bucket":
        return name.lower()
    is_fifo = str(resource.get("Properties", {}).get("FifoQueue", "")).lower() == "true"
    return f"{name}.fifo" if is_fifo else name
