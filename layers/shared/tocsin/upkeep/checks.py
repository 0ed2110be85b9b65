"""The checks that the database and the settings answer: each takes what was found out, and judges."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tocsin.foundation.settings import Settings
from tocsin.store.audit_heads import ChainCheck
from tocsin.store.lanes import TroubledLane
from tocsin.store.migrations import EXPECTED, Schema
from tocsin.store.server import Server
from tocsin.upkeep import diagnosis
from tocsin.upkeep.diagnosis import Facts
from tocsin.upkeep.diagnostic import Diagnostic, Flaw, Health, judged

OLDEST_SERVER = 160_000  # Postgres 16
CROWDED, FULL = 0.8, 0.95  # of the connections that are allowed
APART, FAR_APART = timedelta(seconds=5), timedelta(minutes=1)  # AWS refuses what was signed five minutes off
AUDIT_LATE = timedelta(days=2)  # each chain is walked once a day


def configuration(config: Settings, sender: str | None) -> Diagnostic:
    where = "a stand-in for AWS" if config.aws_endpoint_url else "AWS"
    well = f"Mail is from {sender}; the sandbox is {config.sandbox_domain}; the database's TLS is {config.database_sslmode}; "
    return judged("configuration", _misconfigured(config, sender), well=f"{well}logs begin at {config.log_level}; {where}.")


def _misconfigured(config: Settings, sender: str | None) -> Iterator[Flaw]:
    if not sender or "@" not in sender:
        yield Flaw("failed", "No sender is set: no email can go out.", "Deploy with the parameter EmailFrom.")
    elif sender.rpartition("@")[2].lower() == config.sandbox_domain.lower():
        what = "The sandbox has the sender's own domain, so test keys take mail to its success@ and bounce@ for a rehearsal."
        yield Flaw("warning", what, "Deploy with another SandboxDomain.")
    match config.database_sslmode:
        case "verify-full":
            pass
        case "disable":
            what = "The way to the database is not encrypted."
            yield Flaw("warning", what, "Outside of a local stack, deploy with DatabaseSslMode=verify-full.")
        case mode:
            what = f"The database's server is not checked by its name ({mode})."
            yield Flaw("warning", what, "Deploy with DatabaseSslMode=verify-full.")
    level = config.log_level.upper()
    if level == "DEBUG":
        yield Flaw("warning", "The functions log at DEBUG, which is much and costs.", "Deploy with LogLevel=INFO.")
    elif level != "INFO":
        what = f"The functions log from {level} on, so the lines are missing that metrics and alarms are made of."
        yield Flaw("failed", what, "Deploy with LogLevel=INFO.")


def database(server: Server, *, with_numbers: bool) -> Diagnostic:
    """Its numbers are the installation's to know."""
    told = f"Postgres {server.version} answers; {server.connections} of {server.allowed} connections are used."
    return judged("database", _strained(server, told if with_numbers else ""), well=told if with_numbers else "It answers.")


def _strained(server: Server, told: str) -> Iterator[Flaw]:
    if server.version_number < OLDEST_SERVER:
        yield Flaw("failed", f"It is older than Postgres 16. {told}".strip(), "Upgrade the server.")
    if server.is_read_only:
        yield Flaw("failed", "It takes no writes: a standby answers.", "Look at DATABASE_HOST, and at a failover under way.")
    if server.connections >= CROWDED * server.allowed:
        state: Health = "failed" if server.connections >= FULL * server.allowed else "warning"
        fix = "Lower the concurrencies, use UseDatabaseProxy, or take a larger DatabaseInstanceClass."
        yield Flaw(state, f"Nearly all connections are used. {told}".strip(), fix)


def migrations(schema: Schema, unfinished: list[str]) -> Diagnostic:
    newer = "" if schema.latest == EXPECTED else f"; the code needs {EXPECTED}, and lives with what came after it"
    return judged("migrations", _wrong_schema(schema, unfinished), well=f"The schema is {schema.latest}{newer}.")


def _wrong_schema(schema: Schema, unfinished: list[str]) -> Iterator[Flaw]:
    if not schema.has_expected:
        what = f"The schema is behind the code: it is {schema.latest}, and {EXPECTED} is needed."
        yield Flaw("failed", what, "Run the migrations: deploy again, with another SchemaVersion if no file has changed.")
    elif schema.is_left_behind:
        what = f"The schema has left this code behind: it serves code since {schema.serves_since}, and this is {EXPECTED}."
        yield Flaw("failed", what, "Deploy the newer release again; this one cannot live with its schema.")
    if unfinished:
        what = f"Not in use yet: {', '.join(sorted(unfinished))}."
        fix = "If no deployment is building an index just now, deploy again with another SchemaVersion: it is then built anew."
        yield Flaw("warning", what, fix)


def clock(before: datetime, now: datetime, after: datetime) -> Diagnostic:
    """How far the database's clock is from ours, at least: it was read between these two moments."""
    apart = max(before - now, now - after, timedelta(0))
    seconds = f"{apart.total_seconds():.1f} s"
    flaws = []
    if apart > APART:
        side = "behind" if now < before else "ahead of"
        what = f"The database's clock is {seconds} {side} the function's: tokens and signatures end too early or too late."
        fix = "Look at the time service of an own database's host; on RDS tell AWS."
        flaws = [Flaw("failed" if apart > FAR_APART else "warning", what, fix)]
    return judged("clock", flaws, well=f"The function's clock and the database's are {seconds} apart.")


def jobs(facts: Facts) -> Diagnostic:
    flaws = [Flaw("failed", finding.what, finding.do) for finding in diagnosis.late_jobs(facts)]
    return judged("jobs", flaws, well="Every job ran lately, and did not fail.")


def lanes(troubled: list[TroubledLane]) -> Diagnostic:
    stopped = [Flaw("failed", finding.what, finding.do) for finding in diagnosis.closed_lanes(troubled)]
    slow = [
        Flaw("warning", f"The lane {lane.lane} is {lane.state}: {lane.reason}.", "Wait: it opens with what goes through.")
        for lane in troubled
        if lane.state not in diagnosis.CLOSED
    ]
    return judged("lanes", [*stopped, *slow], well="Every lane is open.")


def audit(chain: ChainCheck | None, *, now: datetime, is_broken: bool) -> Diagnostic:
    flaws = []
    if is_broken:
        fix = "GET /v1/audit-log/verify names the first row that is not; see docs/audit.md, then resolve its system event."
        flaws.append(Flaw("failed", "The audit log is not what was written.", fix))
    if chain is not None and now - (chain.checked_at or chain.created_at) > AUDIT_LATE:
        span = diagnosis.span(now - (chain.checked_at or chain.created_at))
        flaws.append(Flaw("warning", f"No check of the audit log has come to its end for {span}.", "See jobs: audit_check."))
    if chain is None:
        well = "Nothing has been audited yet."
    else:
        well = f"It held at {chain.checked_at:%Y-%m-%d %H:%M} UTC." if chain.checked_at else "Its first check is still to come."
    return judged("audit", flaws, well=well)
