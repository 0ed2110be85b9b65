"""Every limit of time is moved past the one that it must stay below."""

from collections.abc import Iterator

from tests.template import checks_of_timing as timing
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault


def faults() -> Iterator[Fault]:
    check = timing.the_migration_gives_up_before_whoever_waits_for_it
    yield fault(check, of("MigrateFunction", "Timeout"), 300)
    yield fault(check, of("MigrateFunction", "Timeout"), 1200)
    yield fault(check, of("Migration", "ServiceTimeout"), 600)
    yield fault(check, ("Resources", "MigrateFunctionEventInvokeConfig"))
    yield fault(check, of("MigrateFunctionEventInvokeConfig", "MaximumEventAgeInSeconds"))
    yield fault(check, of("MigrateFunctionEventInvokeConfig", "MaximumEventAgeInSeconds"), 60)
    for schedule, function in {
        "SweepFunctionEveryMinute": "SweepFunction",
        "RetentionFunctionEveryHour": "RetentionFunction",
    }.items():
        check = timing.timers_end_before_they_run_again
        yield fault(check, of(function, "Timeout"), 1200 if function == "RetentionFunction" else 60)
        yield fault(check, of(schedule, "ScheduleExpression"), "cron(0 3 * * ? *)")
        yield fault(check, of(schedule, "Target", "RetryPolicy", "MaximumEventAgeInSeconds"), 86_400)
        yield fault(check, of(f"{function}EventInvokeConfig", "MaximumEventAgeInSeconds"))
        yield fault(check, of(f"{function}EventInvokeConfig", "MaximumRetryAttempts"), 12)
    for queue in resources(timing.QUEUE):
        if "RedrivePolicy" in at(of(queue)):
            yield fault(timing.messages_become_dead_letters_before_they_expire, of(queue, "MessageRetentionPeriod"), 3600)
            yield fault(timing.messages_become_dead_letters_before_they_expire, of(queue, "VisibilityTimeout"), 43_200)
    for function in resources(timing.FUNCTION):
        yield fault(timing.functions_outlast_the_calls_they_make, of(function, "Timeout"), 7)
        yield fault(timing.functions_outlast_the_proxy, of(function, "Timeout"), 6)
    pool = of("DatabaseProxyTarget", "ConnectionPoolConfigurationInfo")
    yield fault(timing.functions_outlast_the_proxy, (*pool, "ConnectionBorrowTimeout"), 30)
    yield fault(timing.functions_outlast_the_proxy, pool)
    yield fault(timing.late_evidence_rings_before_it_is_too_late, of("FeedbackQueueAgeAlarm", "Threshold"), 3600)
    yield fault(timing.late_evidence_rings_before_it_is_too_late, of("FeedbackQueueAgeAlarm", "EvaluationPeriods"), 60)
    yield fault(timing.late_evidence_rings_before_it_is_too_late, ("Resources", "FeedbackQueueAgeAlarm"))
    window = of("DispatchFunction", "Environment", "Variables", "EVIDENCE_WINDOW_SECONDS")
    yield fault(timing.late_evidence_rings_before_it_is_too_late, window, "300")
