"""The house keeps its own rules: read from the source, not from good intentions."""

import ast
import re

import pytest

from tests.unit import rules
from tests.unit.rules import Rule
from tests.unit.source import LAYER, ROOT, imports, modules, texts
from tocsin.store import migrations

# Modules of store/ without a table of their own in migrations/, each with its reason.
STORE_WITHOUT_A_TABLE = {"migrations": "reads the table that the migration tool makes for itself"}
PURE = [
    "addresses",
    "backoff",
    "cursors",
    "html_pieces",
    "html_places",
    "ids",
    "intents",
    "keys",
    "outages",
    "outcomes",
    "plain_text",
    "problems",
    "provider_feedback",
    "recovery_hints",
    "rendering",
    "sandbox_endings",
    "sms_parts",
    "strict_json",
    "template_cache",
    "template_filters",
    "template_language",
    "template_limits",
    "template_values",
    "templating",
    "timeline",
    "unsubscribe_tokens",
]


def migration_names() -> list[str]:
    files = (ROOT / "migrations").glob("*.sql")
    return sorted(file.name.removesuffix(".sql") for file in files if not file.name.endswith(".rollback.sql"))


def test_there_is_something_to_read() -> None:
    paths = {module.path for module in modules()}

    assert f"{LAYER}/store/outbox.py" in paths
    assert "functions/intake/app.py" in paths
    assert len(paths) > 40


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_nobody_breaks_the_rule_on(rule: Rule) -> None:
    assert [finding for module in modules() for finding in rule(module)] == []


def test_every_exception_to_the_rules_is_still_in_use() -> None:
    by_path = {module.path: module for module in modules()}

    for path, statements in rules.ALLOWED_SQL.items():
        assert statements.keys() <= {text for _, text in texts(by_path[path])}
    for path, queries in rules.ALLOWED_EXECUTE.items():
        source = ast.unparse(by_path[path].tree)
        assert all(query in source for query in queries)
    for path, names in rules.ALLOWED_NETWORK.items():
        assert names.keys() <= {name for _, name in imports(by_path[path])}
    assert rules.ALLOWED_NAMES.keys() <= by_path.keys()


def test_every_module_of_the_store_is_named_after_a_table() -> None:
    statements = "".join(file.read_text() for file in (ROOT / "migrations").glob("*.sql"))
    tables = set(re.findall(r"^CREATE TABLE (\w+)", statements, re.M))
    names = {module.path.rsplit("/", 1)[1].removesuffix(".py") for module in modules() if module.is_store} - {"__init__"}

    assert names - tables == STORE_WITHOUT_A_TABLE.keys()


def test_the_code_expects_the_newest_migration() -> None:
    assert migration_names()[-1] == migrations.EXPECTED


@pytest.mark.parametrize("name", migration_names())
def test_every_migration_can_be_undone(name: str) -> None:
    assert (ROOT / "migrations" / f"{name}.rollback.sql").read_text().strip()


def test_no_rollback_is_left_over() -> None:
    rollbacks = {file.name.removesuffix(".rollback.sql") for file in (ROOT / "migrations").glob("*.rollback.sql")}

    assert rollbacks == set(migration_names())


def test_the_numbers_of_the_migrations_have_no_gap() -> None:
    numbers = [int(name.split(".")[0]) for name in migration_names()]

    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_reaches_neither_a_database_nor_the_cloud(name: str) -> None:
    module = next(one for one in modules() if one.path == f"{LAYER}/{name}.py")
    known = {f"tocsin.{other}" for other in PURE}

    for _, imported in imports(module):
        assert imported.split(".")[0] not in {"psycopg", "boto3", "botocore", "aws_lambda_powertools"}
        if imported.startswith("tocsin"):
            assert ".".join(imported.split(".")[:2]) in known


def test_a_door_is_short() -> None:
    lengths = {
        path: len((ROOT / path).read_text().splitlines()) for path in (m.path for m in modules()) if path.startswith("functions/")
    }

    assert {path: length for path, length in lengths.items() if length > 120} == {}
