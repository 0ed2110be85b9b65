"""Who waits for whom: whoever waits gives up after the one that is waited for, and early enough to say so."""

import ast
import re
from functools import cache
from typing import Any

from tests.template.alarms import read_by
from tests.template.aws_calls import Call
from tests.template.checks_of_grants import calls_of, variables_of
from tests.template.doors import folders
from tests.template.policies import arn
from tests.template.reading import ROOT, Template, named, of_type
from tests.template.wiring import function_of
from tocsin.foundation import aws, deadlines
from tocsin.upkeep import ask_aws, migrate

FUNCTION, QUEUE = "AWS::Lambda::Function", "AWS::SQS::Queue"
LONGEST_FUNCTION = 900  # seconds; Lambda's own limit
PAUSES = (60, 120)  # seconds that Lambda lets pass before the second and the third try of an invocation
# (function, call): how long all such calls may take there together, where its clients have limits of their own
BRIEF = {("OperateFunction", Call("sesv2", operation)): ask_aws.IN_ALL for operation in ("get_account", "get_email_identity")}
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400}


def the_migration_gives_up_before_whoever_waits_for_it(template: Template) -> list[str]:
    """It waits for another run, then for locks, and has time left to answer; Lambda ends it after that, CloudFormation gives up
    last. A second try begins only while somebody still waits for it."""
    violations = []
    for name, resource in template["Resources"].items():
        if not resource["Type"].startswith("Custom::"):
            continue
        function = function_of(template, resource["Properties"]["ServiceToken"])
        timeout, given_up = (
            of_type(template, FUNCTION)[str(function)]["Timeout"],
            int(resource["Properties"].get("ServiceTimeout", 3600)),
        )
        if _patience() + _spare_of_the_migration() >= timeout or timeout > LONGEST_FUNCTION:
            violations.append(f"{function}: {timeout} s")
        if timeout + PAUSES[0] >= given_up:
            violations.append(f"{name}: given up after {given_up} s")
        invoked = [each for each in _asynchronous(template) if function_of(template, each["FunctionName"]) == function]
        if not invoked or not all(timeout < each.get("MaximumEventAgeInSeconds", 21_600) <= given_up for each in invoked):
            violations.append(f"{function}: tried again when nobody waits, or never")
    return violations


def timers_end_before_they_run_again(template: Template) -> list[str]:
    """All their tries together; what is older than that is not begun."""
    violations = []
    for name, each in of_type(template, "AWS::Scheduler::Schedule").items():
        rate = _RATE.fullmatch(each["ScheduleExpression"])
        every = int(rate[1]) * _SECONDS[rate[2]] if rate else 0
        function = function_of(template, each["Target"]["Arn"])
        timeout = of_type(template, FUNCTION).get(str(function), {}).get("Timeout", LONGEST_FUNCTION)
        invoked = [one for one in _asynchronous(template) if function_of(template, one["FunctionName"]) == function]
        tries = [one.get("MaximumRetryAttempts", 2) for one in invoked] or [2]
        ages = [one.get("MaximumEventAgeInSeconds", 21_600) for one in (*invoked, each["Target"].get("RetryPolicy", {}))]
        if timeout * (1 + max(tries)) + sum(PAUSES[: max(tries)]) >= every or max(ages) > every:
            violations.append(f"{name}: every {every} s, {1 + max(tries)} times {timeout} s, {max(ages)} s old")
    return violations


def messages_become_dead_letters_before_they_expire(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, QUEUE).items():
        tried = each.get("RedrivePolicy", {}).get("maxReceiveCount", 0) * each.get("VisibilityTimeout", 30)
        if tried * 10 > each.get("MessageRetentionPeriod", 345_600):
            violations.append(f"{name}: tried for {tried} s")
    return violations


def functions_outlast_the_calls_they_make(template: Template) -> list[str]:
    """The longest that the SDK waits for a service, and time for the answer."""
    return [
        f"{name}: {each['Timeout']} s, and {call.service} may take {seconds} s"
        for name, each in of_type(template, FUNCTION).items()
        for call in calls_of(name)
        if (seconds := BRIEF.get((name, call), sum(aws._LIMITS[call.service]))) + deadlines.SPARE >= each["Timeout"]
    ]


def functions_outlast_the_proxy(template: Template) -> list[str]:
    """It says that no connection is free before they give up on it."""
    waits = [
        each.get("ConnectionPoolConfigurationInfo", {}).get("ConnectionBorrowTimeout", 120)
        for each in of_type(template, "AWS::RDS::DBProxyTargetGroup").values()
    ]
    return [
        f"{name}: {each['Timeout']} s"
        for name, each in of_type(template, FUNCTION).items()
        if max(waits, default=0) + deadlines.SPARE >= each["Timeout"]
    ]


def late_evidence_rings_before_it_is_too_late(template: Template) -> list[str]:
    """Providers' events that wait longer than the window prove nothing any more: sends are repeated, or given up."""
    windows = [
        int(each) for one in of_type(template, FUNCTION).values() if (each := variables_of(one).get("EVIDENCE_WINDOW_SECONDS"))
    ]
    mappings = of_type(template, "AWS::Lambda::EventSourceMapping").values()
    queues = {
        arn(template, each["EventSourceArn"])
        for each in mappings
        if folders().get(str(function_of(template, each["FunctionName"]))) == "functions/feedback"
    }
    alarms = {
        name: each["Threshold"] + each["EvaluationPeriods"] * each["Period"]
        for name, each in of_type(template, "AWS::CloudWatch::Alarm").items()
        if "Period" in each and any(named(one.dimensions.get("QueueName")) in queues for one in read_by(name, each))
    }
    late = [f"{name}: after {seconds} s" for name, seconds in alarms.items() if seconds >= min(windows, default=0)]
    return late or ([] if alarms else ["nobody watches the evidence"])


def _asynchronous(template: Template) -> list[dict[str, Any]]:
    return list(of_type(template, "AWS::Lambda::EventInvokeConfig").values())


def _patience() -> float:
    """How long a migration may wait: for another run, and then for locks, with pauses that are a quarter longer at most."""
    return migrate.PATIENCE.total_seconds() + 1.25 * sum(migrate._LOCK_PAUSES)


@cache
def _spare_of_the_migration() -> float:
    tree = ast.parse((ROOT / "functions/migrate/app.py").read_text())
    found = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SPARE_SECONDS"]
    return float(ast.literal_eval(found[0]))
