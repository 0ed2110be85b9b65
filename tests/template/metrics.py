"""Which metrics the code writes, read from its source; and which the dashboard shows, read from its body."""

import ast
import json
import re
from functools import cache
from typing import Any, NamedTuple

from tests.template.reading import ROOT

_SEARCH = re.compile(r"SEARCH\('\{(?P<schema>.*?)\}(?P<terms> [^']*)'")  # a brace within belongs to a placeholder
_METRIC = re.compile(r'MetricName="(\w+)"')


class Shown(NamedTuple):
    namespace: str
    metric: str
    dimensions: frozenset[str]


def widgets(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Valid JSON, or it is no dashboard."""
    found: list[dict[str, Any]] = json.loads(_text(dashboard))["widgets"]
    return found


def variables(dashboard: dict[str, Any]) -> dict[str, Any]:
    body = dashboard["DashboardBody"]
    given: dict[str, Any] = body["Fn::Sub"][1] if isinstance(body, dict) and isinstance(body["Fn::Sub"], list) else {}
    return given


def shown_metrics(dashboard: dict[str, Any]) -> list[Shown]:
    return [one for widget in widgets(dashboard) for metric in widget["properties"].get("metrics", []) for one in _shown(metric)]


def _text(dashboard: dict[str, Any]) -> str:
    body = dashboard["DashboardBody"]
    text: str = body if isinstance(body, str) else body["Fn::Sub"] if isinstance(body["Fn::Sub"], str) else body["Fn::Sub"][0]
    return text


def _shown(metric: Any) -> list[Shown]:
    if isinstance(metric, dict):
        searches = list(_SEARCH.finditer(metric["expression"]))
        assert searches, metric
        return [_searched(*one.groups()) for one in searches]
    names = [part for part in metric if isinstance(part, str)]
    return [Shown(names[0], names[1], frozenset(names[2::2]))]


def _searched(schema: str, terms: str) -> Shown:
    namespace, *dimensions = schema.replace('"', "").split(",")
    return Shown(namespace, _METRIC.search(terms)[1], frozenset(dimensions))  # type: ignore[index]


@cache
def written_metrics() -> set[tuple[str, frozenset[str]]]:
    """By name, each with the dimensions it has. `service` is every metric's."""
    files = [*ROOT.glob("functions/*/app.py"), *ROOT.glob("layers/shared/tocsin/**/*.py")]
    calls = [node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return {one for call in calls if (one := _written(call)) is not None}


def _written(call: ast.Call) -> tuple[str, frozenset[str]] | None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {one.arg: one.value for one in call.keywords if one.arg}
    if name == "add_metric" and isinstance(said := keywords.get("name"), ast.Constant):
        return str(said.value), frozenset({"service"})
    if name == "tell" and len(call.args) == 1 and isinstance(call.args[0], ast.Constant):
        return str(call.args[0].value), frozenset({"scope"})  # for the alarm; by what it is about besides
    if name in ("count", "write", "add") and call.args and isinstance(call.args[0], ast.Constant) and len(call.args) == 2:
        return str(call.args[0].value), frozenset({"service", *keywords})
    return None
