"""The `type` of every problem leads to its entry on the error page, which is docs/errors.md as an installation shows it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.functions.doors import Api
from tocsin.http.problem_kinds import AREAS, KINDS
from tools import errors_page

LAYER = Path(__file__).resolve().parents[2] / "layers" / "shared" / "tocsin"
CHOSEN = {"already-resolved", "expired", "not-replayable"}  # by api/dead_letters.py, out of a dict


def _raised() -> Iterator[tuple[str, int]]:
    for path in LAYER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem":
                status, kind = node.args[:2]
                if isinstance(kind, ast.Constant) and isinstance(status, ast.Constant):
                    yield str(kind.value), int(str(status.value))


def test_the_page_explains_what_the_code_raises_and_nothing_else() -> None:
    raised = set(_raised())

    assert raised | {(name, 409) for name in CHOSEN} == {(kind.name, kind.status) for kind in KINDS.values()}
    assert len(KINDS) == sum(map(len, AREAS.values()))


def test_the_document_is_as_the_register_makes_it() -> None:
    made = errors_page.page()

    assert errors_page.PAGE.read_text(encoding="utf-8") == made, "PYTHONPATH=layers/shared python -m tools.errors_page"
    for kind in KINDS.values():
        assert f"### {kind.name}\n\n{kind.status}. {kind.cause}" in made


def test_a_problem_leads_to_its_entry_on_the_page(api: Api) -> None:
    refused = api.get("/v1/users/nobody")

    path, _, kind = refused.json["type"].partition("#")
    page = api.get(path, key="")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f'<section id="{kind}">' in page.text
    assert "script" not in page.headers["Content-Security-Policy"]


def test_what_links_hang_onto_the_address_does_not_matter(api: Api) -> None:
    assert api.get("/errors", key="", query={"utm_source": "mail"}).status == 200


def test_every_page_and_call_that_a_fix_names_exists(api: Api) -> None:
    docs = LAYER.parents[2] / "docs"
    described = api.get("/v1/openapi.json", key="").json["paths"]

    for kind in KINDS.values():
        for page in re.findall(r"docs/([\w-]+\.md)", kind.fix):
            assert (docs / page).exists(), page
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[\w/{}.-]*)[^`]*`", kind.fix + kind.cause):
            assert method.lower() in described[path], path
