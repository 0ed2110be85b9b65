"""The source of the layer and the functions, as syntax trees."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYER = "layers/shared/tocsin"
_NO_ROOMS = {"api", "http", "store", "foundation"}
# The rooms, by capability: every folder of the layer that is not one of those that all of them stand between.
ROOMS = {folder.name for folder in (ROOT / LAYER).iterdir() if (folder / "__init__.py").exists()} - _NO_ROOMS


@dataclass(frozen=True)
class Module:
    path: str  # from the root, with slashes
    tree: ast.Module

    @property
    def is_store(self) -> bool:
        return self.path.startswith(f"{LAYER}/store/")

    @property
    def is_flow(self) -> bool:
        """Whether it has statements across tables, and so a step's name and no table's."""
        return self.path.startswith(f"{LAYER}/store/flow/")

    @property
    def room(self) -> str:
        """The folder of the layer it stands in; of a door, `functions`."""
        parts = self.path.removeprefix(f"{LAYER}/").split("/")
        return parts[0] if len(parts) > 1 else ""

    @property
    def name(self) -> str:
        """As it is imported."""
        return "tocsin." + self.path.removeprefix(f"{LAYER}/").removesuffix(".py").replace("/", ".")

    @property
    def is_pure(self) -> bool:
        """Whether its opening words end with "Pure."."""
        return (ast.get_docstring(self.tree) or "").split("\n\n")[0].endswith("Pure.")

    def at(self, node: ast.AST, what: str) -> str:
        """One finding, as an editor can jump to it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)} {what}"


@cache
def modules() -> list[Module]:
    """Every module of ours that runs in the cloud."""
    files = sorted([*(ROOT / "layers").rglob("*.py"), *(ROOT / "functions").rglob("*.py")])
    return [Module(str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))) for file in files]


def imports(module: Module, *, top_level_only: bool = False) -> list[tuple[ast.AST, str]]:
    """The names of what a module imports, each with its place."""
    nodes = _outside_functions(module.tree) if top_level_only else list(ast.walk(module.tree))
    found: list[tuple[ast.AST, str]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(node, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def texts(module: Module) -> list[tuple[ast.Constant, str]]:
    """The string literals that are not documentation."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node, node.value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


def calls(module: Module) -> list[tuple[ast.Call, str]]:
    """Every call with the last name of what is called: `conn.execute(…)` is `execute`."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            found.append((node, name))
    return found


def _outside_functions(tree: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            found += [node, *_outside_functions(node)]
    return found
