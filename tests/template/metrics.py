"""Which metrics the code writes, read from its source; and which the dashboard shows, read from its body."""

import ast
import json
import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any, NamedTuple
from unittest import mock

from tests.template.doors import served
from tests.unit.settings_read import reach_of
from tests.unit.source import modules
from tocsin.foundation import embedded, system_events
from tocsin.foundation.settings import Settings

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
    return {one for module in modules() for one in _written_in(module.tree)}


@cache
def written_by(folder: str) -> set[tuple[str, frozenset[str]]]:
    """The same, as far as the door in this folder can come to write it."""
    reached = reach_of(f"{folder}/app.py", modules(), serves=served().get(folder, frozenset()))
    return {one for name in reached for node in name.nodes for one in _written_in(node)}


@cache
def printed_of_system_events() -> dict[str, set[frozenset[str]]]:
    """By metric, the sets of dimensions under which one is counted that whoever runs the installation must hear of."""
    said = {"severity": "high", "event_type": "x", "is_manual": False, "tenant_id": None}
    config, printed = Settings.model_validate({"powertools_metrics_namespace": "Tocsin"}), StringIO()
    told = [mock.patch.object(module, "settings", lambda: config) for module in (system_events, embedded)]
    with told[0], told[1], redirect_stdout(printed):
        for metric in system_events._METRICS.values():
            system_events._count(metric, said)
    lines = [json.loads(line) for line in printed.getvalue().splitlines()]
    counted = [each for line in lines for each in line["_aws"]["CloudWatchMetrics"]]
    return {each["Metrics"][0]["Name"]: {frozenset(names) for names in each["Dimensions"]} for each in counted}


def _written_in(tree: ast.AST) -> list[tuple[str, frozenset[str]]]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [one for call in calls if (one := _written(call)) is not None]


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
