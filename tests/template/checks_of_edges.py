"""Where one service of AWS hands on to another, both ends say so: whoever sends is told where, whoever is sent to lets it in."""

from fnmatch import fnmatchcase
from typing import Any

from tests.template.admissions import ANYBODY, OUR_ACCOUNT, Admission, admissions, admissions_by_key
from tests.template.aws_calls import Call, called_by
from tests.template.doors import folders
from tests.template.policies import Grant, arn, grants_of
from tests.template.reading import Template, listed, named, of_type
from tests.template.wiring import function_of

QUEUE, TOPIC, KEY, FUNCTION = "AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::KMS::Key", "AWS::Lambda::Function"
SUBSCRIPTION, DESTINATION = "AWS::SNS::Subscription", "AWS::SES::ConfigurationSetEventDestination"
# What a service must do with the key of a topic to publish there, and CloudWatch Logs with that of a group.
TO_PUBLISH = {"kms:GenerateDataKey", "kms:Decrypt"}
TO_LOG = {
    *("kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:DescribeKey"),
    *("kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext"),
}
_ROOT = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
LOGS = "logs.${AWS::Region}.amazonaws.com"
_GROUP = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:"
_SET = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:configuration-set/"
_QUEUE = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:"


def queues_and_topics_let_in_whoever_sends_to_them_and_no_other(template: Template) -> list[str]:
    """What is refused here is lost without a word: by SNS, by EventBridge, by SES and by CloudWatch alike."""
    places = [*of_type(template, QUEUE), *of_type(template, TOPIC)]
    admitted = {each for place in places for each in admissions(template, place)}
    wanted = _sent(template)
    refused = [f"not admitted: {' '.join(each)}" for each in sorted(wanted - admitted)]
    return refused + [f"nobody comes: {' '.join(each)}" for each in sorted(admitted - wanted)]


def keys_serve_whoever_publishes_to_what_they_encrypt(template: Template) -> list[str]:
    """A topic that a service may publish to, and whose key it may not use, stays silent."""
    violations = []
    for sent in sorted(_sent(template)):
        place = template["Resources"][sent.place]["Properties"]
        if "KmsMasterKeyId" not in place:
            continue
        key = str(named(place["KmsMasterKeyId"]))
        of_key = admissions_by_key(template, key) if key in of_type(template, KEY) else set()  # AWS's own keys admit no service
        may = {each.action for each in of_key if each.service == sent.service and each.source in (ANYBODY, OUR_ACCOUNT)}
        violations += [f"{sent.service} for {sent.place}: {action} of {key}" for action in sorted(TO_PUBLISH - may)]
    return violations


def keys_leave_it_to_the_roles_who_uses_them(template: Template) -> list[str]:
    """Without this statement no grant of a role counts, and nobody could ever change the key again."""
    wanted = {"Effect": "Allow", "Principal": _ROOT, "Action": "kms:*", "Resource": "*"}
    statements = {name: each["KeyPolicy"]["Statement"] for name, each in of_type(template, KEY).items()}
    return [name for name, found in statements.items() if wanted not in [_without_sid(one) for one in found]]


def whoever_sends_begins_when_it_is_let_in(template: Template) -> list[str]:
    """SES tries the topic at once, and a subscription delivers at once: their policies come first."""
    waiting = {
        name: each.get("DependsOn", [])
        for kind in (SUBSCRIPTION, DESTINATION)
        for name, each in template["Resources"].items()
        if each["Type"] == kind and each["Properties"].get("Protocol") != "email"
    }
    return [
        f"{name} does not wait for {policy}"
        for name, awaited in waiting.items()
        for policy in _policies_of(template, _places_of(template, name))
        if policy not in listed(awaited)
    ]


def keys_serve_the_logs_they_encrypt(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, "AWS::Logs::LogGroup").items():
        group = f"{_GROUP}{_name_of(name, each)}"
        found = [one for one in admissions_by_key(template, str(named(each["KmsKeyId"]))) if one.service == LOGS]
        may = {one.action for one in found if fnmatchcase(group, one.source.replace("[", "[[]"))}
        violations += [f"{name}: {action}" for action in sorted(TO_LOG - may)]
    return violations


def _name_of(logical_id: str, group: dict[str, Any]) -> str:
    """One that is not given a name has its stack's and its own."""
    given = group.get("LogGroupName")
    return str(given["Fn::Sub"]) if isinstance(given, dict) else f"${{AWS::StackName}}-{logical_id}-1A2B3C"


def dead_letter_queues_admit_all_that_feed_them_and_no_others(template: Template) -> list[str]:
    """A queue that is not admitted keeps its poison, and hands it out again and again."""
    violations = []
    queues = of_type(template, QUEUE)
    for name, each in queues.items():
        policy = each.get("RedriveAllowPolicy", {})
        feeding = {
            one
            for one, other in queues.items()
            if arn(template, other.get("RedrivePolicy", {}).get("deadLetterTargetArn")) == name
        }
        admitted = {arn(template, source) for source in policy.get("sourceQueueArns", [])}
        wanted = {_QUEUE + queues[one].get("QueueName", {}).get("Fn::Sub", "?") for one in feeding}
        if policy.get("redrivePermission", "allowAll") == "allowAll" and not admitted:
            continue
        violations += [f"{name}: {source}" for source in sorted(wanted ^ admitted)]
    return violations


def queues_are_emptied_by_a_function_or_by_people(template: Template) -> list[str]:
    """By a function, unless what it holds are dead letters."""
    mapped = {arn(template, each["EventSourceArn"]) for each in of_type(template, "AWS::Lambda::EventSourceMapping").values()}
    queues = of_type(template, QUEUE)
    feeding = {
        name: arn(template, each["RedrivePolicy"]["deadLetterTargetArn"])
        for name, each in queues.items()
        if "RedrivePolicy" in each
    }
    lost = [f"{name}: nobody reads it" for name in queues if (name in feeding) != (name in mapped)]
    return lost + [f"{name} gives up to {dead}" for name, dead in feeding.items() if dead not in queues or dead in feeding]


def what_becomes_of_an_email_comes_back(template: Template) -> list[str]:
    """From the configuration set that emails are sent with, by a topic and a queue, to the function that heeds it."""
    senders = [name for name, folder in folders().items() if Call("sesv2", "send_email") in called_by(folder)]
    functions = of_type(template, FUNCTION)
    sets = {name: named(functions[name]["Environment"]["Variables"]["EMAIL_CONFIGURATION_SET"]) for name in senders}
    heard = {used for used in sets.values() if _heeds(template, used)}
    return [f"{name}: of {used} nothing is heard" for name, used in sets.items() if used not in heard]


def the_database_is_watched_and_encrypted_by_whom_it_names(template: Template) -> list[str]:
    """The role that RDS writes its measurements with may do so; the one that the proxy reads secrets with, likewise."""
    violations = []
    for name, each in of_type(template, "AWS::RDS::DBInstance").items():
        taken = (
            of_type(template, "AWS::IAM::Role").get(str(named(each.get("MonitoringRoleArn"))), {}).get("ManagedPolicyArns", [])
        )
        if not any("AmazonRDSEnhancedMonitoringRole" in arn(template, policy) for policy in taken):
            violations.append(name)
    for name, each in of_type(template, "AWS::RDS::DBProxy").items():
        secrets = {arn(template, one["SecretArn"]) for one in each["Auth"]}
        keys = {named(of_type(template, "AWS::SecretsManager::Secret")[secret]["KmsKeyId"]) for secret in secrets}
        wanted = {Grant("secretsmanager:GetSecretValue", secret) for secret in secrets}
        wanted |= {Grant("kms:Decrypt", str(key), "secrets") for key in keys}
        differing = wanted ^ grants_of(template, str(named(each["RoleArn"])))
        violations += [f"{name}: {' '.join(grant)}" for grant in sorted(differing)]
    return violations


def _sent(template: Template) -> set[Admission]:
    """Every edge from one service to a queue or a topic of ours."""
    sent = set()
    for each in of_type(template, SUBSCRIPTION).values():
        if each["Protocol"] == "sqs":
            places = [each["Endpoint"], each.get("RedrivePolicy", {}).get("deadLetterTargetArn")]
            sent |= {
                (place, "sns.amazonaws.com", "sqs:SendMessage", arn(template, each["TopicArn"]))
                for place in _all(template, places)
            }
    for name, each in of_type(template, "AWS::Events::Rule").items():
        for target in each["Targets"]:
            places = [target["Arn"], target.get("DeadLetterConfig", {}).get("Arn")]
            sent |= {(place, "events.amazonaws.com", "sqs:SendMessage", name) for place in _all(template, places)}
    for each in of_type(template, DESTINATION).values():
        place = arn(template, each["EventDestination"]["SnsDestination"]["TopicARN"])
        sent.add((place, "ses.amazonaws.com", "sns:Publish", f"{_SET}${{{named(each['ConfigurationSetName'])}}}"))
    for each in of_type(template, "AWS::CloudWatch::Alarm").values():
        told = [each.get(state, []) for state in ("AlarmActions", "OKActions", "InsufficientDataActions")]
        sent |= {
            (arn(template, one), "cloudwatch.amazonaws.com", "sns:Publish", OUR_ACCOUNT) for actions in told for one in actions
        }
    return {Admission(*each) for each in sent if each[0] in template["Resources"]}


def _places_of(template: Template, sender: str) -> list[str]:
    each = template["Resources"][sender]["Properties"]
    if "EventDestination" in each:
        return [arn(template, each["EventDestination"]["SnsDestination"]["TopicARN"])]
    return _all(template, [each["Endpoint"], each.get("RedrivePolicy", {}).get("deadLetterTargetArn")])


def _policies_of(template: Template, places: list[str]) -> list[str]:
    kinds = {"AWS::SQS::QueuePolicy": "Queues", "AWS::SNS::TopicPolicy": "Topics"}
    return [
        name
        for kind, key in kinds.items()
        for name, each in of_type(template, kind).items()
        if {*map(named, each[key])} & {*places}
    ]


def _without_sid(statement: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in statement.items() if key != "Sid"}


def _all(template: Template, places: list[Any]) -> list[str]:
    return [arn(template, place) for place in places if place is not None]


def _heeds(template: Template, used: str | None) -> bool:
    topics = {
        arn(template, each["EventDestination"]["SnsDestination"]["TopicARN"])
        for each in of_type(template, DESTINATION).values()
        if named(each["ConfigurationSetName"]) == used
    }
    subscribed = [each for each in of_type(template, SUBSCRIPTION).values() if arn(template, each["TopicArn"]) in topics]
    queues = {arn(template, each["Endpoint"]) for each in subscribed if each["Protocol"] == "sqs"}
    mappings = of_type(template, "AWS::Lambda::EventSourceMapping").values()
    readers = {
        function_of(template, each["FunctionName"]) for each in mappings if arn(template, each["EventSourceArn"]) in queues
    }
    return any(folders().get(str(reader)) == "functions/feedback" for reader in readers)
