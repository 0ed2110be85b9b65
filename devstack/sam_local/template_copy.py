"""The copy of template.yaml that `sam local` runs: built for this machine, and with a place for every variable that we set."""

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from devstack import intrinsics
from devstack import template as templates
from devstack.local_parameters import local_parameters
from devstack.stack import ENDPOINTS

# What leads to a folder or file beside the template, which the copy is not.
PATHS = ("CodeUri", "ContentUri", "TemplateURL")


def write(template: Path, target: Path, *, architecture: str, variables: Mapping[str, Iterable[str]]) -> None:
    document = adapted(intrinsics.load(template), template.parent, architecture=architecture, variables=variables)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(yaml.safe_dump(document, sort_keys=False, width=130))


def adapted(document: dict[str, Any], root: Path, *, architecture: str, variables: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """The template for functions of this architecture, each with its variables by name; their values are in the env file.

    sam passes on only what the template declares, drops the rest without a word, and knows no value that AWS would make up.
    """
    changed = copy.deepcopy(document)
    changed["Globals"]["Function"] |= {"Architectures": [architecture], "Environment": {"Variables": {}}}
    for name, resource in changed["Resources"].items():
        properties = resource.get("Properties", {})
        properties |= {path: str(root / properties[path]) for path in PATHS if isinstance(properties.get(path), str)}
        if name in variables:
            properties["Environment"] = {"Variables": dict.fromkeys(variables[name], "")}
        if "Architectures" in properties:
            properties["Architectures"] = [architecture]
        if "CompatibleArchitectures" in properties:
            properties["CompatibleArchitectures"] = [architecture]
        if "BuildArchitecture" in resource.get("Metadata", {}):
            resource["Metadata"]["BuildArchitecture"] = architecture
    return changed


def runtime(template: Path) -> str:
    """What the functions run on, such as `python3.13`."""
    found: str = intrinsics.load(template)["Globals"]["Function"]["Runtime"]
    return found


def variable_names(path: Path) -> dict[str, list[str]]:
    """Which variables each function will have. Their values are known when the servers run, so here any address will do."""
    nowhere = "http://127.0.0.1:1"
    local = local_parameters(database_port=5432, public_url=nowhere, post_office_url=nowhere)
    asked = templates.parameters_of(path)
    declared = templates.read(path, {name: value for name, value in local.items() if name in asked}, {})
    return {name: [*function.variables, *ENDPOINTS] for name, function in declared.functions.items()}
