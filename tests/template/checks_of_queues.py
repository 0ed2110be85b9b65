"""What must hold of every queue, its consumer and its dead letters, and of every topic."""

from collections import Counter
from math import inf
from typing import Any

from tests.template.reading import Template, listed, named, of_type
from tocsin.foundation.settings import QUEUES

QUEUE = "AWS::SQS::Queue"
TWO_DAYS, TWO_WEEKS = 172_800, 1_209_600
# dead-letter queue: why its messages need not be kept for as long as SQS can
OF_NO_USE_LATER = {"WorkDeadLetterQueue": "nudges, which the sweep repeats; while they lie there an alarm rings"}
MAPPING = "AWS::Lambda::EventSourceMapping"
DEFAULT_RETENTION = 345600


def queues_stay_hidden_for_six_timeouts(template: Template) -> list[str]:
    return [
        f"{queue}: hidden {_queue(template, queue).get('VisibilityTimeout', 30)} s, consumer runs {timeout} s"
        for queue, timeout in ((queue, _consumer(template, each)["Timeout"]) for queue, each in _consumed(template))
        if _queue(template, queue).get("VisibilityTimeout", 30) < 6 * timeout
    ]


def consumers_report_single_failures(template: Template) -> list[str]:
    return [
        queue for queue, each in _consumed(template) if "ReportBatchItemFailures" not in each.get("FunctionResponseTypes", [])
    ]


def large_batches_have_a_window(template: Template) -> list[str]:
    return [
        f"{queue}: batches of {each['BatchSize']}"
        for queue, each in _consumed(template)
        if each.get("BatchSize", 10) > 10 and not each.get("MaximumBatchingWindowInSeconds")
    ]


def consumers_scale_within_their_reservation(template: Template) -> list[str]:
    """All the sources of a function together, where it has one; each with two at least (Lambda takes no less)."""
    violations = []
    taken: Counter[str] = Counter()
    for queue, each in _consumed(template):
        maximum = each.get("ScalingConfig", {}).get("MaximumConcurrency", 0)
        function, reserved = named(each["FunctionName"]), _consumer(template, each).get("ReservedConcurrentExecutions", inf)
        taken[str(function)] += maximum
        if maximum < 2 or taken[str(function)] > reserved:
            violations.append(f"{queue}: up to {maximum} of {taken[str(function)]} consumers, {reserved} reserved")
    return violations


def work_is_divided_whole(template: Template) -> list[str]:
    """Each size of dispatch gives away as many workers as it reserves, two at least to each class of work."""
    return [
        f"{size}: {shares}"
        for size, shares in template["Mappings"]["Dispatch"].items()
        if not int(size) == shares["All"] == sum(shares.values()) - shares["All"] or min(shares.values()) < 2
    ]


def classes_of_work_have_workers_of_their_own(template: Template) -> list[str]:
    """Every queue that work is nudged on has one source: a slow class fills only its own."""
    functions = of_type(template, "AWS::Lambda::Function").values()
    sources = Counter(queue for queue, _ in _consumed(template))
    return sorted({str(queue) for each in functions for queue in _nudged(each) if sources[str(queue)] != 1})


def workers_know_the_queues_they_serve(template: Template) -> list[str]:
    """By its URL a worker knows which queue woke it, and goes on with what else is due there."""
    return [
        f"{named(each['FunctionName'])}: {queue}"
        for queue, each in _consumed(template)
        if "LEASE_SECONDS" in _variables(_consumer(template, each)) and queue not in _nudged(_consumer(template, each))
    ]


def functions_may_nudge_the_queues_they_are_told_of_and_no_others(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, "AWS::Lambda::Function").items():
        role = of_type(template, "AWS::IAM::Role")[str(named(each["Role"]))]
        statements = [one for policy in role.get("Policies", []) for one in policy["PolicyDocument"]["Statement"]]
        sending = [one["Resource"] for one in statements if "sqs:SendMessage" in listed(one["Action"])]
        allowed = {named(queue) for resource in sending for queue in listed(resource)} - dead_letter_queues(template)
        violations += [f"{name}: {queue}" for queue in sorted(map(str, allowed ^ _nudged(each)))]
    return violations


def queues_have_a_dead_letter_queue(template: Template) -> list[str]:
    fed = dead_letter_queues(template)
    return [name for name, each in of_type(template, QUEUE).items() if name not in fed and "RedrivePolicy" not in each]


def messages_are_tried_five_to_twenty_times(template: Template) -> list[str]:
    return [
        f"{name}: {each['RedrivePolicy'].get('maxReceiveCount')}"
        for name, each in of_type(template, QUEUE).items()
        if "RedrivePolicy" in each and not 5 <= each["RedrivePolicy"].get("maxReceiveCount", 0) <= 20
    ]


def dead_letters_are_kept_longer_than_messages(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, QUEUE).items():
        dead = named(each.get("RedrivePolicy", {}).get("deadLetterTargetArn"))
        if dead is not None and _retention(_queue(template, dead)) <= _retention(each):
            violations.append(f"{name}: {_retention(each)} s, {dead}: {_retention(_queue(template, dead))} s")
    return violations


def dead_letter_queues_keep_what_somebody_needs_for_two_weeks(template: Template) -> list[str]:
    return [
        name
        for name in dead_letter_queues(template)
        if _retention(_queue(template, name)) != (TWO_DAYS if name in OF_NO_USE_LATER else TWO_WEEKS)
    ]


def dead_letter_queues_admit_only_their_own(template: Template) -> list[str]:
    allowed = {"byQueue", "denyAll"}
    return [
        name
        for name in dead_letter_queues(template)
        if _queue(template, name).get("RedriveAllowPolicy", {}).get("redrivePermission") not in allowed
    ]


def queues_are_encrypted(template: Template) -> list[str]:
    queues = of_type(template, QUEUE).items()
    return [name for name, each in queues if not each.get("SqsManagedSseEnabled") and not each.get("KmsMasterKeyId")]


def topics_are_encrypted(template: Template) -> list[str]:
    return [name for name, each in of_type(template, "AWS::SNS::Topic").items() if not each.get("KmsMasterKeyId")]


def queues_and_topics_refuse_plain_http(template: Template) -> list[str]:
    guarded = {
        named(place)
        for kind, places in (("AWS::SQS::QueuePolicy", "Queues"), ("AWS::SNS::TopicPolicy", "Topics"))
        for policy in of_type(template, kind).values()
        if any(_denies_plain_http(statement) for statement in policy["PolicyDocument"]["Statement"])
        for place in policy[places]
    }
    return sorted({*of_type(template, QUEUE), *of_type(template, "AWS::SNS::Topic")} - guarded)


def services_send_only_on_our_behalf(template: Template) -> list[str]:
    return [
        f"{name}: {statement.get('Sid', statement['Principal'])}"
        for kind in ("AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy")
        for name, policy in of_type(template, kind).items()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow" and not _names_its_source(statement)
    ]


def rules_may_send_where_they_point(template: Template) -> list[str]:
    """EventBridge drops, without a word, what a queue does not admit: the event and its dead letter alike."""
    admitted = {
        (named(queue), named(source))
        for policy in of_type(template, "AWS::SQS::QueuePolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow" and statement["Principal"] == {"Service": "events.amazonaws.com"}
        for source in listed(statement.get("Condition", {}).get("ArnEquals", {}).get("aws:SourceArn"))
        for queue in policy["Queues"]
    }
    return [
        f"{name}: {named(place)}"
        for name, each in of_type(template, "AWS::Events::Rule").items()
        for target in each["Targets"]
        for place in (target["Arn"], target.get("DeadLetterConfig", {}).get("Arn"))
        if named(place) in of_type(template, QUEUE) and (named(place), name) not in admitted
    ]


def email_events_prove_every_outcome(template: Template) -> list[str]:
    required = {"send", "delivery", "bounce", "complaint", "reject", "deliveryDelay"}
    destinations = of_type(template, "AWS::SES::ConfigurationSetEventDestination")
    return [
        f"{name}: without {sorted(required - set(each['EventDestination']['MatchingEventTypes']))}"
        for name, each in destinations.items()
        if not required <= set(each["EventDestination"]["MatchingEventTypes"]) or not each["EventDestination"].get("Enabled")
    ] or ([] if destinations else ["no event destination"])


def email_travels_encrypted(template: Template) -> list[str]:
    sets = of_type(template, "AWS::SES::ConfigurationSet").items()
    return [name for name, each in sets if each.get("DeliveryOptions", {}).get("TlsPolicy") != "REQUIRE"]


def consumed_queues(template: Template) -> set[str]:
    return {queue for queue, _ in _consumed(template)}


def _consumed(template: Template) -> list[tuple[str, dict[str, Any]]]:
    mappings = of_type(template, MAPPING).values()
    return [(str(named(each["EventSourceArn"])), each) for each in mappings]


def _consumer(template: Template, mapping: dict[str, Any]) -> dict[str, Any]:
    return of_type(template, "AWS::Lambda::Function")[str(named(mapping["FunctionName"]))]


def _variables(function: dict[str, Any]) -> dict[str, Any]:
    variables: dict[str, Any] = function.get("Environment", {}).get("Variables", {})
    return variables


def _nudged(function: dict[str, Any]) -> set[str | None]:
    """Of other queues a function knows only to ask how deep they are."""
    work = {f"{queue.upper()}_QUEUE_URL" for queue in QUEUES}
    return {named(value) for name, value in _variables(function).items() if name in work}


def _queue(template: Template, name: str) -> dict[str, Any]:
    return of_type(template, QUEUE)[name]


def _retention(queue: dict[str, Any]) -> int:
    return int(queue.get("MessageRetentionPeriod", DEFAULT_RETENTION))


def dead_letter_queues(template: Template) -> set[str]:
    queues = of_type(template, QUEUE)
    redriven = {named(each.get("RedrivePolicy", {}).get("deadLetterTargetArn")) for each in queues.values()}
    failures = {
        named(each.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination"))
        for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()
    }
    return {name for name in queues if name in redriven | failures}


def _denies_plain_http(statement: dict[str, Any]) -> bool:
    plain = statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport")
    return statement["Effect"] == "Deny" and statement["Principal"] == "*" and str(plain).lower() == "false"


def _names_its_source(statement: dict[str, Any]) -> bool:
    keys = {key for test in statement.get("Condition", {}).values() for key in test}
    return (
        statement["Principal"] != "*"
        and bool(keys & {"aws:SourceArn", "aws:SourceAccount"})
        and bool(listed(statement["Action"]))
    )
