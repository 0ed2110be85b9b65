"""Every command that a page or a message tells somebody to type exists."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.template import reading
from tests.tools.checkout import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "samconfig.toml",
    ROOT / ".ci" / "run",
    *sorted((ROOT / "docs").glob("*.md")),
]
MESSAGES = [path for folder in ("devstack", "tools", "bench") for path in sorted((ROOT / folder).glob("*.py"))]
# In a shell block at the beginning of a line, elsewhere between backquotes or after a colon.
TYPED = re.compile(r"(?:^|`|: +|&& )make ([a-z0-9-]+)((?: [A-Z_]+=(?:\"[^\"]*\"|'[^']*'|[^\s`\"'#]+))*)", re.MULTILINE)


def commands(path: Path) -> list[tuple[str, dict[str, str]]]:
    """The targets that are typed, with their variables."""
    found = TYPED.findall(path.read_text())
    return [(target, dict(re.findall(r"([A-Z_]+)=(\"[^\"]*\"|'[^']*'|\S+)", variables))) for target, variables in found]


def known_variables() -> set[str]:
    """Those that the Makefile's own descriptions name."""
    described = re.findall(r"^[a-z0-9-]+:.*## (.*)$", MAKEFILE, re.MULTILINE)
    return set(re.findall(r"\b[A-Z_]{3,}\b", " ".join(described))) | {"PYTHON"}


@pytest.mark.parametrize("path", [*PAGES, *MESSAGES], ids=lambda path: path.name)
def test_every_make_that_is_named_exists_with_its_variables(path: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))

    typed = commands(path)

    assert {target for target, _ in typed} <= targets
    assert {name for _, variables in typed for name in variables} <= known_variables()


def test_the_readme_and_the_page_deploy_by_make_to_environments_and_parameters_that_exist() -> None:
    environments = set(tomllib.loads((ROOT / "samconfig.toml").read_text())) - {"version"}
    parameters = reading.sam_template()["Parameters"]

    for page in ("README.md", "docs/deploying.md"):
        deploying = [variables for target, variables in commands(ROOT / page) if target == "deploy"]
        named = {variables.get("ENV", "default") for variables in deploying}
        overridden = [name for each in deploying for name in re.findall(r"(\w+)=", each.get("PARAMETERS", ""))]

        assert named == {"default", "prod"} == environments
        assert any("EMAIL_FROM" in variables for variables in deploying)
        assert set(overridden) <= set(parameters)


def test_no_page_sends_anybody_through_the_questions_of_sam() -> None:
    for page in set(PAGES) - {ROOT / "docs" / "decisions.md"}:  # which says why not
        assert "--guided" not in page.read_text(), page.name
        assert not re.search(r"(?:^|&& |`)sam deploy", page.read_text(), re.MULTILINE), f"{page.name}: sam is not on the path"


def test_only_the_sender_must_be_given() -> None:
    required = [name for name, each in reading.sam_template()["Parameters"].items() if "Default" not in each]

    assert required == ["EmailFrom"]
