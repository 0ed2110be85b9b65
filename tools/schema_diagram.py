"""The entity diagrams of docs/schema.md and docs/architecture.md, from a migrated database: `python -m tools.schema_diagram`.

Tables, columns, keys and foreign keys are read from the catalogue; what belongs together without a foreign key is listed here."""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection
from psycopg.rows import class_row

from devstack.postgres import Postgres

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs" / "schema.md", ROOT / "docs" / "architecture.md")
COMMAND = ".venv/bin/python -m tools.schema_diagram"

# Each table in one chapter, in the order in which they are drawn.
CHAPTERS = {
    "who": ("tenants", "users", "devices", "api_keys", "rate_limits", "audit_logs", "erasures", "audit_heads", "brands"),
    "asked": ("records", "notification_types", "domain_events", "event_routing", "domain_events_processed", "malformed_intents"),
    "work": ("outbox", "routes", "attempts", "dead_letters", "jobs", "digests", "notification_email_log"),
    "seen": ("notifications", "notification_reads", "inbox_visits", "notification_threads", "watches", "preferences"),
    "automation": (
        "webhooks",
        "webhook_deliveries",
        "kv_entries",
        "kv_usage",
        "triggers",
        "kv_trigger_details",
        "dead_letter_trigger_details",
        "trigger_handlers",
        "reply_inboxes",
        "abandoned_executions",
    ),
    "sent": (
        "templates",
        "layouts",
        "provider_configs",
        "lanes",
        "suppressions",
        "provider_events",
        "admin_system_events",
        "job_runs",
        "archives",
        "metrics",
    ),
}
OVERVIEW = "all"
_SHORT = {"timestamp with time zone": "timestamptz", "time without time zone": "time", "double precision": "float8"}
_ON_DELETE = {"c": " (cascade)", "n": " (set null)"}


class Link(NamedTuple):
    """Rows of `child` name a row of `parent` in these columns, without a foreign key."""

    child: str
    columns: tuple[str, ...]
    parent: str


LINKS = (
    Link("rate_limits", ("subject",), "api_keys"),
    Link("audit_logs", ("actor",), "api_keys"),
    Link("records", ("notification_type",), "notification_types"),
    Link("domain_events", ("notification_id",), "records"),
    Link("domain_events", ("type",), "event_routing"),
    Link("domain_events_processed", ("last_txid", "last_event_id"), "domain_events"),
    Link("outbox", ("notification_id",), "records"),
    Link("outbox", ("notification_id", "route_id"), "routes"),
    Link("outbox", ("waits_for",), "lanes"),
    Link("routes", ("user_id",), "users"),
    Link("routes", ("device_id",), "devices"),
    Link("routes", ("template_id",), "templates"),
    Link("notification_email_log", ("notification_id", "route_id"), "routes"),
    Link("notifications", ("last_actor_user_id",), "users"),
    Link("digests", ("outbox_id",), "outbox"),
    Link("notifications", ("source_event_id",), "domain_events"),
    Link("notifications", ("source_notification_id",), "records"),
    Link("templates", ("created_by",), "api_keys"),
    Link("suppressions", ("source_notification_id",), "records"),
    Link("webhooks", ("created_by",), "api_keys"),
    Link("outbox", ("id",), "webhook_deliveries"),
    Link("outbox", ("reply_to",), "reply_inboxes"),
    Link("abandoned_executions", ("notification_id", "route_id"), "routes"),
    Link("reply_inboxes", ("id",), "records"),
    Link("dead_letters", ("trigger_id",), "triggers"),
    Link("provider_events", ("notification_id", "route_id", "generation", "attempt_no"), "attempts"),
)


@dataclass(frozen=True, slots=True)
class Column:
    table_name: str
    name: str
    type: str
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class Key:
    """A primary key (`p`), a foreign key (`f`), a unique index (`u`), or one that is partial or of expressions (`e`)."""

    table_name: str
    kind: str
    columns: list[str]  # of an index that is of expressions: those
    parent: str
    on_delete: str


@dataclass(frozen=True, slots=True)
class Schema:
    columns: list[Column]
    keys: list[Key]

    @property
    def tables(self) -> set[str]:
        return {one.table_name for one in self.columns}

    def columns_of(self, table: str) -> list[Column]:
        return [one for one in self.columns if one.table_name == table]

    def keys_of(self, table: str, kind: str) -> list[Key]:
        return [one for one in self.keys if one.table_name == table and one.kind == kind]


class Relation(NamedTuple):
    parent: str
    child: str
    columns: tuple[str, ...]
    is_optional: bool
    is_only: bool  # a row of the parent has one at most
    is_enforced: bool
    on_delete: str

    def drawn(self) -> str:
        line = "--" if self.is_enforced else ".."
        label = ", ".join(self.columns) + _ON_DELETE.get(self.on_delete, "")
        return (
            f'{self.parent} {"|o" if self.is_optional else "||"}{line}{"o|" if self.is_only else "o{"} {self.child} : "{label}"'
        )


def read(conn: Connection[Any]) -> Schema:
    """The schema as the catalogue has it, without what the migration tool keeps for itself."""
    columns = conn.cursor(row_factory=class_row(Column)).execute(
        """
        SELECT relname AS table_name, attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS is_nullable
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname NOT LIKE '%yoyo%'
          AND attnum > 0 AND NOT attisdropped
        ORDER BY relname, attnum
        """
    )
    keys = conn.cursor(row_factory=class_row(Key)).execute(
        """
        SELECT child.relname AS table_name, contype::text AS kind, parent.relname AS parent, confdeltype::text AS on_delete,
               ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS part (number, place)
                     JOIN pg_attribute ON attrelid = conrelid AND attnum = part.number ORDER BY place) AS columns
        FROM pg_constraint
        JOIN pg_class AS child ON child.oid = conrelid
        LEFT JOIN pg_class AS parent ON parent.oid = NULLIF(confrelid, 0)
        WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'f')
        UNION ALL
        SELECT relname, CASE WHEN indpred IS NULL AND indexprs IS NULL THEN 'u' ELSE 'e' END, NULL, '',
               ARRAY(SELECT pg_get_indexdef(indexrelid, place, true) FROM generate_series(1, indnkeyatts) AS place)
        FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        WHERE relnamespace = 'public'::regnamespace AND indisunique AND NOT indisprimary
        ORDER BY 1, 2, 5, 3
        """
    )
    return Schema(columns.fetchall(), [key for key in keys.fetchall() if "yoyo" not in key.table_name])


def relations(schema: Schema) -> list[Relation]:
    """Every foreign key and every link, in the order of the chapters. Each row's tenant is left out of the names."""
    found = [
        _relation(schema, key.parent, key.table_name, key.columns, on_delete=key.on_delete)
        for key in schema.keys
        if key.kind == "f"
    ]
    found += [_relation(schema, link.parent, link.child, list(link.columns), on_delete="", is_enforced=False) for link in LINKS]
    order = [table for tables in CHAPTERS.values() for table in tables]
    return sorted(found, key=lambda one: (order.index(one.parent), order.index(one.child), one.columns))


def _relation(
    schema: Schema, parent: str, child: str, columns: list[str], *, on_delete: str, is_enforced: bool = True
) -> Relation:
    nullable = {one.name for one in schema.columns_of(child) if one.is_nullable}
    unique = [set(key.columns) for kind in "pu" for key in schema.keys_of(child, kind)]
    named = tuple(one for one in columns if one != "tenant_id") or ("tenant_id",)
    is_optional = not is_enforced or bool(nullable & set(columns))
    return Relation(parent, child, named, is_optional, set(columns) in unique, is_enforced, on_delete)


def diagram(schema: Schema, chapter: str) -> str:
    """A chapter's tables with their columns, and what they belong to; or all tables without columns."""
    tables = CHAPTERS.get(chapter, ())
    lines = ["erDiagram"]
    for one in relations(schema):
        if chapter == OVERVIEW:
            wanted = one.parent != "tenants"
        else:
            wanted = one.child in tables and (one.parent != "tenants" or chapter == "who")
        lines += [f"    {one.drawn()}"] if wanted else []
    for table in tables:
        lines += [f"    {table} {{", *(f"        {_drawn(schema, one)}" for one in schema.columns_of(table)), "    }"]
    return "\n".join(lines)


def _drawn(schema: Schema, column: Column) -> str:
    marks = [
        mark
        for mark, kinds in (("PK", "p"), ("FK", "f"), ("UK", "ue"))
        if any(_is_part(column, key) for kind in kinds for key in schema.keys_of(column.table_name, kind))
    ]
    parts = [_SHORT.get(column.type, column.type), column.name, ", ".join(marks), '"nullable"' if column.is_nullable else ""]
    return " ".join(part for part in parts if part)


def _is_part(column: Column, key: Key) -> bool:
    return any(re.search(rf"\b{column.name}\b", part) for part in key.columns)


def drawn_into(page: str, schema: Schema) -> str:
    """The page with the diagrams between its markers as the schema has them now."""
    for chapter in (*CHAPTERS, OVERVIEW):
        begin, end = f"<!-- diagram: {chapter} -->\n", "<!-- end of diagram -->"
        before, found, rest = page.partition(begin)
        if found:
            page = f"{before}{begin}```mermaid\n{diagram(schema, chapter)}\n```\n{end}{rest.partition(end)[2]}"
    return page


def main() -> None:
    sys.path.insert(0, str(ROOT / "layers" / "shared"))
    from tocsin.upkeep.migrate import migrate  # noqa: PLC0415 - only here is the path to it known

    with tempfile.TemporaryDirectory(prefix="schema-") as folder:
        server = Postgres.cached(Path(folder) / "postgres", ROOT / ".local" / "cache", durable=False)
        server.start()
        try:
            with psycopg.connect(server.dsn(), autocommit=True) as conn:
                conn.execute("CREATE DATABASE diagram")
            migrate(server.dsn("diagram"), ROOT / "migrations")
            with psycopg.connect(server.dsn("diagram")) as conn:
                schema = read(conn)
        finally:
            server.remove()
    for path in PAGES:
        path.write_text(drawn_into(path.read_text(encoding="utf-8"), schema), encoding="utf-8")


if __name__ == "__main__":
    main()
