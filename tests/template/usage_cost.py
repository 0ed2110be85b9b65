"""What notifications cost a month, on top of an idle installation; `python -m tests.template.usage_cost` prints the tables.

A notification here is one intent by HTTP for one person, by email (SES) and into the inbox, and the two events that SES sends
back. Each of its steps is counted as an invocation of its own: workers take many at a time, so it costs less."""

from dataclasses import dataclass

from tests.template import idle_cost

# List prices in us-east-1, November 2026, in USD for a million.
EMAILS, EMAILS_ESSENTIALS = 100.0, 160.0  # SES: each feature by itself, and the plan that new accounts begin with
REQUESTS, INVOCATIONS, GIGABYTE_SECONDS, QUEUE_REQUESTS, PUBLISHED, LOGGED_GB, TRACES = 1.0, 0.2, 13.3334, 0.4, 0.5, 0.5e6, 5.0
STEPS = 5  # intake, plan, email, and two events back
SECONDS, MEMORY_GB, LOG_GB = 0.1, 0.5, 2e-6  # of each step, as idle_cost counts a run of a timer
MESSAGES = 4  # a nudge to plan, one to send, two events; each is sent, received and deleted
METRICS = 8  # combinations of channel, provider and outcome that occur
VOLUMES = (100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    each: float  # of them for one notification
    price: float  # USD for a million of them

    def amount(self, notifications: int) -> float:
        return self.each * self.price * notifications / 1e6

    def __str__(self) -> str:
        amounts = " | ".join(f"{self.amount(volume):.2f}" for volume in VOLUMES)
        price = f"{self.price:.4f}".rstrip("0").rstrip(".") if self.price < 1e5 else "0.50 a GB"
        each = f"{self.each:g}" if self.each > 1e-3 else f"{self.each * 1e6:g} kB"
        return f"| {self.what} | {each} | {price} | {amounts} |"


ROWS = [
    Row("emails by SES", 1, EMAILS),
    Row("requests to the HTTP API", 1, REQUESTS),
    Row("invocations", STEPS, INVOCATIONS),
    Row("gigabyte-seconds of them, 0.1 s with 512 MB each", STEPS * SECONDS * MEMORY_GB, GIGABYTE_SECONDS),
    Row("requests to queues", MESSAGES * 3, QUEUE_REQUESTS),
    Row("events of SES that SNS passes on", 2, PUBLISHED),
    Row("log, 2 kB a step", STEPS * LOG_GB, LOGGED_GB),
    Row("traces", STEPS, TRACES),
]


def used(notifications: int) -> float:
    """Beside the metrics, which bill once anything is sent."""
    return sum(row.amount(notifications) for row in ROWS) + (METRICS * idle_cost.OWN_METRIC if notifications else 0)


def together() -> str:
    metrics = METRICS * idle_cost.OWN_METRIC
    lines = [*map(str, ROWS), f"| metrics of what is sent | {METRICS} in all | 0.30 each | {metrics:.2f} | {metrics:.2f} |"]
    return "\n".join([*lines, f"| **together** | | | **{used(VOLUMES[0]):.2f}** | **{used(VOLUMES[1]):.2f}** |"])


def sizes() -> str:
    """Idle, and with each volume: as it comes, and as samconfig.toml has production."""
    shapes = (
        ("as it comes", idle_cost.total()),
        ("with a database and a network you have", idle_cost.total(**idle_cost.own_network())),
        ("production as `samconfig.toml` has it", idle_cost.total(**idle_cost.production())),
    )
    return "\n".join(
        f"| {name} | " + " | ".join(f"{idle + used(volume):.0f}" for volume in (0, *VOLUMES)) + " |" for name, idle in shapes
    )


if __name__ == "__main__":
    print(sizes(), together(), sep="\n\n")
    print(f"\nby the plan Essentials: {(EMAILS_ESSENTIALS - EMAILS) * VOLUMES[1] / 1e6:+.2f} at a million")
