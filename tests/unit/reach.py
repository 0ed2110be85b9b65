"""What a door reaches: the functions, classes and values of ours that its code names, and those that they name in turn."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.unit.source import Module

# Names that lead further than the code does, each with its reason.
LEADS_NOWHERE = {("tocsin.api.about", "every_endpoint"): "describes what all doors serve, and runs none of it"}

BODY = ""  # what a module does when it is imported


@dataclass(frozen=True)
class Name:
    """A name at the top of a module, and the syntax that gives it its meaning."""

    module: str
    name: str
    nodes: tuple[ast.stmt, ...]


def reached_from(door: str, modules: list[Module]) -> list[Name]:
    """Everything that the door (`functions/<name>/app.py`) can come to run."""
    houses = {_name_of(module): _house(module) for module in modules}
    waiting = [(door, name) for name in houses[door].names]
    seen: dict[tuple[str, str], Name] = {}
    while waiting:
        place = waiting.pop()
        if place in seen or place in LEADS_NOWHERE:
            continue
        house = houses[place[0]]
        seen[place] = Name(*place, tuple(house.names.get(place[1], ())))
        waiting += [(place[0], BODY)]
        for origin, name in house.named_by(place[1]):
            if origin in houses and name in houses[origin].names:
                waiting.append((origin, name))
            elif f"{origin}.{name}" in houses:
                waiting.append((f"{origin}.{name}", BODY))
    return list(seen.values())


class _House:
    """One module: its names at the top, and what each of them names."""

    def __init__(self, module: Module) -> None:
        self._own = _name_of(module)
        self.names: dict[str, list[ast.stmt]] = {BODY: []}
        for statement in module.tree.body:
            for name in _given_by(statement):
                self.names.setdefault(name, []).append(statement)
        self._bound = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        self._named: dict[str, list[tuple[str, str]]] = {}

    def named_by(self, name: str) -> list[tuple[str, str]]:
        if name not in self._named:
            self._named[name] = list(self._find_named_by(name))
        return self._named[name]

    def _find_named_by(self, name: str) -> Iterator[tuple[str, str]]:
        for statement in self.names.get(name, ()):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    yield self._own, node.id
                    yield _parted(self._bound.get(node.id, ""))
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    yield self._bound.get(node.value.id, ""), node.attr


@cache
def _house(module: Module) -> _House:
    return _House(module)


def _given_by(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return []
        case _:
            return [BODY]


def _name_of(module: Module) -> str:
    return module.path if module.path.startswith("functions/") else module.name


def _parted(name: str) -> tuple[str, str]:
    origin, _, last = name.rpartition(".")
    return origin, last
