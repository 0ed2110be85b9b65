"""The OpenAPI document as other people's tools take it: two linters find nothing, and a generator makes a typed client of it."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.tools import fetched
from tocsin.api import about
from tocsin.http.openapi_schemas import schemas_of

REDOCLY = ("@redocly/cli", "2.77.0", "redocly")
SPECTRAL = ("@stoplight/spectral-cli", "6.16.3", "spectral")
GENERATOR = ("openapi-python-client", "0.29.1")

pytestmark = pytest.mark.timeout(600)  # each may have to be fetched first


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(about.get_openapi(None).body))  # type: ignore[arg-type]
    return path


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | fetched.QUIET
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=environment)


def test_redocly_has_nothing_to_say(document: Path) -> None:
    redocly = fetched.from_npm(*REDOCLY)

    ran = run(document.parent, redocly, "lint", "--extends=recommended", "--format=json", document.name)

    found = json.loads(ran.stdout)
    assert found["problems"] == []
    assert (ran.returncode, found["totals"]) == (0, {"errors": 0, "warnings": 0, "ignored": 0})


def test_spectral_has_nothing_to_say(document: Path) -> None:
    spectral = fetched.from_npm(*SPECTRAL)
    (document.parent / "rules.yaml").write_text('extends: ["spectral:oas"]\n')

    ran = run(
        document.parent,
        *(
            spectral,
            "lint",
            document.name,
            "--ruleset=rules.yaml",
            "--format=json",
            "--output=found.json",
            "--fail-severity=hint",
        ),
    )

    assert json.loads((document.parent / "found.json").read_text()) == []
    assert ran.returncode == 0


def test_a_client_can_be_made_whose_answers_are_typed(document: Path) -> None:
    generator = fetched.from_pypi(*GENERATOR)
    (document.parent / "config.yaml").write_text("post_hooks: []\n")

    ran = run(
        document.parent,
        *(generator, "generate", f"--path={document.name}", "--output-path=client", "--meta=none", "--config=config.yaml"),
        "--fail-on-warning",
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "warning" not in (ran.stdout + ran.stderr).lower()
    assert untyped(document.parent / "client") == []


def untyped(client: Path) -> list[tuple[str, str]]:
    """The endpoints, with their answers, for which the client does not make the answer's type of what comes back."""
    endpoints = about.every_endpoint()
    answers = schemas_of(endpoints).answers
    made = {path.stem: path.read_text() for path in (client / "api").rglob("*.py")}
    return [
        (endpoint.route, name)
        for endpoint in endpoints
        for shape in {endpoint.answer, *endpoint.other_answers.values()} - {None}
        for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(answers[shape]))
        if f"{name}.from_dict(" not in made[endpoint.run.__name__]
    ]
