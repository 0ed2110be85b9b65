"""The rules of the house as checks: each takes a module and returns what breaks the rule, with its place."""

import ast
import re
import sys
from collections.abc import Callable
from functools import cache

from tests.unit.source import LAYER, ROOMS, Module, calls, imports, modules, texts

Rule = Callable[[Module], list[str]]

_SQL = re.compile(
    r"\b(SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET|MERGE INTO|VALUES|RETURNING|BEGIN|COMMIT|ROLLBACK|SAVEPOINT"
    r"|SET (?:LOCAL|ROLE|SESSION)|GRANT|REVOKE|TRUNCATE|(?:ALTER|CREATE|DROP) [A-Z]+)\b"
)
_WRITING = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE|TRUNCATE)\b")
_WRITES = re.compile(r"\b(?:INSERT INTO|DELETE FROM|MERGE INTO|TRUNCATE|(?<!FOR )(?<!NO KEY )(?<!DO )UPDATE) (?!SET\b)(\w+)")
_OTHER_CLOCKS = re.compile(
    r"\b(?:now\s*\(|(?:clock|statement|transaction)_timestamp\b|CURRENT_(?:TIMESTAMP|DATE|TIME)\b|LOCALTIME(?:STAMP)?|timeofday)",
    re.I,
)
_TRANSACTIONS = {
    *("transaction", "commit", "rollback", "pipeline", "tenant_transaction", "operator_transaction", "key_transaction"),
    *("installation_transaction", "tenant_attempt"),
}
_CONFIDENTIAL = re.compile(r"(digest|secret|hash|password|signature|checksum|hmac|token|presented)(es|s)?$|^mac$", re.I)
_NETWORK = {
    *("requests", "urllib", "urllib3", "http", "httpcore", "httpx", "aiohttp", "pycurl", "websocket", "websockets", "xmlrpc"),
    *("socket", "_socket", "socketserver", "ssl", "asyncio", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib"),
}
_NETWORK_OF_THE_SDK = ("botocore.httpsession", "botocore.vendored", "botocore.awsrequest")

_ENVIRONMENT = {("os", "environ"), ("os", "getenv"), ("os", "environb")}

# SQL that does not belong to a table, and so to no module of store/: the exact statements, each with its reason.
ALLOWED_SQL = {
    f"{LAYER}/foundation/database.py": {
        "BEGIN": "the one place that opens transactions, pipelined with their first statement",
        "COMMIT": "the same",
        "SELECT set_config(%s, %s, true)": "whose rows a transaction sees is a matter of the connection",
        "SELECT 1": "is an idle connection still alive?",
    },
    f"{LAYER}/upkeep/migrate.py": {
        "ALTER ROLE {} PASSWORD {}": "a role is no table, and DDL takes no parameters",
        "GRANT tocsin_worker TO CURRENT_USER": "the deployment acts as the role that sees every tenant",
        "SET ROLE tocsin_worker": "the same",
        "DROP INDEX CONCURRENTLY IF EXISTS {}": "DDL takes no parameters",
    },
}
# execute() with something else than a literal, each with its reason.
ALLOWED_EXECUTE = {
    f"{LAYER}/upkeep/migrate.py": {
        "(folder / 'setup' / 'roles.sql').read_bytes()": "a file of ours, run as it is",
        "sql.SQL('ALTER ROLE {} PASSWORD {}').format(sql.Identifier(role), sql.Literal(password))": "psycopg quotes both",
        "sql.SQL('DROP INDEX CONCURRENTLY IF EXISTS {}').format(sql.Identifier(index))": "psycopg quotes it",
    },
    f"{LAYER}/store/flow/delete_tenant.py": {
        "at_once": "every table that has a tenant, by the catalogue's own names: a list of ours could forget one",
        "some": "the same, in batches",
    },
}
# What leaves the process by another way than boto3 and psycopg, each with its reason.
ALLOWED_NETWORK = {
    "functions/migrate/app.py": {
        "urllib.request": "CloudFormation wants its answer at a presigned URL: nobody else's, perhaps at a private endpoint"
    },
    f"{LAYER}/foundation/http_client.py": {
        "http.client": "the one client of webhooks, handlers and providers, behind the guard against SSRF",
        "socket": "its connections, to addresses that were checked",
        "ssl": "its certificates",
    },
    f"{LAYER}/foundation/aws.py": {
        "urllib3.util.connection": "which addresses the SDK looks up, where only IPv6 leads out",
        "socket": "the name of that family",
    },
    f"{LAYER}/foundation/bounded_stream.py": {"socket": "what that client reads and writes, limited", "ssl": "the same over TLS"},
    f"{LAYER}/foundation/name_resolution.py": {"socket": "the look-up of names for that client"},
}
ALLOWED_NAMES: dict[str, str] = {}
FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc", "service", "services", "lib"}


def sql_outside_the_store(module: Module) -> list[str]:
    if module.is_store:
        return []
    allowed = ALLOWED_SQL.get(module.path, {})
    return [module.at(node, text) for node, text in texts(module) if _SQL.search(text) and text not in allowed]


def sql_that_is_built(module: Module) -> list[str]:
    """An f-string, %, + or .format in execute(): anything but a literal that a reader sees whole."""
    allowed = ALLOWED_EXECUTE.get(module.path, {})
    found = []
    for call, name in calls(module):
        if name in ("execute", "executemany", "copy") and call.args:
            query = call.args[0]
            is_literal = isinstance(query, ast.Constant) and isinstance(query.value, str)
            if not is_literal and ast.unparse(query) not in allowed:
                found.append(module.at(call, ast.unparse(query)))
    return found


def clocks_in_sql(module: Module) -> list[str]:
    """Only tocsin_now() tells the time, so that tests can steer it and workers cannot."""
    if not module.is_store:
        return []
    return [module.at(node, match[0]) for node, text in texts(module) for match in _OTHER_CLOCKS.finditer(text)]


def tables_of_others(module: Module) -> list[str]:
    """A module of the store writes the table it is named after; what writes several is a step in flow/."""
    if not module.is_store or module.is_flow:
        return []
    own = module.path.rsplit("/", 1)[1].removesuffix(".py")
    written = ((node, match[1]) for node, text in texts(module) for match in _WRITES.finditer(text))
    return [module.at(node, table) for node, table in written if table != own]


def transactions_in_the_store(module: Module) -> list[str]:
    return [module.at(call, name) for call, name in calls(module) if module.is_store and name in _TRANSACTIONS]


def secrets_compared_in_haste(module: Module) -> list[str]:
    """== stops at the first difference and so tells how far a guess was right; hmac.compare_digest does not."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare) and any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
            names = [_last_name(side) for side in (node.left, *node.comparators)]
            if any(_CONFIDENTIAL.search(name) for name in names):
                found.append(module.at(node, ast.unparse(node)))
    return found


def other_ways_to_the_network(module: Module) -> list[str]:
    """A request that somebody's URL decides about goes by the one guarded client: a second one would be the way around it."""
    allowed = ALLOWED_NETWORK.get(module.path, {})
    return [
        module.at(node, name)
        for node, name in imports(module)
        if (name.split(".")[0] in _NETWORK or name.startswith(_NETWORK_OF_THE_SDK))
        and not name.startswith("urllib.parse")
        and name not in allowed
    ]


def strangers_in_a_door(module: Module) -> list[str]:
    """A door imports the standard library, Powertools and the house; the migrate door also the driver."""
    if not module.path.startswith("functions/"):
        return []
    known = {*sys.stdlib_module_names, "aws_lambda_powertools", "tocsin"}
    known |= {"psycopg"} if module.path == "functions/migrate/app.py" else set()
    return [module.at(node, name) for node, name in imports(module) if name.split(".")[0] not in known]


def sdk_at_import(module: Module) -> list[str]:
    """The SDK is the slowest thing a cold start can do; whoever needs it imports it then."""
    sdk = {"boto3", "botocore"}
    return [module.at(node, name) for node, name in imports(module, top_level_only=True) if name.split(".")[0] in sdk]


def modules_without_a_sentence(module: Module) -> list[str]:
    sentence = ast.get_docstring(module.tree) or ""
    return [] if sentence.split("\n")[0].endswith((".", "?", "!")) else [module.at(module.tree, "has no opening sentence")]


def names_that_say_nothing(module: Module) -> list[str]:
    parts = module.path.removesuffix(".py").split("/")
    return [module.path] if FORBIDDEN_NAMES & set(parts) and module.path not in ALLOWED_NAMES else []


def directions(module: Module) -> list[str]:
    """functions -> api -> rooms -> store -> foundation; HTTP stands beside the API and knows no room but access."""
    found = []
    for node, room in _rooms(module):
        if room not in _reachable(module.room):
            found.append(module.at(node, f"{module.room} imports {room}"))
    return found


def ways_out_of_others(module: Module) -> list[str]:
    """Whoever sends is delivery, chosen by the outbox: nobody else knows the channels."""
    if module.room in {"channels", "delivery", "outbox"} or module.path.startswith("functions/"):
        return []
    return [module.at(node, room) for node, room in _rooms(module) if room == "channels"]


def rooms_that_import_by_themselves(module: Module) -> list[str]:
    """A room's __init__ is its sentence: whoever imports one module of it pays for no other."""
    if not module.path.endswith("/__init__.py"):
        return []
    return [module.at(node, name) for node, name in imports(module)]


def endpoints_that_write(module: Module) -> list[str]:
    """An endpoint parses, calls one use case and shows: of the store it knows what reads, and the audit is not its business."""
    if module.room not in {"api", "http"}:
        return []
    found = []
    for node, origin, name in _references(module):
        whole = f"{origin}.{name}"
        if whole.startswith("tocsin.access.audit") and not whole.startswith("tocsin.access.audit.Actor"):
            found.append(module.at(node, whole))
        if (origin, name) in _store_functions() and _writes(origin, name):
            found.append(module.at(node, f"{origin}.{name} writes"))
    return found


def environment_read_elsewhere(module: Module) -> list[str]:
    """What a function is told it reads through its settings, whose names can be compared with the template."""
    if module.path == f"{LAYER}/foundation/settings.py":
        return []
    return [module.at(node, f"{origin}.{name}") for node, origin, name in _references(module) if (origin, name) in _ENVIRONMENT]


def _references(module: Module) -> list[tuple[ast.AST, str, str]]:
    """What a module names of others: each name it imports, and each attribute of a module it imports."""
    found: list[tuple[ast.AST, str, str]] = []
    bound: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found.append((node, node.module, alias.name))
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
            found += [(node, alias.name, "") for alias in node.names]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            whole = ast.unparse(node.value)
            found.append((node, bound.get(whole, whole), node.attr))
    return found


@cache
def _store_functions() -> dict[tuple[str, str], tuple[Module, ast.FunctionDef]]:
    return {
        (module.name, node.name): (module, node)
        for module in modules()
        if module.is_store
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def _writes(origin: str, name: str) -> bool:
    """Whether a function of the store has SQL that writes or locks, or calls one that does."""
    module, function = _store_functions()[origin, name]
    if any(_WRITING.search(text) for _, text in texts(Module(module.path, ast.Module([function], [])))):
        return True
    imported = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    of_others = {(place, one) for _, place, one in _references(Module(module.path, ast.Module([*imported, function], [])))}
    of_its_own = {(origin, node.id) for node in ast.walk(function) if isinstance(node, ast.Name)}
    named = (of_others | of_its_own) & _store_functions().keys() - {(origin, name)}
    return any(_writes(*one) for one in named)


def _reachable(room: str) -> set[str]:
    """What a module of this room may import."""
    match room:
        case "foundation":
            return {"foundation"}
        case "store":
            return {"store", "foundation"}
        case "http":
            return {"http", "access", "store", "foundation"}
        case "api":
            return {*ROOMS, "api", "http", "store", "foundation"}
        case "functions":
            return {*ROOMS, "api", "http", "store", "foundation"}
        case _:
            return {*ROOMS, "store", "foundation"}


def _rooms(module: Module) -> list[tuple[ast.AST, str]]:
    """The rooms that a module imports from."""
    return [(node, name.split(".")[1]) for node, name in imports(module) if name.startswith("tocsin.")]


def _last_name(side: ast.expr) -> str:
    match side:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=called):
            return _last_name(called)
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            return name or _last_name(value)
        case _:
            return ""


RULES: list[Rule] = [
    sql_outside_the_store,
    sql_that_is_built,
    clocks_in_sql,
    tables_of_others,
    transactions_in_the_store,
    secrets_compared_in_haste,
    other_ways_to_the_network,
    strangers_in_a_door,
    sdk_at_import,
    modules_without_a_sentence,
    names_that_say_nothing,
    directions,
    ways_out_of_others,
    rooms_that_import_by_themselves,
    endpoints_that_write,
    environment_read_elsewhere,
]
