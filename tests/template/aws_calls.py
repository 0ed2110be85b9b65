"""Which operations of AWS a door's code can come to call, read from its source."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from tests.template.doors import served
from tests.unit.reach import Name
from tests.unit.settings_read import reach_of
from tests.unit.source import Module, modules

# How `aws.client` may be used, so that this reader follows: called at once, kept under a name of the function, handed to a class
# that keeps it as `client`, or made beforehand and thrown away.
KEPT_AS = "client"
ANSWERS_CLOUDFORMATION = "ResponseURL"  # whoever reads it puts an object into a bucket of CloudFormation's


class Call(NamedTuple):
    service: str
    operation: str


@cache
def called_by(folder: str) -> frozenset[Call]:
    """What the door in this folder can come to call."""
    return frozenset(calls_among(reach_of(f"{folder}/app.py", modules(), serves=served().get(folder, frozenset()))))


def calls_among(reached: Iterable[Name]) -> set[Call]:
    statements = [node for one in reached if one.module != "tocsin.foundation.aws" for node in one.nodes]
    handed = [pair for statement in statements for pair in _handed(statement)]
    found = {call for statement in statements for call in _made_in(statement)}
    for name, service in handed:
        classes = [node for node in statements if isinstance(node, ast.ClassDef) and node.name == name]
        found |= {Call(service, operation) for node in classes for operation in _operations_of_kept(node)}
    return found


@cache
def answers_cloudformation(folder: str) -> bool:
    doors = [module for module in modules() if module.path == f"{folder}/app.py"]
    return any(isinstance(node, ast.Constant) and node.value == ANSWERS_CLOUDFORMATION for node in ast.walk(doors[0].tree))


def not_followed(module: Module) -> list[str]:
    """The uses of `aws.client` that this reader would lose sight of."""
    followed = {id(client) for node in ast.walk(module.tree) for client in _followed(node)}
    clients = [node for node in ast.walk(module.tree) if _is_client(node)]
    return [module.at(node, ast.unparse(node)) for node in clients if id(node) not in followed]


def _followed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=made)) if _service(made):
            return [made]
        case ast.Assign(targets=[ast.Name()], value=ast.IfExp(body=one, orelse=other)):
            return [one, other]
        case ast.Assign(targets=[ast.Name()], value=made) | ast.Expr(value=made):
            return [made]
        case ast.Call(func=ast.Name(id=name), args=arguments) if name[0].isupper():
            return arguments
        case _:
            return []


def _is_client(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="aws"), attr="client")):
            return True
        case _:
            return False


def _service(node: ast.AST) -> str | None:
    """The service of which this expression is a client, either way."""
    match node:
        case ast.Call(args=[ast.Constant(value=str(service)), *_]) if _is_client(node):
            return service
        case ast.IfExp(body=one, orelse=other) if _service(one) == _service(other):
            return _service(one)
        case _:
            return None


def _names(statement: ast.stmt) -> dict[str, str]:
    """The names under which this statement keeps clients, each with its service."""
    kept = {}
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if service := _service(value):
                kept[name] = service
    return kept


def _made_in(statement: ast.stmt) -> Iterator[Call]:
    names = _names(statement)
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=operation)) if name in names:
                yield Call(names[name], operation)
            case ast.Call(func=ast.Attribute(value=made, attr=operation)) if service := _service(made):
                yield Call(service, operation)


def _handed(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The classes that are handed a client, each with its service."""
    names = _names(statement)
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name[0].isupper():
                given = [names.get(one.id) if isinstance(one, ast.Name) else _service(one) for one in arguments]
                yield from ((name, service) for service in given if service)


def _operations_of_kept(node: ast.ClassDef) -> list[str]:
    """What a class calls of the client that it keeps."""
    found = []
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=kept), attr=operation)):
                found += [operation] if kept == KEPT_AS else []
    return found
