"""Nothing is switched off, filtered, delayed or scheduled away: what a service can be told to leave out, it is not told."""

import re
from typing import Any

from tests.template.doors import folders
from tests.template.policies import arn
from tests.template.reading import Template, listed, named, of_type, whole
from tests.template.wiring import function_of
from tocsin.intake.accept_messages import INTENT

MAPPING, RULE, SCHEDULE = "AWS::Lambda::EventSourceMapping", "AWS::Events::Rule", "AWS::Scheduler::Schedule"
FUNCTION, QUEUE, SUBSCRIPTION = "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::SNS::Subscription"
# What these may say. Whatever else they could be told leaves something out, or is to be thought about first.
KNOWN: dict[str, set[str]] = {
    MAPPING: {
        *("Enabled", "EventSourceArn", "FunctionName", "BatchSize", "MaximumBatchingWindowInSeconds"),
        *("FunctionResponseTypes", "ScalingConfig"),
    },
    RULE: {"Name", "Description", "EventBusName", "EventPattern", "State", "Targets"},
    SCHEDULE: {"Description", "ScheduleExpression", "FlexibleTimeWindow", "Target", "State"},
    SUBSCRIPTION: {"TopicArn", "Protocol", "Endpoint", "RawMessageDelivery", "RedrivePolicy"},
    QUEUE: {
        *("QueueName", "VisibilityTimeout", "MessageRetentionPeriod", "SqsManagedSseEnabled"),
        *("RedrivePolicy", "RedriveAllowPolicy"),
    },
}
IN_A_TARGET = {
    RULE: {"Id", "Arn", "RetryPolicy", "DeadLetterConfig"},
    SCHEDULE: {"Arn", "RoleArn", "RetryPolicy", "DeadLetterConfig", "Input"},
}
# door: how often it must run
EVERY = {"functions/sweep": "rate(1 minute)", "functions/retention": "rate(1 hour)"}
# Seconds for which a queue keeps what is on it. Nudges lose little, since the sweep finds what they were about; whatever else
# comes by queue is nowhere else, and a long weekend must pass before it is lost.
NUDGES_LAST, MESSAGES_LAST = 86_400, 345_600
_HASH = re.compile("[0-9a-f]{10}$")  # which SAM appends, so that a layer with other contents is another layer
UNPACKED = "/opt"  # where Lambda puts what a layer contains
ON = ("ENABLED", "Enabled", True, None)  # what is not said is on


def sources_schedules_and_subscriptions_leave_nothing_out(template: Template) -> list[str]:
    """No filter, no delay, no beginning and no end."""
    violations = [
        f"{name}: {setting}"
        for kind, known in KNOWN.items()
        for name, each in of_type(template, kind).items()
        for setting in sorted(set(each) - known)
    ]
    for kind, known in IN_A_TARGET.items():
        for name, each in of_type(template, kind).items():
            targets = each["Targets"] if kind == RULE else [each["Target"]]
            violations += [f"{name}: {setting}" for target in targets for setting in sorted(set(target) - known)]
    return violations


def sources_rules_and_schedules_are_switched_on(template: Template) -> list[str]:
    kinds = {MAPPING: "Enabled", RULE: "State", SCHEDULE: "State", "AWS::KMS::Key": "Enabled"}
    return [name for kind, key in kinds.items() for name, each in of_type(template, kind).items() if each.get(key) not in ON]


def rules_together_take_every_event_of_the_bus(template: Template) -> list[str]:
    """Intents by their type, and everything that is not one of those; to the queue of the function that accepts both."""
    violations = []
    for bus in of_type(template, "AWS::Events::EventBus"):
        rules = {name: each for name, each in of_type(template, RULE).items() if named(each["EventBusName"]) == bus}
        patterns = [each["EventPattern"] for each in rules.values()]
        wanted = [{"detail-type": [INTENT]}, {"detail-type": [{"anything-but": [INTENT]}]}]
        violations += [f"{bus}: no rule for {pattern}" for pattern in wanted if patterns.count(pattern) != 1]
        violations += [f"{name}: {each['EventPattern']}" for name, each in rules.items() if each["EventPattern"] not in wanted]
        for name, each in rules.items():
            readers = [_readers(template, arn(template, target["Arn"])) for target in each["Targets"]]
            violations += [] if readers == [["functions/intake_queue"]] else [f"{name} leads to {readers}"]
    strays = [name for name, each in of_type(template, RULE).items() if named(each["EventBusName"]) not in template["Resources"]]
    return violations + strays


def timers_run_as_often_as_they_must(template: Template) -> list[str]:
    schedules = of_type(template, SCHEDULE).values()
    found = [(folders().get(str(function_of(template, each["Target"]["Arn"]))), each) for each in schedules]
    violations = [
        f"{door}: not {often}"
        for door, often in EVERY.items()
        if [each["ScheduleExpression"] for at, each in found if at == door] != [often]
    ]
    return violations + [f"{door}: at no certain time" for door, each in found if each["FlexibleTimeWindow"] != {"Mode": "OFF"}]


def queues_keep_messages_until_somebody_has_had_time(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, QUEUE).items():
        if "RedrivePolicy" in each:
            doors = _readers(template, name)
            least = MESSAGES_LAST if {"functions/intake_queue", "functions/feedback"} & set(doors) else NUDGES_LAST
            violations += [f"{name}: {kept} s" for kept in [each.get("MessageRetentionPeriod", 345_600)] if kept < least]
    return violations


def batches_are_no_larger_than_a_worker_takes(template: Template) -> list[str]:
    """And nothing waits until one is full."""
    return [
        name
        for name, each in of_type(template, MAPPING).items()
        if not 1 <= each.get("BatchSize", 10) <= 10 or each.get("MaximumBatchingWindowInSeconds", 0) != 0
    ]


def emails_are_sent_and_judged(template: Template) -> list[str]:
    """Sending is on; SES keeps count of bounces and complaints, and mails nobody who has complained."""
    wanted = {
        "SendingOptions": {"SendingEnabled": True},
        "ReputationOptions": {"ReputationMetricsEnabled": True},
        "SuppressionOptions": {"SuppressedReasons": ["BOUNCE", "COMPLAINT"]},
    }
    sets = of_type(template, "AWS::SES::ConfigurationSet").items()
    return [f"{name}: {each.get(option)}" for name, each in sets for option, value in wanted.items() if each.get(option) != value]


def functions_have_the_code_that_they_import(template: Template) -> list[str]:
    """The shared layer, and whoever migrates the migrations; else a function fails as it starts."""
    violations = []
    for name, each in of_type(template, FUNCTION).items():
        layers = {_HASH.sub("", str(named(layer))) for layer in each.get("Layers", [])}
        wanted = {"SharedLayer", "MigrationsLayer"} if "MIGRATIONS_FOLDER" in _variables(each) else {"SharedLayer"}
        violations += [f"{name}: {layer}" for layer in sorted(wanted ^ layers)]
        violations += [name] if _variables(each).get("MIGRATIONS_FOLDER", UNPACKED) != UNPACKED else []
    return violations


def functions_log_whatever_they_say(template: Template) -> list[str]:
    """Metrics are lines of the log; Lambda's own filter by level would swallow them, from WARN on, and they have no level."""
    said = {"LogFormat", "LogGroup", "ApplicationLogLevel"}
    functions = of_type(template, FUNCTION).items()
    return [
        name
        for name, each in functions
        if set(each["LoggingConfig"]) - said or each["LoggingConfig"].get("ApplicationLogLevel", "INFO") not in {"DEBUG", "INFO"}
    ]


def nobody_can_ask_for_no_workers(template: Template) -> list[str]:
    """A concurrency of 0 stops a function; a source takes no less than two."""
    bounded = {
        name: each for name, each in template["Parameters"].items() if name.endswith("Concurrency") and each["Type"] == "Number"
    }
    sources = str([each.get("ScalingConfig") for each in of_type(whole(), MAPPING).values()])
    least = {name: 2 if f"'{name}'" in sources else 1 for name in bounded}
    return [f"{name}: {each.get('MinValue')}" for name, each in bounded.items() if each.get("MinValue", 0) < least[name]]


def apis_answer(template: Template) -> list[str]:
    """Whatever is deployed is served, at the address that is told, and logged; every route has the limit that was asked for."""
    stages = of_type(template, "AWS::ApiGatewayV2::Stage").items()
    staged = {named(each.get("ApiId")) for _, each in stages}
    unstaged = [name for name in of_type(template, "AWS::ApiGatewayV2::Api") if name not in staged]
    asleep = [name for name, each in stages if each.get("AutoDeploy") is not True or each["StageName"] != "$default"]
    rate = template["Values"]["ApiRequestsPerSecond"]
    limited = [name for name, each in stages if "RouteSettings" in each or set(_limits(each)) != {rate}]
    groups = of_type(template, "AWS::Logs::LogGroup")
    limited += [
        name for name, each in stages if arn(template, each.get("AccessLogSettings", {}).get("DestinationArn")) not in groups
    ]
    closed = [name for name, each in of_type(template, "AWS::ApiGatewayV2::Api").items() if each.get("DisableExecuteApiEndpoint")]
    return unstaged + asleep + limited + closed


def _readers(template: Template, queue: str) -> list[str | None]:
    mappings = of_type(template, MAPPING).values()
    found = [function_of(template, each["FunctionName"]) for each in mappings if arn(template, each["EventSourceArn"]) == queue]
    return [folders().get(str(each)) for each in found]


def _variables(function: dict[str, Any]) -> dict[str, Any]:
    variables: dict[str, Any] = function.get("Environment", {}).get("Variables", {})
    return variables


def _limits(stage: dict[str, Any]) -> list[int]:
    settings = stage.get("DefaultRouteSettings", {})
    return [int(each) for each in listed(settings.get("ThrottlingRateLimit")) + listed(settings.get("ThrottlingBurstLimit"))] or [
        1
    ]
