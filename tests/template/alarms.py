"""What there is to watch: each metric that an alarm may read, with its unit, and what an alarm of it must be like."""

from typing import Any, NamedTuple

from tests.template.reading import Template, of_type

ALARM = "AWS::CloudWatch::Alarm"
OWN = "Tocsin"  # our namespace, without the stage
SUM, MOST, LEAST, MEAN, TAIL = "Sum", "Maximum", "Minimum", "Average", "p99"
PERCENT = (0.5, 95.0)
MINUTE, FIVE_MINUTES, HOUR = 60, 300, 3600


class Metric(NamedTuple):
    """`threshold` is what an alarm may ring at, in the metric's own unit; None where only sums with others make sense."""

    dimensions: tuple[str, ...]
    statistics: tuple[str, ...]
    unit: str
    threshold: tuple[float, float] | None
    comes_every: int = MINUTE  # seconds; a shorter period would be empty in between
    rings_below: bool = False


_OF_A_FUNCTION, _OF_A_QUEUE, _OF_THE_API, _OF_THE_DATABASE = (
    ("FunctionName",),
    ("QueueName",),
    ("ApiId",),
    ("DBInstanceIdentifier",),
)
METRICS: dict[tuple[str, str], Metric] = {
    # Ours. The sweep measures every minute, retention every hour; what happens at any time is counted then.
    (OWN, "OldestDueSeconds"): Metric(("service",), (MOST,), "seconds", (60, 900)),
    (OWN, "OldestEventSeconds"): Metric(("service",), (MOST,), "seconds", (60, 900)),
    (OWN, "OutboxDepth"): Metric(("service",), (MOST,), "rows", (1, 100_000_000)),
    (OWN, "UnknownAttempts"): Metric(("service",), (LEAST,), "attempts", (0, 0)),
    (OWN, "BooksResidue"): Metric(("service",), (MOST,), "records", (0, 0), HOUR),
    (OWN, "AuditChainsBroken"): Metric(("service",), (MOST,), "chains", (0, 0), HOUR),
    (OWN, "SesQuotaUsedPercent"): Metric(("service",), (MOST,), "percent", (50, 95), FIVE_MINUTES),
    (OWN, "DatabaseUnavailable"): Metric(("scope",), (SUM,), "batches", (0, 0)),
    (OWN, "AccessDenied"): Metric(("scope",), (SUM,), "calls", (0, 0)),
    (OWN, "SystemEvents"): Metric(("severity",), (SUM,), "events", (0, 0)),
    # AWS's own.
    ("AWS/Lambda", "Invocations"): Metric(_OF_A_FUNCTION, (SUM,), "calls", (1, 1), rings_below=True),
    ("AWS/Lambda", "Errors"): Metric(_OF_A_FUNCTION, (SUM,), "calls", (0, 0)),
    ("AWS/Lambda", "AsyncEventsDropped"): Metric(_OF_A_FUNCTION, (SUM,), "calls", (0, 0)),
    ("AWS/Lambda", "Throttles"): Metric(_OF_A_FUNCTION, (SUM,), "calls", (0, 0)),
    ("AWS/Lambda", "Duration"): Metric(_OF_A_FUNCTION, (TAIL,), "milliseconds", (1_000, 900_000)),
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): Metric(_OF_A_QUEUE, (MOST,), "seconds", (60, 3_600)),
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): Metric(_OF_A_QUEUE, (MOST,), "messages", (0, 0)),
    ("AWS/ApiGateway", "Count"): Metric(_OF_THE_API, (SUM,), "requests", None),
    ("AWS/ApiGateway", "5xx"): Metric(_OF_THE_API, (SUM,), "requests", None),
    # SES reviews an account at 5 % bounces or 0.1 % complaints, and says so in shares of one.
    ("AWS/SES", "Reputation.BounceRate"): Metric((), (MOST,), "share", (0.01, 0.05), HOUR),
    ("AWS/SES", "Reputation.ComplaintRate"): Metric((), (MOST,), "share", (0.0001, 0.001), HOUR),
    ("AWS/SNS", "SMSMonthToDateSpentUSD"): Metric((), (MOST,), "USD", None, HOUR),
    ("AWS/RDS", "FreeStorageSpace"): Metric(_OF_THE_DATABASE, (LEAST,), "bytes", (2**30, 10 * 2**30), rings_below=True),
    ("AWS/RDS", "CPUUtilization"): Metric(_OF_THE_DATABASE, (MEAN,), "percent", (50, 95)),
    ("AWS/RDS", "DatabaseConnections"): Metric(_OF_THE_DATABASE, (MOST,), "connections", (1, 20)),
}
OF_A_PROXY: dict[tuple[str, str], Metric] = {
    ("AWS/RDS", name): Metric(("ProxyName",), (MEAN,), "connections", None)
    for name in ("DatabaseConnections", "DatabaseConnectionsCurrentlySessionPinned")
}
# dimension: the resource that it is of, and the attribute by which CloudWatch calls it (None: its Ref)
NAMED_BY: dict[str, tuple[str, str | None]] = {
    "FunctionName": ("AWS::Lambda::Function", None),
    "QueueName": ("AWS::SQS::Queue", "QueueName"),
    "ApiId": ("AWS::ApiGatewayV2::Api", None),
    "DBInstanceIdentifier": ("AWS::RDS::DBInstance", None),
    "ProxyName": ("AWS::RDS::DBProxy", None),
}


class Read(NamedTuple):
    """One metric as one alarm reads it."""

    alarm: str
    namespace: str
    name: str
    dimensions: dict[str, Any]
    statistic: str
    period: int
    id: str = ""  # within a sum

    @property
    def metric(self) -> Metric | None:
        known = OF_A_PROXY if "ProxyName" in self.dimensions else METRICS
        return known.get((OWN if self.namespace.startswith(f"{OWN}/") else self.namespace, self.name))


def read_by(name: str, alarm: dict[str, Any]) -> list[Read]:
    if "Metrics" not in alarm:
        return [_read(name, alarm, alarm.get("Statistic") or alarm.get("ExtendedStatistic", ""), alarm["Period"])]
    parts = [(each["Id"], each["MetricStat"]) for each in alarm["Metrics"] if "MetricStat" in each]
    return [_read(name, stat["Metric"], stat["Stat"], stat["Period"])._replace(id=part) for part, stat in parts]


def all_read(template: Template) -> list[Read]:
    return [one for name, each in of_type(template, ALARM).items() for one in read_by(name, each)]


def _read(alarm: str, metric: dict[str, Any], statistic: str, period: int) -> Read:
    namespace = metric["Namespace"]
    text = namespace["Fn::Sub"] if isinstance(namespace, dict) else namespace
    dimensions = {each["Name"]: each["Value"] for each in metric.get("Dimensions", [])}
    return Read(alarm, str(text), metric["MetricName"], dimensions, statistic, int(period))
