"""Everything that can be switched off, filtered, delayed or ended is, in turn."""

from collections.abc import Iterator
from typing import Any

from tests.template import checks_of_switches as switches
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault

_LEFT_OUT: dict[str, dict[str, Any]] = {
    switches.MAPPING: {"FilterCriteria": {"Filters": []}},
    switches.SCHEDULE: {"EndDate": "2026-12-01T00:00:00Z", "StartDate": "2027-01-01T00:00:00Z"},
    switches.SUBSCRIPTION: {"FilterPolicy": {"eventType": ["Bounce"]}},
    switches.QUEUE: {"DelaySeconds": 900, "FifoQueue": True},
}
_OFF = {switches.MAPPING: ("Enabled", False), switches.RULE: ("State", "DISABLED"), switches.SCHEDULE: ("State", "DISABLED")}


def faults() -> Iterator[Fault]:
    for kind, said in _LEFT_OUT.items():
        for name in resources(kind):
            yield from (
                fault(switches.sources_schedules_and_subscriptions_leave_nothing_out, of(name, key), value)
                for key, value in said.items()
            )
    for kind, (key, off) in {**_OFF, "AWS::KMS::Key": ("Enabled", False)}.items():
        yield from (fault(switches.sources_rules_and_schedules_are_switched_on, of(name, key), off) for name in resources(kind))
    yield from _of_rules()
    yield from _of_timers()
    yield from _of_queues()
    yield from _of_functions()
    yield from _of_the_rest()


def _of_rules() -> Iterator[Fault]:
    check = switches.rules_together_take_every_event_of_the_bus
    for name in resources(switches.RULE):
        yield fault(check, ("Resources", name))
        yield fault(check, of(name, "EventPattern"), {"detail-type": ["other"]})
        yield fault(check, of(name, "EventPattern", "source"), ["shop"])
        yield fault(check, of(name, "EventBusName"), "default")
        yield fault(check, of(name, "Targets"), [])
        yield fault(check, of(name, "Targets", 0, "Arn"), {"Fn::GetAtt": ["PlanQueue", "Arn"]})
        left_out = switches.sources_schedules_and_subscriptions_leave_nothing_out
        yield fault(left_out, of(name, "Targets", 0, "InputPath"), "$.detail")


def _of_timers() -> Iterator[Fault]:
    check = switches.timers_run_as_often_as_they_must
    for name in resources(switches.SCHEDULE):
        yield fault(check, ("Resources", name))
        yield fault(check, of(name, "ScheduleExpression"), "rate(365 days)")
        yield fault(check, of(name, "FlexibleTimeWindow"), {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1440})


def _of_queues() -> Iterator[Fault]:
    for name in resources(switches.QUEUE):
        if "RedrivePolicy" in at(of(name)):
            yield fault(switches.queues_keep_messages_until_somebody_has_had_time, of(name, "MessageRetentionPeriod"), 3600)
    for name in resources(switches.MAPPING):
        yield fault(switches.batches_are_no_larger_than_a_worker_takes, of(name, "BatchSize"), 1000)
        yield fault(switches.batches_are_no_larger_than_a_worker_takes, of(name, "MaximumBatchingWindowInSeconds"), 300)


def _of_functions() -> Iterator[Fault]:
    for name in resources(switches.FUNCTION):
        yield fault(switches.functions_have_the_code_that_they_import, of(name, "Layers", 0))
        yield fault(switches.functions_log_whatever_they_say, of(name, "LoggingConfig", "ApplicationLogLevel"), "FATAL")
    yield fault(switches.functions_have_the_code_that_they_import, of("MigrateFunction", "Layers", 1))
    folder = of("MigrateFunction", "Environment", "Variables", "MIGRATIONS_FOLDER")
    yield fault(switches.functions_have_the_code_that_they_import, folder, "/var/task")
    for name, each in at(("Parameters",)).items():
        if name.endswith("Concurrency") and each["Type"] == "Number":
            yield fault(switches.nobody_can_ask_for_no_workers, ("Parameters", name, "MinValue"), 0)
    yield fault(switches.nobody_can_ask_for_no_workers, ("Parameters", "WebhookConcurrency", "MinValue"), 1)


def _of_the_rest() -> Iterator[Fault]:
    for option, value in {
        "SendingOptions": {"SendingEnabled": False},
        "ReputationOptions": {"ReputationMetricsEnabled": False},
        "SuppressionOptions": {"SuppressedReasons": []},
    }.items():
        yield fault(switches.emails_are_sent_and_judged, of("EmailConfigurationSet", option), value)
    (stage,) = resources("AWS::ApiGatewayV2::Stage")
    yield fault(switches.apis_answer, ("Resources", stage))
    yield fault(switches.apis_answer, of(stage, "ApiId"), "other")
    yield fault(switches.apis_answer, of(stage, "AutoDeploy"), False)
    yield fault(switches.apis_answer, of(stage, "StageName"), "v1")
    yield fault(switches.apis_answer, of(stage, "RouteSettings"), {"POST /v1/intents": {"ThrottlingRateLimit": 0}})
    yield fault(switches.apis_answer, of(stage, "DefaultRouteSettings", "ThrottlingRateLimit"), 0)
    yield fault(switches.apis_answer, of(stage, "DefaultRouteSettings", "ThrottlingBurstLimit"), 1)
    yield fault(switches.apis_answer, of(stage, "AccessLogSettings", "DestinationArn"), {"Ref": "ApiLogs"})
    yield fault(switches.apis_answer, of("HttpApi", "DisableExecuteApiEndpoint"), True)
