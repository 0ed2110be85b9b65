"""Every alarm is taken away in turn, misspelt, or made to look at something else, in another unit, too late."""

from collections.abc import Iterator
from typing import Any

from tests.template import checks_of_alarms as alarms
from tests.template import checks_of_watching as watching
from tests.template.alarms import ALARM, read_by
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault
from tests.template.reading import Template


def an_alarm_is_missing(template: Template) -> list[str]:
    """Whichever check asks for it: the table of metrics, or what is said of all queues and all functions."""
    return [
        *alarms.everything_there_is_to_watch_is_watched(template),
        *alarms.a_timer_that_grows_slow_rings_an_alarm(template),
        *watching.a_silent_timer_rings_an_alarm(template),
        *watching.jobs_that_fail_ring_an_alarm_that_ends(template),
        *watching.dead_letters_ring_an_alarm(template),
        *watching.messages_that_wait_ring_an_alarm(template),
        *watching.functions_that_fail_ring_an_alarm(template),
    ]


def faults() -> Iterator[Fault]:
    for name in resources(ALARM):
        each = at(of(name))
        yield fault(an_alarm_is_missing, ("Resources", name))
        yield fault(alarms.alarms_also_tell_that_it_is_over, of(name, "OKActions"))
        yield from _of_its_metrics(name, each)
        yield from _of_its_judgement(name, each)
    yield fault(alarms.everything_there_is_to_watch_is_watched, ("Resources", "ServerErrorsAlarm"))
    yield fault(alarms.whoever_is_to_be_told_is_subscribed, ("Resources", "AlarmSubscription"))
    yield fault(alarms.whoever_is_to_be_told_is_subscribed, of("AlarmSubscription", "Endpoint"), "nobody@example.com")
    yield fault(alarms.whoever_is_to_be_told_is_subscribed, of("AlarmSubscription", "TopicArn"), {"Ref": "FeedbackTopic"})
    for number in range(1, len(at(of("ThrottlesAlarm", "Metrics")))):
        yield fault(alarms.every_function_that_is_turned_away_rings_an_alarm, of("ThrottlesAlarm", "Metrics", number))
    yield fault(alarms.a_timer_that_grows_slow_rings_an_alarm, ("Resources", "SweepDurationAlarm"))
    yield fault(alarms.alarms_of_the_severe_hear_of_all_that_is_severe, of("SystemEventsAlarm", "Metrics", 2))
    namespace = of("SweepFunction", "Environment", "Variables", "POWERTOOLS_SERVICE_NAME")
    yield fault(alarms.alarms_read_metrics_that_there_are, namespace, "sweeper")


def _of_its_metrics(name: str, each: dict[str, Any]) -> Iterator[Fault]:
    places = [("Metrics", n, "MetricStat") for n, part in enumerate(each.get("Metrics", [])) if "MetricStat" in part]
    for place in places[:1] if places else [()]:
        metric = of(name, *place, "Metric") if place else of(name)
        check = alarms.alarms_read_metrics_that_there_are
        yield fault(check, (*metric, "MetricName"), lambda there: f"{there}s")
        yield fault(check, (*metric, "Namespace"), "Tocsin")
        if at(metric).get("Dimensions"):
            yield fault(check, (*metric, "Dimensions"))
            yield fault(check, (*metric, "Dimensions", 0, "Name"), "Name")
            if at(metric)["MetricName"] == "SystemEvents":
                severity = (*metric, "Dimensions", 0, "Value")
                yield fault(alarms.alarms_of_the_severe_hear_of_all_that_is_severe, severity, "hgih")
            else:
                yield fault(check, (*metric, "Dimensions", 0, "Value"), {"Ref": "AlarmTopic"} if place else "swep")
        period = (*of(name, *place), "Period")
        soon = alarms.alarms_ring_soon_and_look_no_more_often_than_there_is_something
        yield fault(soon, period, 86400)
        yield fault(soon, period, 1)
        yield fault(
            alarms.alarms_take_a_statistic_that_says_something, (*of(name, *place), _statistic(each, place)), "SampleCount"
        )


def _of_its_judgement(name: str, each: dict[str, Any]) -> Iterator[Fault]:
    unit = alarms.alarms_ring_at_values_in_the_unit_of_their_metric
    yield fault(unit, of(name, "Threshold"), lambda there: there * 100_000 + 0.5)
    if each["Threshold"]:
        yield fault(unit, of(name, "Threshold"), lambda there: there / 100_000)
    other = {"GreaterThanThreshold": "LessThanThreshold", "LessThanThreshold": "GreaterThanThreshold"}
    yield fault(alarms.alarms_ring_on_the_side_that_is_bad, of(name, "ComparisonOperator"), other[each["ComparisonOperator"]])
    yield fault(alarms.alarms_ring_soon_and_look_no_more_often_than_there_is_something, of(name, "EvaluationPeriods"), 1000)
    yield fault(alarms.alarms_ring_soon_and_look_no_more_often_than_there_is_something, of(name, "DatapointsToAlarm"), 0)
    yield fault(alarms.alarms_say_in_words_of_cloudwatch_what_silence_means, of(name, "TreatMissingData"), "ignored")
    if "Metrics" in each:
        sums = alarms.sums_reckon_with_everything_they_read
        yield fault(sums, of(name, "Metrics", 0, "Expression"), "MAX(nothing)")
        yield fault(sums, of(name, "Metrics", 0, "ReturnData"), False)
        yield fault(sums, of(name, "Metrics", 1, "ReturnData"), True)
        yield fault(sums, of(name, "Metrics", 1, "Id"), "Errors")
        if "errors" in str(each["Metrics"][0]["Expression"]) and len(read_by(name, each)) > 5:
            function = of(name, "Metrics", 1, "MetricStat", "Metric", "Dimensions", 0, "Value")
            yield fault(alarms.shares_are_of_what_they_are_compared_with, function, {"Ref": "SweepFunction"})


def _statistic(alarm: dict[str, Any], place: tuple[Any, ...]) -> str:
    return "Stat" if place else "Statistic" if "Statistic" in alarm else "ExtendedStatistic"
