"""What operators see and set: alarms, logs, parameters, outputs, and the handlers that the template promises."""

import ast
import json
import re
from typing import Any

from tests.template.checks_of_functions import SECRET_NAME
from tests.template.checks_of_queues import consumed_queues, dead_letter_queues
from tests.template.metrics import shown_metrics, variables, widgets, written_metrics
from tests.template.reading import ROOT, Template, named, of_type, templates

ALARM = "AWS::CloudWatch::Alarm"
DASHBOARD = "AWS::CloudWatch::Dashboard"
# What AWS itself writes, as far as we look at it.
AWS_METRICS = {
    "AWS/Lambda": {"Errors", "Throttles", "Duration", "Invocations", "AsyncEventsDropped"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
    "AWS/ApiGateway": {"Count", "4xx", "5xx"},
    "AWS/RDS": {
        *("CPUUtilization", "FreeStorageSpace", "DatabaseConnections", "DatabaseConnectionsCurrentlySessionPinned"),
    },
    "AWS/SES": {"Reputation.BounceRate", "Reputation.ComplaintRate"},
    "AWS/SNS": {"SMSMonthToDateSpentUSD"},
}
# queue: why an alarm on what lies there would never end
ONLY_READ = {"FailedInvocationsQueue": "nobody works off what it says; its functions' own metrics ring, and end"}
METRICS_OF_AN_ALARM = 10
LIMITS = {"AllowedPattern", "AllowedValues", "MinValue"}
# alarm: which of its metrics ring nothing
FORGIVING = {"ServerErrorsAlarm": "it takes off what LiveFunction and WaitFunction turned away"}
WAITS = {"LiveFunction": 20, "WaitFunction": 20, "WebhooksFunction": 55}  # seconds, on purpose
SECRET_ATTRIBUTE = re.compile(r"\{\{resolve:|SecretString|Password", re.IGNORECASE)


def alarms_tell_somebody(template: Template) -> list[str]:
    topics = of_type(template, "AWS::SNS::Topic")
    return [
        name
        for name, each in of_type(template, ALARM).items()
        if not {named(action) for action in each.get("AlarmActions", [])} & set(topics)
        or each.get("ActionsEnabled", True) is not True
    ]


def alarms_say_what_is_wrong(template: Template) -> list[str]:
    return [name for name, each in of_type(template, ALARM).items() if len(each.get("AlarmDescription", "")) < 20]


def alarms_decide_about_missing_data(template: Template) -> list[str]:
    return [name for name, each in of_type(template, ALARM).items() if "TreatMissingData" not in each]


def alarms_read_ten_metrics_at_most(template: Template) -> list[str]:
    """CloudWatch's own limit for an alarm that reckons; it says so only when it is deployed."""
    read = {
        name: sum("MetricStat" in metric for metric in each.get("Metrics", [])) for name, each in of_type(template, ALARM).items()
    }
    return [f"{name}: {count} metrics" for name, count in read.items() if count > METRICS_OF_AN_ALARM]


def the_connections_alarm_counts_what_the_functions_reserve(template: Template) -> list[str]:
    """A function more, or one with another concurrency, and it would ring without need, or not when it must."""
    functions = of_type(template, "AWS::Lambda::Function").values()
    reserved = sum(each.get("ReservedConcurrentExecutions", 0) for each in functions)
    return [
        f"{name}: {expected} instead of {reserved}"
        for name, each in of_type(template, ALARM).items()
        if name == "DatabaseConnectionsAlarm"
        for expected in [sum(map(int, re.findall(r"\d+", json.dumps(each["Metrics"][0]["Expression"]))))]
        if expected != reserved and reserved
    ]


def dead_letters_ring_an_alarm(template: Template) -> list[str]:
    watched = {
        named(dimension["Value"])
        for each in of_type(template, ALARM).values()
        if each.get("MetricName") == "ApproximateNumberOfMessagesVisible" and each.get("Threshold") == 0
        for dimension in each["Dimensions"]
    }
    endless = [f"{name}: its alarm never ends" for name in sorted(set(ONLY_READ) & watched)]
    return sorted(dead_letter_queues(template) - watched - set(ONLY_READ)) + endless


def messages_that_wait_ring_an_alarm(template: Template) -> list[str]:
    watched = {
        queue
        for each in of_type(template, ALARM).values()
        for metric, queue in _watched(each)
        if metric == "ApproximateAgeOfOldestMessage"
    }
    return sorted(consumed_queues(template) - watched)


def functions_that_fail_ring_an_alarm(template: Template) -> list[str]:
    """Errors, throttles and slowness of every function that no failure destination watches: those behind HTTP and queues."""
    caught = {named(each["FunctionName"]) for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()}
    watched = {pair for name, each in of_type(template, ALARM).items() if name not in FORGIVING for pair in _watched(each)}
    wanted = ("Errors", "Invocations", "Throttles", "Duration")
    functions = [name for name in of_type(template, "AWS::Lambda::Function") if name not in caught]
    return [f"{name}: {metric}" for name in functions for metric in wanted if (metric, name) not in watched]


def jobs_that_fail_ring_an_alarm_that_ends(template: Template) -> list[str]:
    """Of each function with a failure destination: its errors, and what was dropped before it ran, within some time at most."""
    caught = [named(each["FunctionName"]) for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()]
    watched = {pair for each in of_type(template, ALARM).values() if each.get("Threshold") == 0 for pair in _watched(each)}
    return [f"{job}: {metric}" for job in caught for metric in ("Errors", "AsyncEventsDropped") if (metric, job) not in watched]


def slowness_rings_above_what_is_meant_and_below_the_timeout(template: Template) -> list[str]:
    functions = of_type(template, "AWS::Lambda::Function")
    return [
        f"{alarm}: {name} at {each['Threshold']} ms"
        for alarm, each in of_type(template, ALARM).items()
        for metric, name in _watched(each)
        if metric == "Duration" and not WAITS.get(str(name), 0) < each["Threshold"] / 1000 < int(functions[str(name)]["Timeout"])
    ]


def a_silent_timer_rings_an_alarm(template: Template) -> list[str]:
    """Of whatever runs on schedule: no run is no data, and that must not pass for health."""
    scheduled = {named(each["Target"]["Arn"]) for each in of_type(template, "AWS::Scheduler::Schedule").values()}
    watched = {
        named(dimension["Value"])
        for each in of_type(template, ALARM).values()
        if each.get("MetricName") == "Invocations" and each["TreatMissingData"] == "breaching"
        for dimension in each["Dimensions"]
    }
    return sorted(map(str, scheduled - watched))


def dashboards_show_what_there_is(template: Template) -> list[str]:
    """Each metric is one that our code writes under that service and those dimensions, or one of AWS's."""
    return [
        f"{name}: {shown}"
        for name, each in of_type(template, DASHBOARD).items()
        for shown in shown_metrics(each)
        if not (shown.namespace in AWS_METRICS and shown.metric in AWS_METRICS[shown.namespace])
        and not (shown.namespace.startswith("Tocsin/") and (shown.metric, shown.dimensions) in written_metrics())
    ]


def dashboards_show_every_alarm(template: Template) -> list[str]:
    shown = {
        re.split(r"[.}]", part)[0]
        for each in of_type(template, DASHBOARD).values()
        for part in json.dumps(each["DashboardBody"]).split("${")
    } | {named(value) for each in of_type(template, DASHBOARD).values() for value in variables(each).values()}
    return sorted(set(of_type(template, ALARM)) - shown)


def dashboards_fit(template: Template) -> list[str]:
    """On the grid of 24 columns, without standing on each other."""
    violations = []
    for name, each in of_type(template, DASHBOARD).items():
        taken: set[tuple[int, int]] = set()
        for widget in widgets(each):
            place = {
                (widget["x"] + column, widget["y"] + row) for column in range(widget["width"]) for row in range(widget["height"])
            }
            if place & taken or any(column >= 24 for column, _ in place):
                violations.append(f"{name}: {widget['properties']['title']}")
            taken |= place
    return violations


def logs_end_and_are_encrypted(template: Template) -> list[str]:
    groups = of_type(template, "AWS::Logs::LogGroup").items()
    return [name for name, each in groups if not each.get("RetentionInDays") or not each.get("KmsKeyId")]


def apis_are_throttled_and_logged(template: Template) -> list[str]:
    stages = of_type(template, "AWS::ApiGatewayV2::Stage").items()
    wanted = {"ThrottlingRateLimit", "ThrottlingBurstLimit"}
    quiet = [name for name, each in stages if not each.get("AccessLogSettings", {}).get("DestinationArn")]
    return quiet + [name for name, each in stages if not wanted <= set(each.get("DefaultRouteSettings", {}))]


def access_logs_are_json_without_paths(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, "AWS::ApiGatewayV2::Stage").items():
        line = json.loads(each["AccessLogSettings"]["Format"])
        if not {"requestId", "status", "integrationError"} <= set(line) or "$context.path" in str(line):
            violations.append(name)
    return violations


def parameters_are_checked(template: Template) -> list[str]:
    return [name for name, each in _parameters(template) if not LIMITS & set(each) or not each.get("Description")]


def outputs_hold_no_secrets(template: Template) -> list[str]:
    return [
        f"{prefix}{name}"
        for prefix, one in templates(template).items()
        for name, each in one["Outputs"].items()
        if SECRET_ATTRIBUTE.search(json.dumps(each["Value"]))
    ]


def parameters_hold_no_secrets(template: Template) -> list[str]:
    """A secret has a secret's ARN here; one that is typed in would end in shell histories and samconfig.toml."""
    return [
        name
        for name, each in _parameters(template)
        if each.get("NoEcho") or (SECRET_NAME.search(name) and not name.endswith("Arn"))
    ]


def _parameters(template: Template) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{prefix}{name}", each) for prefix, one in templates(template).items() for name, each in one["Parameters"].items()]


def handlers_exist(sam: Template) -> list[str]:
    """Reads the SAM template, because the translated one no longer knows the folders."""
    default = sam["Globals"]["Function"].get("Handler", "")
    violations = []
    for name, each in of_type(sam, "AWS::Serverless::Function").items():
        module, _, function = each.get("Handler", default).rpartition(".")
        source = ROOT / each["CodeUri"] / f"{module}.py"
        if not source.is_file() or function not in _top_level_names(ast.parse(source.read_text())):
            violations.append(f"{name}: no {function} in {source.relative_to(ROOT)}")
    return violations


def layers_are_built_for_their_functions(sam: Template) -> list[str]:
    """A layer with requirements, built without its architecture, silently carries libraries of the builder's."""
    architecture = sam["Globals"]["Function"]["Architectures"][0]
    runtime = sam["Globals"]["Function"]["Runtime"]
    return [
        name
        for name, each in sam["Resources"].items()
        if each["Type"] == "AWS::Serverless::LayerVersion"
        and (ROOT / each["Properties"]["ContentUri"] / "requirements.txt").exists()
        and each.get("Metadata") != {"BuildMethod": runtime, "BuildArchitecture": architecture}
    ]


def _watched(alarm: dict[str, Any]) -> set[tuple[str, str | None]]:
    """What the alarm looks at, whether it names one metric or reckons with several: each metric, and the resource it is of."""
    metrics = [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return {
        (metric["MetricName"], named(dimension["Value"]))
        for metric in (metrics or [alarm])
        for dimension in metric.get("Dimensions", [])
    }


def _top_level_names(module: ast.Module) -> set[str]:
    defined = {node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in module.body if isinstance(node, ast.Assign) for target in node.targets]
    imported = [alias.asname or alias.name for node in module.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return defined | {target.id for target in targets if isinstance(target, ast.Name)} | set(imported)
