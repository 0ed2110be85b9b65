"""Whoever changes a row says when: no trigger does it for them."""

import re

from tests.unit.source import ROOT, Module, modules, texts

# What an UPDATE may set without `updated_at`, by table: the columns, and the reason.
ALLOWED: dict[str, list[tuple[set[str], str]]] = {
    "domain_events_processed": [
        ({"claim_count", "lease_token", "leased_until"}, "a lease is no progress"),
        ({"hinted_at"}, "the same"),
    ],
    "lanes": [({"probe_until"}, "somebody tries the lane; its state is as it was")],
    "provider_configs": [({"tokens", "tokens_at"}, "the bucket is no part of what was configured")],
}
_CLAUSE = r"SET\b(?P<set>.*?)(?=\b(?:FROM|WHERE|RETURNING)\b|\n\s*\)[,\s]|\Z)"
_UPDATE = re.compile(rf"\bUPDATE (?P<table>\w+)(?: AS \w+)?\s+{_CLAUSE}", re.S)
_UPSERT = re.compile(rf"\bINSERT INTO (?P<table>\w+)(?:(?!INSERT INTO).)*?DO UPDATE\s+{_CLAUSE}", re.S)


def tables_with_the_column() -> set[str]:
    files = sorted(file for file in (ROOT / "migrations").glob("*.sql") if not file.name.endswith(".rollback.sql"))
    made = re.finditer(r"^CREATE TABLE (\w+) \((.*?)^\)", "".join(file.read_text() for file in files), re.M | re.S)
    return {table[1] for table in made if re.search(r"^ +updated_at ", table[2], re.M)}


def silent_updates(statement: str, tables: set[str]) -> list[tuple[str, set[str]]]:
    """What a statement changes without saying when: the table and the columns."""
    return [
        (found["table"], set(re.findall(r"(?:^|[,(]\s*|\s)(\w+)\s+=(?!=)", found["set"])))
        for pattern in (_UPDATE, _UPSERT)
        for found in pattern.finditer(statement)
        if found["table"] in tables and not re.search(r"\bupdated_at\b", found["set"])
    ]


def _silent() -> list[tuple[str, set[str]]]:
    tables = tables_with_the_column()
    return [one for module in modules() if module.is_store for _, text in texts(module) for one in silent_updates(text, tables)]


def _is_allowed(table: str, columns: set[str]) -> bool:
    return any(columns == known for known, _ in ALLOWED.get(table, []))


def _findings(module: Module) -> list[str]:
    tables = tables_with_the_column()
    return [
        module.at(node, f"{table}: {sorted(columns)}")
        for node, text in texts(module)
        for table, columns in silent_updates(text, tables)
        if not _is_allowed(table, columns)
    ]


def test_every_change_of_a_row_says_when() -> None:
    assert len(tables_with_the_column()) > 10
    assert [finding for module in modules() if module.is_store for finding in _findings(module)] == []


def test_every_exception_is_still_in_use() -> None:
    assert [
        (table, columns) for table, known in ALLOWED.items() for columns, _ in known if (table, columns) not in _silent()
    ] == []


def test_a_change_that_says_nothing_is_found() -> None:
    tables = {"users", "lanes"}

    assert silent_updates("UPDATE users SET email = %(email)s WHERE id = %(id)s", tables) == [("users", {"email"})]
    assert silent_updates("UPDATE users AS one\n  SET email = 'a', phone = NULL\n RETURNING id", tables) == [
        ("users", {"email", "phone"})
    ]
    assert silent_updates("INSERT INTO lanes (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET state = 'x' RETURNING a", tables) == [
        ("lanes", {"state"})
    ]
    assert silent_updates("UPDATE users SET email = 'a', updated_at = tocsin_now() FROM x", tables) == []
    assert silent_updates("UPDATE elsewhere SET email = 'a'", tables) == []
