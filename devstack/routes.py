"""Which route a request takes: the most specific one, as API Gateway decides it."""

from collections.abc import Iterable
from urllib.parse import unquote

from devstack.declared import Route


def match(routes: Iterable[Route], method: str, raw_path: str) -> tuple[Route, dict[str, str]] | None:
    """The route and its path parameters, decoded; None if not even a catch-all takes the request."""
    found = []
    for route in routes:
        parameters = _parameters(route, raw_path)
        if parameters is not None and route.method in {method, "ANY"}:
            found.append((_rank(route), route, parameters))
    if not found:
        return None
    _, route, parameters = min(found, key=lambda each: each[0])
    return route, parameters


def _parameters(route: Route, raw_path: str) -> dict[str, str] | None:
    """The values of the route's variables in this path; None if it does not fit."""
    if route.path == "$default":
        return {}
    wanted, given = route.path.split("/"), raw_path.split("/")
    found: dict[str, str] = {}
    for place, segment in enumerate(wanted):
        if segment.endswith("+}"):
            rest = "/".join(given[place:])
            return {**found, segment[1:-2]: unquote(rest)} if rest else None
        if place >= len(given):
            return None
        if segment.startswith("{"):
            if not given[place]:
                return None
            found[segment[1:-1]] = unquote(given[place])
        elif segment != unquote(given[place]):
            return None
    return found if len(given) == len(wanted) else None


def _rank(route: Route) -> tuple[list[int], bool]:
    """Smaller is more specific: literal segments before variables before greedy ones; a method before ANY."""
    if route.path == "$default":
        return [3], True
    kinds = [2 if each.endswith("+}") else 1 if each.startswith("{") else 0 for each in route.path.split("/")]
    return kinds, route.method == "ANY"
