"""The template that sam runs is ours, but for the architecture, the paths, and variables that wait for their values."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from devstack import intrinsics, template
from devstack.local_parameters import local_parameters
from devstack.sam_local import template_copy
from devstack.stack import ENDPOINTS

ROOT = Path(__file__).parent.parent.parent
TEMPLATE = ROOT / "template.yaml"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    target = tmp_path_factory.mktemp("copy") / "sam-local" / "template.yaml"
    template_copy.write(TEMPLATE, target, architecture="x86_64", variables=template_copy.variable_names(TEMPLATE))
    document: dict[str, Any] = yaml.safe_load(target.read_text())
    return document


def functions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    resources = document["Resources"].items()
    return {name: each["Properties"] for name, each in resources if each["Type"] == "AWS::Serverless::Function"}


def test_everything_is_built_for_this_machine(copied: dict[str, Any]) -> None:
    assert "arm64" in TEMPLATE.read_text()
    assert "arm64" not in str(copied)
    assert copied["Globals"]["Function"]["Architectures"] == ["x86_64"]
    assert copied["Resources"]["SharedLayer"]["Metadata"]["BuildArchitecture"] == "x86_64"


def test_every_function_declares_each_variable_that_the_env_file_will_set_without_a_value(
    copied: dict[str, Any],
) -> None:
    local = local_parameters(database_port=5432, public_url="http://127.0.0.1:3000", post_office_url="http://127.0.0.1:1")
    declared = template.read(TEMPLATE, local, {}).functions

    written = {name: each["Environment"]["Variables"] for name, each in functions(copied).items()}

    assert written.keys() == declared.keys()
    for name, variables in written.items():
        assert variables.keys() == {*declared[name].variables, *ENDPOINTS}, name
        assert set(variables.values()) == {""}
    assert "DATABASE_HOST" in written["IntakeFunction"]


def test_code_layers_and_the_nested_stack_are_found_from_the_folder_of_the_copy(copied: dict[str, Any]) -> None:
    found = [Path(each["Properties"][name]) for each in copied["Resources"].values() for name in template_copy.PATHS
             if name in each.get("Properties", {})]  # fmt: skip

    assert len(found) == len(functions(copied)) + 3
    assert all(path.is_absolute() and path.exists() for path in found)


def test_nothing_else_differs_and_the_template_that_was_read_is_as_it_was(copied: dict[str, Any]) -> None:
    original = intrinsics.load(TEMPLATE)

    assert copied.keys() == original.keys()
    for key in copied.keys() - {"Globals", "Resources"}:
        assert copied[key] == original[key]
    assert copied["Resources"]["HttpApi"] == original["Resources"]["HttpApi"]
    for name, each in functions(copied).items():
        assert each.get("Events") == original["Resources"][name]["Properties"].get("Events")
    assert original["Globals"]["Function"]["Architectures"] == ["arm64"]


def test_the_runtime_is_the_templates() -> None:
    assert template_copy.runtime(TEMPLATE) == "python3.13"
