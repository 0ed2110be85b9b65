"""Which settings a door reads, and which variables the template gives its function."""

import ast
import copy
import inspect
import textwrap
from collections.abc import Collection
from typing import Any, get_args

from tests.unit.reach import Name, reached_from
from tests.unit.source import Module
from tocsin.foundation.settings import QUEUES, Settings
from tocsin.outbox.handlers import HANDLERS

FIELDS = set(Settings.model_fields)
# What the template gives to code that is not ours.
OF_LIBRARIES = {
    "LOG_LEVEL": "Powertools' logger",
    "POWERTOOLS_SERVICE_NAME": "Powertools' logger and metrics",
    "POWERTOOLS_METRICS_NAMESPACE": "Powertools' metrics",
}
# queue: where the work of its workers makes work in turn. All workers share the code that nudges, which names no queue, so the
# work of a queue that is not here may lead anywhere.
LEADS_TO = {"webhook": {"webhook", "trigger"}, "trigger": {"plan", "webhook", "trigger"}}
# door: on which queues its statements make the database itself write work, which `database.run` hears of and nudges
MAKES_DUE = {
    "functions/intake/app.py": {"webhook"},
    "functions/data/app.py": {"webhook", "trigger"},
    "functions/operate/app.py": {"webhook", "trigger"},
    "functions/feedback/app.py": {"webhook"},
}


def read_by(door: str, modules: list[Module], *, serves: Collection[str] = ()) -> set[str]:
    """The settings that this door's code can come to read."""
    reached = [one for one in reach_of(door, modules, serves=serves) if one.module != "tocsin.foundation.settings"]
    read = {field for one in reached for node in one.nodes for field in [*_read(node), *_nudged(one, node)]}
    read |= {f"{queue}_queue_url" for queue in MAKES_DUE.get(door, ())}
    near = {each for queue in serves or QUEUES for each in LEADS_TO.get(queue, QUEUES)}
    return read - {f"{queue}_queue_url" for queue in QUEUES if queue not in near}


def reach_of(door: str, modules: list[Module], *, serves: Collection[str] = ()) -> list[Name]:
    """Everything that this door can come to run. One that serves work queues meets no work of others."""
    return reached_from(door, [_serving(module, serves) for module in modules] if serves else modules)


def _serving(module: Module, queues: Collection[str]) -> Module:
    """The module; if it is the table of handlers, with those of these queues alone."""
    if module.name != "tocsin.outbox.handlers":
        return module
    others = {kind for kind, one in HANDLERS.items() if not one.queues & set(queues)}
    tree = copy.deepcopy(module.tree)
    for statement in tree.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id="HANDLERS"), value=ast.Dict() as table):
                kept = [n for n, key in enumerate(table.keys) if not (isinstance(key, ast.Constant) and key.value in others)]
                table.keys, table.values = [table.keys[n] for n in kept], [table.values[n] for n in kept]
    return Module(module.path, tree)


def may_be_absent(field: str) -> bool:
    return type(None) in get_args(Settings.model_fields[field].annotation)


def missing(read: set[str], given: set[str]) -> list[str]:
    """What is read and not given, though its type does not say that it may be absent."""
    return sorted(field.upper() for field in read if field.upper() not in given and not may_be_absent(field))


def idle(read: set[str], given: set[str]) -> list[str]:
    """What is given and read by nobody."""
    return sorted(given - {field.upper() for field in read} - OF_LIBRARIES.keys())


def _read(statement: ast.stmt) -> list[str]:
    """The fields behind `settings().x`, `config.x` and `self._config.x`: by these names alone settings are spoken of."""
    named = [node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute) and is_settings(node.value)]
    return [field for name in named for field in ([name] if name in FIELDS else _behind(name))]


def is_settings(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="settings")) | ast.Name(id="config") | ast.Attribute(attr="_config"):
            return True
        case _:
            return False


def _behind(name: str) -> list[str]:
    """The fields that a property or method of Settings reads."""
    member: Any = inspect.getattr_static(Settings, name, None)
    function = member.fget if isinstance(member, property) else member
    if not inspect.isfunction(function):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in FIELDS]


def _nudged(one: Name, statement: ast.stmt) -> list[str]:
    """The queues on which a function nudges work: those that the work it makes itself names, or whichever its rows name."""
    if one.module in ("tocsin.foundation.work_queue", "tocsin.foundation.database"):
        return []
    called = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    names = {_last_name(call.func) for call in called}
    queues: set[str] = {"plan"} if "nudge_fan_out" in names else set()
    if names & {"nudge", "nudge_each"}:
        made = [call.args[1] for call in called if _last_name(call.func) == "Due" and len(call.args) > 1]
        literal = {str(each.value) for each in made if isinstance(each, ast.Constant)}
        queues |= literal if made and len(literal) == len(made) else set(QUEUES)
    return [f"{queue}_queue_url" for queue in queues]


def _last_name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
