"""The groups of packages fit together: each is as small as its purpose, and no version differs between them."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT
from tools.install import GROUPS

BLOCK = 4096  # what a file takes of a disk comes in these


def pinned(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^ ;\\]+)", path.read_text(), re.MULTILINE))


def group(name: str) -> dict[str, str]:
    return pinned(ROOT / "requirements" / f"{name}.txt")


def test_make_knows_every_group_and_no_other() -> None:
    (makes,) = re.findall(r"^GROUPS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert sorted(makes.split()) == sorted(GROUPS) == sorted(path.stem for path in (ROOT / "requirements").glob("*.txt"))


def test_one_environment_can_hold_them_all() -> None:
    locked = [*(ROOT / "requirements").glob("*.txt"), *ROOT.glob("*/*/requirements.txt")]
    versions = {(name, version) for path in locked for name, version in pinned(path).items()}

    assert len(locked) > len(GROUPS)
    assert len(versions) == len(dict(versions))


def test_the_local_stack_brings_no_tools_of_developers() -> None:
    tools = {"boto3-stubs", "cfn-lint", "docker", "hypothesis", "mypy", "pytest", "ruff", "sympy", "aws-sam-cli"}

    assert not tools & set(group("run"))
    assert set(group("run")) < set(group("test")) < set(group("bench"))


def test_the_packages_of_the_template_s_functions_are_those_of_the_local_stack() -> None:
    deployed = [pinned(path) for path in ROOT.glob("*/*/requirements.txt")]

    assert deployed
    assert all(each.items() <= group("run").items() for each in deployed)


@pytest.mark.parametrize("name", ["run", "test"])
def test_a_group_takes_as_much_of_the_disk_as_make_says(name: str) -> None:
    files = [file for each in set(group(name)) - {"colorama"} for file in metadata.files(each) or ()]

    megabytes = sum(-(-(file.size or 0) // BLOCK) * BLOCK for file in files if file.suffix != ".pyc") / 1e6

    assert megabytes == pytest.approx(GROUPS[name][1], rel=0.15)
