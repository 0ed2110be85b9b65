"""What a migration may not do to a table that is in use: read from its SQL, statement by statement. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# From here on. What came before was made while no installation had a table worth the name.
FIRST = "0023"

# Tables that stay small whoever uses the service: a lock on them is over in a moment.
SMALL = {
    "tenants": "one row for each customer",
    "lanes": "one row for each way out that is in trouble",
    "domain_events_processed": "one row for each consumer",
    "job_runs": "some rows an hour, for a month",
    "admin_system_events": "one row for each condition",
    "notification_types": "what a person configures",
    "event_routing": "what a person configures",
    "provider_configs": "what a person configures",
    "templates": "what a person configures",
    "layouts": "what a person configures",
    "webhooks": "what a person configures",
    "triggers": "what a person configures",
    "trigger_handlers": "what a person configures",
    "kv_trigger_details": "what a person configures",
    "dead_letter_trigger_details": "what a person configures",
    "kv_usage": "one row for each tenant",
    "digests": "only while one is collected",
    "reply_inboxes": "only while somebody waits",
    "api_keys": "what a person configures",
}

_CONCURRENT = re.compile(
    r"(CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS|DROP INDEX CONCURRENTLY IF EXISTS|ALTER TABLE \w+ VALIDATE)"
)
_WHOLE_TABLE = re.compile(r"\b(SET NOT NULL|ALTER (COLUMN )?\w+ (SET DATA )?TYPE|SET (UN)?LOGGED|SET TABLESPACE|SET WITH)\b")
_COSTLY_COLUMN = re.compile(r"\b(CHECK|REFERENCES|UNIQUE|PRIMARY KEY|GENERATED|DEFAULT [\w.]+\s*\()")
_CONSTRAINT = re.compile(r"\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY|UNIQUE|PRIMARY KEY|EXCLUDE)\b")


@dataclass(frozen=True, slots=True)
class Schema:
    """What the migrations before have made: tables, and of which table each index is."""

    tables: set[str] = field(default_factory=set)
    indexes: dict[str, str] = field(default_factory=dict)

    def learn(self, source: str) -> None:
        for statement in statements(source):
            if made := re.match(r"CREATE TABLE (IF NOT EXISTS )?(\w+)", statement):
                self.tables.add(made[2])
            if made := re.match(r"CREATE (UNIQUE )?INDEX (CONCURRENTLY )?(IF NOT EXISTS )?(\w+) ON (\w+)", statement):
                self.indexes[made[4]] = made[5]


def statements(source: str) -> Iterator[str]:
    """Each on one line, without comments and the bodies of functions."""
    source = re.sub(r"\$\$.*?\$\$", "''", source, flags=re.S)
    source = re.sub(r"--[^\n]*", "", source)
    for statement in re.sub(r"'[^']*'", lambda text: text[0].replace(";", ""), source).split(";"):
        if flat := " ".join(statement.split()):
            yield flat


def faults(source: str, before: Schema) -> Iterator[str]:
    """What would hold up whoever uses a table that was there before and may be large."""
    in_use = before.tables - SMALL.keys()
    is_transactional = "-- transactional: false" not in source
    for statement in statements(source):
        if "CONCURRENTLY" in statement and is_transactional:
            yield f"needs `-- transactional: false`: {statement}"
        if not is_transactional and not _CONCURRENT.match(statement):
            yield f"does not begin again where it failed, or belongs in a transaction: {statement}"
        if is_transactional:
            yield from _within_a_transaction(statement, in_use, before)


def _within_a_transaction(statement: str, in_use: set[str], before: Schema) -> Iterator[str]:
    if found := re.match(r"CREATE (UNIQUE )?INDEX (IF NOT EXISTS )?\w+ ON (\w+)", statement):
        if found[3] in in_use:
            yield f"blocks writers while it is built: {statement}"
    elif found := re.match(r"DROP INDEX (IF EXISTS )?(\w+)", statement):
        if before.indexes.get(found[2]) in in_use:
            yield f"waits for everybody, and everybody for it: {statement}"
    elif found := re.match(r"(?:UPDATE|DELETE FROM) (\w+)", statement):
        if found[1] in in_use:
            yield f"writes as many rows as there are: {statement}"
    elif found := re.match(r"(?:LOCK TABLE|CLUSTER|VACUUM FULL|TRUNCATE(?: TABLE)?) (\w+)", statement):
        if found[1] in in_use:
            yield f"locks the table: {statement}"
    elif (found := re.match(r"ALTER TABLE (?:ONLY )?(\w+) (.*)", statement)) and found[1] in in_use:
        for change in re.split(r",(?![^(]*\)) ", found[2]):
            if fault := _of_a_change(change):
                yield f"{fault}: ALTER TABLE {found[1]} {change}"


def _of_a_change(change: str) -> str | None:
    if _WHOLE_TABLE.search(change):
        return "reads or writes the whole table under a lock"
    if change.startswith("VALIDATE CONSTRAINT"):
        return "belongs into a migration of its own, without a transaction"
    if change.startswith("ADD COLUMN"):
        return "checks or fills in every row" if _COSTLY_COLUMN.search(change) else None
    if _CONSTRAINT.match(change) and "NOT VALID" not in change and "USING INDEX" not in change:
        return "checks every row under a lock; say NOT VALID"
    return None
