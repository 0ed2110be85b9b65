"""Every check of the template: a pure function from a template to the list of its violations."""

from collections.abc import Callable
from inspect import getmembers, isfunction
from types import ModuleType

from tests.template import (
    checks_of_access,
    checks_of_alarms,
    checks_of_data,
    checks_of_deployment,
    checks_of_edges,
    checks_of_functions,
    checks_of_grants,
    checks_of_identity,
    checks_of_invoking,
    checks_of_names,
    checks_of_network,
    checks_of_pages,
    checks_of_proxy,
    checks_of_queues,
    checks_of_reach,
    checks_of_roles,
    checks_of_storage,
    checks_of_switches,
    checks_of_timing,
    checks_of_variables,
    checks_of_watching,
)
from tests.template.reading import Template

Check = Callable[[Template], list[str]]


def _checks_in(module: ModuleType) -> list[Check]:
    """The public functions that a module defines itself and that answer with a list of violations."""
    return [
        each
        for name, each in getmembers(module, isfunction)
        if each.__module__ == module.__name__ and not name.startswith("_") and each.__annotations__.get("return") == list[str]
    ]


_MODULES = (
    *(checks_of_functions, checks_of_queues, checks_of_access, checks_of_data),
    *(checks_of_network, checks_of_pages, checks_of_watching),
    *(checks_of_grants, checks_of_reach, checks_of_proxy, checks_of_edges, checks_of_invoking, checks_of_switches),
    *(checks_of_alarms, checks_of_roles, checks_of_identity, checks_of_timing, checks_of_variables, checks_of_storage),
    *(checks_of_deployment, checks_of_names),
)
ON_SAM: tuple[Check, ...] = (
    *(checks_of_watching.handlers_exist, checks_of_watching.layers_are_built_for_their_functions),
    checks_of_variables.variables_follow_the_parameter_of_their_name,
    checks_of_deployment.no_parameter_replaces_the_database,
)
ON_TRANSLATED: tuple[Check, ...] = tuple(check for module in _MODULES for check in _checks_in(module) if check not in ON_SAM)
