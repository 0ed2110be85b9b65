"""A column, an index or a constraint is made useless in a database, to see which tests notice: `python -m tools.seeds`.

A column stays where it is and carries nothing any more: whatever is written, a constant arrives. So one that is written and never
read is missed by nobody, which a look at the schema does not tell. A key, a generated column or one that a policy compares cannot
be a constant: it is renamed."""

import re
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

PLACEBO = "placebo"  # a trigger as all others, which changes nothing: what fails with it has not noticed the column
_ZEROES = {
    "timestamp with time zone": ["'epoch'", "'2100-01-01Z'"],
    "boolean": ["false", "true"],
    "jsonb": ["'{}'", "'[]'"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "gen_random_uuid()"],
    "text": ["''", "md5(random()::text)"],
    "text[]": ["'{}'"],
    "bytea": ["''", "sha256(random()::text::bytea)"],
    "xid8": ["'0'"],
    "inet": ["'0.0.0.0'"],
    "date": ["'epoch'"],
    "time without time zone": ["'00:00'"],
}
_COLUMN = """
    SELECT format_type(atttypid, atttypmod), attnotnull, COALESCE(pg_get_expr(adbin, adrelid), ''), attnum,
           attgenerated <> '' OR attidentity <> ''
           OR EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND attnum = ANY(indkey))
           OR attname = 'tenant_id'
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = %s::regclass AND attname = %s AND NOT attisdropped
"""
_CONSTRAINTS = """
    SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = %s::regclass AND contype IN ('c', 'f') AND %s = ANY(conkey)
"""


class NoMoreConstants(Exception):
    """Whatever constant is written, the database refuses it: nobody can say whether the column is read."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What is made useless: `table.column`, by its nth constant; an index or a constraint; or a table's placebo."""

    name: str
    constant: int = 0

    @classmethod
    def parse(cls, text: str) -> "Thing":
        name, _, constant = text.partition("#")
        return cls(name, int(constant or 0))

    def __str__(self) -> str:
        return f"{self.name}#{self.constant}" if self.constant else self.name


def make_useless(conn: Connection[Any], thing: Thing) -> None:
    table, _, column = thing.name.partition(".")
    if column == PLACEBO:
        _write_constant(conn, table, None, "")
    elif column:
        _blank(conn, table, column, thing.constant)
    else:
        _drop(conn, thing.name)


def _blank(conn: Connection[Any], table: str, column: str, nth: int) -> None:
    row = conn.execute(_COLUMN, [table, column]).fetchone()
    if row is None:
        raise LookupError(f"there is no column {table}.{column}")
    kind, is_required, default, number, is_key = row
    if is_key:
        conn.execute(sql.SQL("ALTER TABLE {} RENAME {} TO {}").format(*map(sql.Identifier, (table, column, f"{column}_is_gone"))))
        return
    constraints = conn.execute(_CONSTRAINTS, [table, number]).fetchall()
    allowed = [value for _, type_, text in constraints if type_ == "c" for value in re.findall(r"('[^']*'::text)", text)]
    possible = constants(kind, default, is_required=is_required, allowed=allowed)
    if nth >= len(possible):
        raise NoMoreConstants(f"{table}.{column}")
    for name, _, _ in constraints:
        conn.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table), sql.Identifier(name)))
    _write_constant(conn, table, column, possible[nth])


def constants(kind: str, default: str, *, is_required: bool, allowed: list[str]) -> list[str]:
    """What may stand in a column and says nothing, the plainest first. A default that is computed, as the time is, says a lot."""
    plain = [default] if default and "(" not in default.replace("ARRAY[", "") and "timestamp" not in kind else []
    found = [*([] if is_required else ["NULL"]), *plain, *_ZEROES.get(kind, ["0"]), *allowed[:2]]
    return list(dict.fromkeys(found))


def _write_constant(conn: Connection[Any], table: str, column: str | None, constant: str) -> None:
    """Also what is written as a replica would, which is how tests fill large tables."""
    change = sql.SQL("NEW.{} := {};").format(sql.Identifier(column), sql.SQL(constant)) if column else sql.SQL("")
    conn.execute(
        sql.SQL("CREATE FUNCTION useless() RETURNS trigger LANGUAGE plpgsql AS {}").format(
            sql.Literal(f"BEGIN {change.as_string(conn)} RETURN NEW; END")
        )
    )
    conn.execute(
        sql.SQL(
            """CREATE TRIGGER zzz_useless BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION useless();
               ALTER TABLE {table} ENABLE ALWAYS TRIGGER zzz_useless"""
        ).format(table=sql.Identifier(table))
    )


def _drop(conn: Connection[Any], name: str) -> None:
    row = conn.execute(
        "SELECT conrelid::regclass::text FROM pg_constraint WHERE conname = %s AND conrelid <> 0", [name]
    ).fetchone()
    if row:
        conn.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {} CASCADE").format(sql.Identifier(row[0]), sql.Identifier(name)))
    else:
        conn.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
