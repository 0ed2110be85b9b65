"""What an idle installation costs a month, counted in template.yaml; `python -m tests.template.idle_cost` prints the table."""

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from tests.template import reading

HOURS = 730  # a month, as AWS counts
MINUTES = HOURS * 60
# List prices in us-east-1, November 2026, in USD.
INSTANCE_HOUR = {"db.t4g.micro": 0.016, "db.t4g.small": 0.032, "db.t4g.medium": 0.065, "db.t4g.large": 0.129}
STORAGE_GB, ENDPOINT_HOUR, NAT_HOUR, ADDRESS_HOUR, PROXY_HOUR = 0.115, 0.01, 0.045, 0.005, 0.03
KEY, SECRET, ALARM_METRIC, OWN_METRIC, DASHBOARD = 1.00, 0.40, 0.10, 0.30, 3.00
MILLION_POLLS, MILLION_RUNS, LOG_GB = 0.40, 8.00, 0.50
# Lambda keeps five receivers at an idle queue, each with a call of 20 seconds.
POLLS_A_MINUTE = 15
MONITORING_BYTES = 8_000  # of one report about the database's machine
REPEATED = {"rate(1 minute)": MINUTES, "rate(1 hour)": HOURS}


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    count: float
    price: float
    unit: str = ""

    @property
    def amount(self) -> float:
        return self.count * self.price * (HOURS if self.unit == " an hour" else 1)

    def __str__(self) -> str:
        count = f"{self.count:g}" if self.count == int(self.count) else f"{self.count:.3f}"
        return f"| {self.what} | {count} | {self.price:.3f}{self.unit} | {self.amount:.2f} |"


def rows(**parameters: str) -> list[Row]:
    """One row for everything that bills although nothing happens."""
    template = reading.standing(**parameters)
    found = [
        *_database(template),
        Row("interface endpoints, times their zones", _endpoints(template), ENDPOINT_HOUR, " an hour"),
        Row("NAT gateways", _number(template, "AWS::EC2::NatGateway"), NAT_HOUR, " an hour"),
        Row("public IPv4 addresses", _number(template, "AWS::EC2::EIP"), ADDRESS_HOUR, " an hour"),
        Row("RDS Proxy, two vCPUs", _number(template, "AWS::RDS::DBProxy"), PROXY_HOUR, " an hour"),
        Row("KMS keys", _number(template, "AWS::KMS::Key"), KEY),
        Row("secrets, RDS's own for its master user included", _secrets(template), SECRET),
        Row("metrics that alarms watch", _alarm_metrics(template), ALARM_METRIC),
        Row("metrics that the timers write", _own_metrics(), OWN_METRIC),
        Row("dashboards beyond the three free ones", max(0, _number(template, "AWS::CloudWatch::Dashboard") - 3), DASHBOARD),
        Row("looks into empty queues, in millions", _polls(template) / 1e6, MILLION_POLLS),
        Row("runs of the timers, in millions", _runs(template) / 1e6, MILLION_RUNS),
        Row("gigabytes of enhanced monitoring", _monitoring(template) / 1e9, LOG_GB),
    ]
    return [row for row in found if row.count]


def total(**parameters: str) -> float:
    return sum(row.amount for row in rows(**parameters))


def production() -> dict[str, str]:
    """The parameters that samconfig.toml gives to production."""
    configuration = tomllib.loads((reading.ROOT / "samconfig.toml").read_text())
    return dict(re.findall(r"(\w+)=(\S+)", configuration["prod"]["deploy"]["parameters"]["parameter_overrides"]))


def own_network() -> dict[str, str]:
    """The parameters of an installation with a database and a network that exist already."""
    secret = "arn:aws:secretsmanager:us-east-1:111111111111:secret:db"
    where = {"ExistingSubnetIds": "subnet-1,subnet-2", "ExistingSecurityGroupId": "sg-1"}
    return {"ExistingDatabaseHost": "db.example.com", "ExistingDatabaseSecretArn": secret, **where}


def _database(template: reading.Template) -> list[Row]:
    found = []
    for database in reading.of_type(template, "AWS::RDS::DBInstance").values():
        machines = 2 if database["MultiAZ"] == "true" else 1
        size = database["DBInstanceClass"]
        found.append(Row(f"Postgres on `{size}`", machines, INSTANCE_HOUR[size], " an hour"))
        found.append(Row("gigabytes of its storage", machines * database.get("AllocatedStorage", 0), STORAGE_GB))
    return found


def _endpoints(template: reading.Template) -> int:
    endpoints = reading.of_type(template, "AWS::EC2::VPCEndpoint").values()
    return sum(len(each["SubnetIds"]) for each in endpoints if each["VpcEndpointType"] == "Interface")


def _secrets(template: reading.Template) -> int:
    managed = [
        each for each in reading.of_type(template, "AWS::RDS::DBInstance").values() if each.get("ManageMasterUserPassword")
    ]
    return _number(template, "AWS::SecretsManager::Secret") + len(managed)


def _alarm_metrics(template: reading.Template) -> int:
    """An alarm bills for each metric it reads, and one on a formula reads several."""
    alarms = reading.of_type(template, "AWS::CloudWatch::Alarm").values()
    return sum(sum("MetricStat" in each for each in alarm.get("Metrics", [])) or 1 for alarm in alarms)


def _own_metrics() -> int:
    """What is written every hour or oftener. All others are written, and billed, in the hours in which something happens."""
    doors = [reading.ROOT / "functions" / name / "app.py" for name in ("sweep", "retention")]
    return sum(door.read_text().count(".add_metric(") for door in doors)


def _polls(template: reading.Template) -> int:
    return _number(template, "AWS::Lambda::EventSourceMapping") * POLLS_A_MINUTE * MINUTES


def _runs(template: reading.Template) -> int:
    return sum(REPEATED[each["ScheduleExpression"]] for each in reading.of_type(template, "AWS::Scheduler::Schedule").values())


def _monitoring(template: reading.Template) -> int:
    intervals: list[Any] = [each["MonitoringInterval"] for each in reading.of_type(template, "AWS::RDS::DBInstance").values()]
    return sum(MINUTES * 60 // interval * MONITORING_BYTES for interval in intervals)


def _number(template: reading.Template, kind: str) -> int:
    return len(reading.of_type(template, kind))


if __name__ == "__main__":
    print("\n".join(map(str, rows())), f"| **together** | | | **{total():.2f}** |", sep="\n")
    print(f"\nproduction {total(**production()):.0f}, own database and network {total(**own_network()):.0f}")
    for name in ("PrivateEndpoints", "InternetEgress", "UseDatabaseProxy", "MultiAz"):
        print(f"{name} {total(**{name: 'true'}) - total():+.2f}")
    print(f"db.t4g.micro {total(DatabaseInstanceClass='db.t4g.micro') - total():+.2f}")
