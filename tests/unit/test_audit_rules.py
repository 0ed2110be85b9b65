"""What is written on somebody's behalf has its audit row, and that comes last in the transaction."""

import ast
from collections.abc import Iterator

import pytest

from tests.unit import rules
from tests.unit.source import Module, modules, texts

# What somebody decided. (What is asked, sent, told or counted is its own evidence.)
CONFIGURATION = {
    *("tenants", "users", "devices", "watches", "notification_threads", "preferences", "api_keys", "templates"),
    *("notification_types", "event_routing", "suppressions", "provider_configs", "webhooks", "triggers", "trigger_handlers"),
    *("kv_trigger_details", "dead_letter_trigger_details", "kv_entries", "brands", "layouts"),
}
# Functions of the store that write such tables without an audit row, each with its reason.
UNAUDITED = {
    "api_keys.find_by_hash": "notes that a key was used; nobody changes it",
    "api_keys.delete_ended": "retention forgets keys that ended long ago, and its report counts them",
    "api_keys.insert": "one step of issuing a key, whose last step is its audit row",
    "devices.delete_disabled": "retention forgets what no provider knows any more, and its report counts it",
    "devices.keep_endpoint": "what SNS calls a device: made anew from its token at any time",
    "devices.switch_off": "a provider says that the device is gone; the route and its attempt are the evidence",
    "flow.delete_tenant.delete_row": "the end of a deletion that was audited when it was asked for; the receipt says the rest",
    "flow.erase.delete_user": "the beginning of an erasure, which is audited as a whole",
    "flow.erase.mask_the_rest": "the same; the receipt counts it",
    "flow.fan_out.fan_out": "that somebody took part in a thread follows from the event",
    "flow.forget_kv.forget": "retention forgets what its tenant said to forget, and its report counts it",
    "flow.settle_webhooks.settle_webhooks": "an endpoint's health, told by its deliveries; switched off, it is a system event",
    "layouts.delete_superseded": "retention forgets versions that another followed long ago, and its report counts them",
    "notification_threads.delete_expired": "retention forgets what nobody decided, and its report counts it",
    "provider_configs.take_tokens": "counts what a provider was sent",
    "suppressions.delete_expired": "they end by themselves",
    "suppressions.insert_or_strengthen": "audited by hand; of a provider's bounce or complaint provider_events is the evidence",
    "templates.delete_superseded": "retention forgets versions that another followed long ago, and its report counts them",
    "users.make_and_lock": "one step of taking in the users of an intent, whose last step is their audit row",
    "users.update_all": "the same",
    "tenants.insert_unless_known": "the first tenant, which the deployment makes; its first key is audited",
}


def _writers() -> Iterator[tuple[str, str, str]]:
    """Functions of the store that write configuration: module, name, and what to call them."""
    for module in modules():
        if module.is_store:
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef):
                    body = Module(module.path, ast.Module([node], []))
                    tables = {match[1] for _, text in texts(body) for match in rules._WRITES.finditer(text)}
                    if tables & CONFIGURATION:
                        yield module.name, node.name, f"{module.name.removeprefix('tocsin.store.')}.{node.name}"


def _calls_audit(function: ast.AST) -> bool:
    said = ast.unparse(function)
    return any(
        word in said
        for word in ("audit.record(", "audit.columns_of(", "record_change(", "record_many(", "_record_made(", "_record(")
    )


def _callers() -> dict[tuple[str, str], list[ast.FunctionDef]]:
    """Which functions outside the store call what of it."""
    found: dict[tuple[str, str], list[ast.FunctionDef]] = {}
    for module in modules():
        bound = {} if module.is_store else _bound(module)
        for function in module.tree.body if bound else ():
            if isinstance(function, ast.FunctionDef):
                for place in {place for node in ast.walk(function) if (place := _called(node, bound))}:
                    found.setdefault(place, []).append(function)
    return found


def _bound(module: Module) -> dict[str, str]:
    """What the names that a module imports stand for."""
    imports = [node for node in ast.walk(module.tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}


def _called(node: ast.AST, bound: dict[str, str]) -> tuple[str, str] | None:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in bound:
            return bound[name], attribute
        case ast.Name(id=name) if name in bound:
            origin, _, last = bound[name].rpartition(".")
            return origin, last
        case _:
            return None


def test_what_writes_configuration_is_called_where_it_is_audited_or_is_in_the_register() -> None:
    callers = _callers()
    writers = {title: callers.get((origin, name), []) for origin, name, title in _writers()}

    silent = {title for title, calling in writers.items() if not calling or not all(map(_calls_audit, calling))}

    assert silent == set(UNAUDITED)


def statements_after_the_audit(tree: ast.AST) -> list[int]:
    """Lines that do more in a transaction that has written its audit row: they would be done with the tenant's turn in hand, and
    whoever waits for both could wait for ever."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and "transaction(" in ast.unparse(node.items[0]):
            written = [number for number, one in enumerate(node.body) if _calls_audit(one)]
            if written:
                rest = node.body[written[0] + 1 :]
                found += [one.lineno for one in rest if "conn" in ast.unparse(one) and not _calls_audit(one)]
    return found


@pytest.mark.parametrize(
    "module", [one for one in modules() if "audit.record(" in ast.unparse(one.tree)], ids=lambda one: one.name
)
def test_the_audit_row_is_the_last_thing_that_a_transaction_does(module: Module) -> None:
    assert statements_after_the_audit(module.tree) == []


def test_what_comes_after_the_audit_row_is_found() -> None:
    planted = ast.parse("with tenant_transaction(conn, t):\n  audit.record(conn)\n  other(conn)\n")

    assert statements_after_the_audit(planted) == [3]
