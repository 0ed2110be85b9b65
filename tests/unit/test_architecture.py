"""The house keeps its own rules: read from the source, not from good intentions."""

import ast
import re

import pytest

from tests.unit import rules
from tests.unit.rules import Rule
from tests.unit.source import LAYER, ROOT, Module, calls, imports, modules, texts
from tocsin.store import migrations

# Modules of store/ without a table of their own in migrations/, each with its reason.
STORE_WITHOUT_A_TABLE = {
    "clock": "the time is nobody's row",
    "migrations": "reads the table that the migration tool makes for itself",
    "rows": "what statements take and give",
    "server": "its counters and settings are nobody's row",
}


def migration_names() -> list[str]:
    files = (ROOT / "migrations").glob("*.sql")
    return sorted(file.name.removesuffix(".sql") for file in files if not file.name.endswith(".rollback.sql"))


def test_only_the_use_case_of_tenants_sees_all_of_them() -> None:
    """A transaction of the installation sees every tenant as such; nobody else has a reason to."""
    users = {module.name for module in modules() for _, name in calls(module) if name in ("installation_transaction", "act_for")}

    assert users == {"tocsin.access.tenants"}


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
    of_tables = [module for module in modules() if module.is_store and not module.is_flow]
    names = {module.path.rsplit("/", 1)[1].removesuffix(".py") for module in of_tables} - {"__init__"}

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
    """A letter marks a second part of the same change, such as an index that is built outside of a transaction."""
    numbers = sorted({int(re.match(r"\d+", name)[0]) for name in migration_names()})  # type: ignore[index]

    assert numbers == list(range(1, len(numbers) + 1))
    assert all(re.fullmatch(r"\d{4}[a-z]?\.\w+", name) for name in migration_names())


@pytest.mark.parametrize("module", [one for one in modules() if one.is_pure], ids=lambda one: one.name)
def test_what_says_pure_is_pure(module: Module) -> None:
    assert impurities(module) == []


def impurities(module: Module) -> list[str]:
    """What a module imports that reaches a database, the cloud, or something of ours that does not say "Pure."."""
    pure = {one.name for one in modules() if one.is_pure}
    outside = {"psycopg", "boto3", "botocore", "aws_lambda_powertools"}
    return [
        name
        for _, name in imports(module)
        if name.split(".")[0] in outside or (name.startswith("tocsin") and not {name, name.rpartition(".")[0]} & pure)
    ]


def test_enough_says_pure_for_the_rule_to_mean_something() -> None:
    names = {one.name for one in modules() if one.is_pure}

    assert {"tocsin.delivery.gate", "tocsin.delivery.failover", "tocsin.content.templates", "tocsin.store.rows"} <= names
    assert len(names) > 25


def test_no_room_leads_back_to_itself() -> None:
    assert cycle_of({room: _imported(room) for room in {one.room for one in modules() if one.path.startswith(LAYER)}}) == []


def _imported(room: str) -> set[str]:
    ours = [one for one in modules() if one.room == room]
    return {name.split(".")[1] for one in ours for _, name in imports(one) if name.startswith("tocsin.")} - {room}


def cycle_of(graph: dict[str, set[str]]) -> list[str]:
    """A way through the graph that comes back to where it began; empty when there is none."""

    def walk(path: list[str]) -> list[str]:
        for after in sorted(graph.get(path[-1], ())):
            if after in path:
                return [*path[path.index(after) :], after]
            if found := walk([*path, after]):
                return found
        return []

    return next((found for start in sorted(graph) if (found := walk([start]))), [])


def test_a_cycle_would_be_found() -> None:
    assert cycle_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle_of({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_the_house_has_nothing_but_rooms_at_its_top() -> None:
    assert [path.name for path in (ROOT / LAYER).glob("*.py")] == ["__init__.py"]


def test_a_door_is_short() -> None:
    lengths = {
        path: len((ROOT / path).read_text().splitlines()) for path in (m.path for m in modules()) if path.startswith("functions/")
    }

    assert {path: length for path, length in lengths.items() if length > 120} == {}


def test_no_two_types_of_the_house_have_one_name() -> None:
    """One word per idea: who finds a type by its name has found it."""
    assert names_used_twice([one for one in modules() if not one.path.endswith("/__init__.py")]) == {}


def names_used_twice(read: list[Module]) -> dict[str, list[str]]:
    """Classes and aliases of types at the top of modules that share a name, private ones aside, with where they stand."""
    places: dict[str, list[str]] = {}
    for module in read:
        for node in module.tree.body:
            name = node.name if isinstance(node, ast.ClassDef) else _alias(node)
            if name and not name.startswith("_") and not name.endswith("Body"):
                places.setdefault(name, []).append(module.path)
    return {name: where for name, where in places.items() if len(where) > 1}


def _alias(node: ast.stmt) -> str:
    """The name of a capitalised alias: `Words = list[...]`, `IntakeEnd = Admitted | Refusal`."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp()) if re.fullmatch(
            r"[A-Z]\w*[a-z]\w*", name
        ):
            return name
        case _:
            return ""


def test_a_name_used_twice_would_be_found() -> None:
    first = Module("a.py", ast.parse("class Page: ...\nWords = list[str]"))
    second = Module("b.py", ast.parse("class Page: ...\nWords = dict[str, str]\nMOST = 1 + 2"))

    assert names_used_twice([first, second]) == {"Page": ["a.py", "b.py"], "Words": ["a.py", "b.py"]}
