"""template.yaml leads every route to the function that serves it."""

import importlib.util
import inspect
from functools import cache
from typing import Any

import pytest
import yaml

from tests.unit.source import ROOT
from tocsin.api import about
from tocsin.http.door import ANY_KEY

DOORS = ("intake", "wait", "inbox_api", "live", "manage", "operate", "admin", "data")
OPEN_DOORS = [f"functions/{door}" for door in DOORS]


class Permissive(yaml.SafeLoader):
    """Reads CloudFormation's short forms as the plain values they carry."""


def _plain(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


Permissive.add_multi_constructor("!", _plain)


@cache
def routes_by_folder() -> dict[str, set[str]]:
    """The HTTP routes that the template gives each function, by the folder of its code."""
    template = yaml.load((ROOT / "template.yaml").read_text(), Loader=Permissive)  # noqa: S506 - a SafeLoader
    routes: dict[str, set[str]] = {}
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            properties = resource["Properties"]
            events = [event["Properties"] for event in properties.get("Events", {}).values() if event["Type"] == "HttpApi"]
            routes[properties["CodeUri"].strip("./")] = {_route(event) for event in events}
    return routes


def _route(event: dict[str, Any]) -> str:
    return f"{event['Method'].upper()} {event['Path']}" if "Path" in event else "$default"


def served_by(folder: str) -> set[str]:
    """The routes that the function's handler really knows."""
    spec = importlib.util.spec_from_file_location(f"app_of_{folder.replace('/', '_')}", ROOT / folder / "app.py")
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    return set(inspect.getclosurevars(inspect.unwrap(app.handler)).nonlocals["by_route"])


@pytest.mark.parametrize("folder", OPEN_DOORS)
def test_a_function_gets_the_routes_it_serves(folder: str) -> None:
    assert routes_by_folder()[folder] - {"$default"} == served_by(folder)


def test_every_endpoint_has_a_route_and_every_route_an_endpoint() -> None:
    in_template = {route for routes in routes_by_folder().values() for route in routes}

    assert in_template - {"$default"} == {endpoint.route for endpoint in about.every_endpoint()}


def test_whatever_no_route_matches_goes_to_intake() -> None:
    assert [folder for folder, routes in routes_by_folder().items() if "$default" in routes] == ["functions/intake"]


def test_no_other_function_can_be_called_over_http() -> None:
    assert {folder for folder, routes in routes_by_folder().items() if routes} == set(OPEN_DOORS)


def test_operate_and_admin_each_serve_the_scope_of_their_name_and_no_other_door_does() -> None:
    scopes = {endpoint.route: endpoint.scope for endpoint in about.every_endpoint()}
    routes = {folder: each - {"$default"} for folder, each in routes_by_folder().items()}

    for scope in ("operate", "admin"):
        assert {folder for folder, each in routes.items() if scope in {scopes[route] for route in each}} == {f"functions/{scope}"}
        assert {scopes[route] for route in routes[f"functions/{scope}"]} - {ANY_KEY, None} == {
            scope
        }  # None: the console's own files
