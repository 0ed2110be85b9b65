"""An alarm reads a metric that somebody writes, of a resource that there is, in the metric's unit, and soon enough."""

import re
from typing import Any

from tests.template.alarms import ALARM, METRICS, NAMED_BY, OF_A_PROXY, OWN, PERCENT, Read, all_read, read_by
from tests.template.doors import folders
from tests.template.metrics import printed_of_system_events, written_by, written_metrics
from tests.template.reading import Template, named, of_type
from tests.template.wiring import function_of
from tocsin.foundation import trouble

FUNCTION = "AWS::Lambda::Function"
PERIODS = {10, 30, *range(60, 86_401, 60)}
LONGEST_WAIT = 2 * 3600  # seconds until an alarm may ring at last
FAILURES = {"Errors", "AsyncEventsDropped"}  # of a timer: what was tried and failed, and what never was
STATES = {"breaching", "notBreaching", "ignore", "missing"}
_ID = re.compile("[a-z][A-Za-z0-9_]*")
_NAMES = re.compile(r"[a-z][A-Za-z0-9_]*")
_GROUPS = re.compile(r'METRICS\((?:"(\w+)")?\)')


def alarms_read_metrics_that_there_are(template: Template) -> list[str]:
    """By a name and dimensions that somebody writes; CloudWatch takes any other too, and the alarm is silent for ever."""
    return [f"{one.alarm}: {problem}" for one in all_read(template) if (problem := _unwritten(template, one))]


def everything_there_is_to_watch_is_watched(template: Template) -> list[str]:
    """Each metric of the table has an alarm, if what it is of is there."""
    watched = {
        (OWN if one.namespace.startswith(f"{OWN}/") else one.namespace, one.name, *one.dimensions) for one in all_read(template)
    }
    return [
        f"{namespace} {name}"
        for known in (METRICS, OF_A_PROXY)
        for (namespace, name), metric in known.items()
        if (namespace, name, *metric.dimensions) not in watched
        and all(of_type(template, NAMED_BY[each][0]) for each in metric.dimensions if each in NAMED_BY)
    ]


def a_timer_that_grows_slow_rings_an_alarm(template: Template) -> list[str]:
    """The one that runs every minute has no time to spare; one that fails tells its dead-letter queue."""
    watched = {function_of(template, one.dimensions.get("FunctionName")) for one in all_read(template) if one.name == "Duration"}
    schedules = of_type(template, "AWS::Scheduler::Schedule").values()
    often = {function_of(template, each["Target"]["Arn"]) for each in schedules if each["ScheduleExpression"] == "rate(1 minute)"}
    return sorted(map(str, often - watched))


def alarms_also_tell_that_it_is_over(template: Template) -> list[str]:
    """To the same people."""
    return [name for name, each in of_type(template, ALARM).items() if each.get("OKActions") != each.get("AlarmActions")]


def whoever_is_to_be_told_is_subscribed(template: Template) -> list[str]:
    """The address that was given, if one was, to every topic that alarms tell."""
    told = {named(action) for each in of_type(template, ALARM).values() for action in each.get("AlarmActions", [])}
    subscriptions = of_type(template, "AWS::SNS::Subscription").values()
    given = template["Values"]["AlarmEmail"]
    reached = {named(each["TopicArn"]) for each in subscriptions if (each["Protocol"], each.get("Endpoint")) == ("email", given)}
    return sorted(map(str, told - reached)) if given else []


def every_function_that_is_turned_away_rings_an_alarm(template: Template) -> list[str]:
    """Also those that nobody waits for: what a timer is not let do is not done. The migration's caller waits, and says so."""
    watched = {function_of(template, one.dimensions.get("FunctionName")) for one in all_read(template) if one.name == "Throttles"}
    awaited = {
        function_of(template, each["Properties"]["ServiceToken"]) for each in template["Resources"].values() if _is_custom(each)
    }
    return sorted(set(of_type(template, FUNCTION)) - watched - awaited)


def alarms_of_the_severe_hear_of_all_that_is_severe(template: Template) -> list[str]:
    heard = {one.dimensions.get("severity") for one in all_read(template) if one.name == "SystemEvents"}
    return sorted({"high", "critical"} ^ {str(each) for each in heard})


def alarms_ring_at_values_in_the_unit_of_their_metric(template: Template) -> list[str]:
    """4 % is 0.04 where the metric is a share, and 4 where it is a percentage."""
    violations = []
    for name, each in of_type(template, ALARM).items():
        reads = read_by(name, each)
        bounds = PERCENT if _is_percentage(each) else next((one.metric.threshold for one in reads if one.metric), None)
        if bounds is None or not bounds[0] <= float(each["Threshold"]) <= bounds[1]:
            violations.append(f"{name}: {each['Threshold']} is not within {bounds}")
    return violations


def alarms_ring_on_the_side_that_is_bad(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, ALARM).items():
        metric = read_by(name, each)[0].metric
        below = metric is not None and metric.rings_below and "Metrics" not in each
        if each["ComparisonOperator"] != ("LessThanThreshold" if below else "GreaterThanThreshold"):
            violations.append(f"{name}: {each['ComparisonOperator']}")
    return violations


def alarms_take_a_statistic_that_says_something(template: Template) -> list[str]:
    return [
        f"{one.alarm}: {one.statistic} of {one.name}"
        for one in all_read(template)
        if one.metric and one.statistic not in one.metric.statistics
    ]


def alarms_ring_soon_and_look_no_more_often_than_there_is_something(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, ALARM).items():
        reads = read_by(name, each)
        often = max(one.metric.comes_every for one in reads if one.metric) if all(one.metric for one in reads) else 0
        periods = {one.period for one in reads}
        waits = max(periods) * each["EvaluationPeriods"]
        if not periods <= PERIODS or len(periods) != 1 or min(periods) < often or waits > LONGEST_WAIT:
            violations.append(f"{name}: {sorted(periods)} s, {each['EvaluationPeriods']} times")
        if not 1 <= each.get("DatapointsToAlarm", each["EvaluationPeriods"]) <= each["EvaluationPeriods"]:
            violations.append(f"{name}: {each['DatapointsToAlarm']} of {each['EvaluationPeriods']}")
    return violations


def alarms_say_in_words_of_cloudwatch_what_silence_means(template: Template) -> list[str]:
    return [
        f"{name}: {each['TreatMissingData']}"
        for name, each in of_type(template, ALARM).items()
        if each["TreatMissingData"] not in STATES
    ]


def sums_reckon_with_everything_they_read(template: Template) -> list[str]:
    """One result; every metric under an id that the sum names, and nothing named that is not read."""
    violations = []
    for name, each in of_type(template, ALARM).items():
        if "Metrics" not in each:
            continue
        results = [metric for metric in each["Metrics"] if metric.get("ReturnData", True)]
        text = _expression(results[0]) if len(results) == 1 else ""
        ids = {one.id: one for one in read_by(name, each)}
        groups = _GROUPS.findall(text)
        named_ids = set(_NAMES.findall(_GROUPS.sub("", text)))
        counted = named_ids | {one for one in ids if any(one.startswith(group) for group in groups)}
        empty = [group for group in groups if not any(one.startswith(group) for one in ids)]
        kinds = [{ids[one].name for one in ids if one.startswith(group)} for group in groups]
        mixed = [kind for kind in kinds if len(kind) > 1 and not kind <= FAILURES]
        if not text or counted != set(ids) or empty or mixed or not all(map(_ID.fullmatch, ids)):
            violations.append(f"{name}: {text} of {sorted(ids)}")
    return violations


def shares_are_of_what_they_are_compared_with(template: Template) -> list[str]:
    """Errors of a hundred invocations, of the same functions; else the percentage is of something else."""
    violations = []
    for name, each in of_type(template, ALARM).items():
        found = [one for one in read_by(name, each) if one.namespace == "AWS/Lambda"]
        errors, calls = (
            {function_of(template, one.dimensions.get("FunctionName")) for one in found if one.name == kind}
            for kind in ("Errors", "Invocations")
        )
        if (
            errors
            and _is_percentage(each)
            and (errors != calls or 'SUM(METRICS("errors")) / SUM(METRICS("invocations"))' not in str(each["Metrics"]))
        ):
            violations.append(name)
    return violations


def _unwritten(template: Template, one: Read) -> str:
    if one.metric is None:
        return f"{one.namespace} {one.name}, of which tests/template/alarms.py says nothing"
    if set(one.dimensions) != set(one.metric.dimensions):
        return f"{one.name} has {one.metric.dimensions}, not {sorted(one.dimensions)}"
    if one.namespace.startswith(OWN):
        return _unwritten_by_us(template, one)
    for dimension, value in one.dimensions.items():
        kind, attribute = NAMED_BY[dimension]
        form: Any = {"Ref": named(value)} if attribute is None else {"Fn::GetAtt": [named(value), attribute]}
        if dimension == "DBInstanceIdentifier" and value == _restored(template):
            continue
        if value != form or named(value) not in of_type(template, kind):
            return f"{dimension} is {value}"
    return ""


def _restored(template: Template) -> Any:
    """How an instance is called that stands in for the stack's own: by the first part of its address."""
    host = template["Values"]["RestoredDatabaseHost"]
    return {"Fn::Select": [0, {"Fn::Split": [".", host]}]} if host else None


def _unwritten_by_us(template: Template, one: Read) -> str:
    functions = of_type(template, FUNCTION)
    variables = {name: each["Environment"]["Variables"] for name, each in functions.items()}
    if {"Fn::Sub": one.namespace} not in [each["POWERTOOLS_METRICS_NAMESPACE"] for each in variables.values()]:
        return f"nobody writes to {one.namespace}"
    if one.name in printed_of_system_events():
        return (
            "" if frozenset(one.dimensions) in printed_of_system_events()[one.name] else f"{one.name} by {sorted(one.dimensions)}"
        )
    if one.dimensions == {"scope": trouble.SCOPE}:
        return "" if (one.name, frozenset(one.dimensions)) in written_metrics() else f"nobody tells of {one.name}"
    doors = [
        folders()[name] for name, each in variables.items() if each["POWERTOOLS_SERVICE_NAME"] == one.dimensions.get("service")
    ]
    written = any((one.name, frozenset(one.dimensions)) in written_by(door) for door in doors)
    return "" if written else f"{one.dimensions} writes no {one.name}"


def _is_custom(resource: dict[str, Any]) -> bool:
    return bool(resource["Type"].startswith("Custom::"))


def _is_percentage(alarm: dict[str, Any]) -> bool:
    return any(_expression(each).startswith("100 *") for each in alarm.get("Metrics", []) if "Expression" in each)


def _expression(metric: dict[str, Any]) -> str:
    written = metric.get("Expression", "")
    return str(written["Fn::Sub"] if isinstance(written, dict) else written)
