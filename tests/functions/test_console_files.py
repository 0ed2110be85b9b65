"""GET /console and its files: open to everyone, under a strict policy, kept for a year by their version, and nobody else's."""

import hashlib
import re

import pytest

from tests.functions.doors import FUNCTIONS, Api
from tests.functions.test_problems import assert_problem
from tocsin.http.assets import version_of_all

WEB = FUNCTIONS / "operate" / "web"
SERVED = sorted(path.name for path in WEB.iterdir() if path.suffix != ".md")
MODULES = [name for name in SERVED if name.endswith(".js") and not name.startswith("vendor-")]
IMPORT = re.compile(r'(?:^|\n)\s*(?:import|export)\b[^"\';]*?\bfrom\s*"(?P<from>[^"]+)"|import\("(?P<lazy>[^"]+)"\)')
PAGE = re.compile(r'module: "([\w.-]+\.js)"')
VENDORED = re.compile(
    r"\| `(?P<file>[\w.-]+)` \| (?P<package>[^|]+) \| `[^`]+` \| (?P<licence>[^|]+) \| `(?P<hash>[0-9a-f]{64})` \|"
)


@pytest.fixture
def api() -> Api:
    """Without a key, and without a world: these need no database."""
    return Api()


def policy_of(answer_headers: dict[str, str]) -> dict[str, str]:
    parts = (part.split(" ", 1) for part in answer_headers["Content-Security-Policy"].split("; "))
    return {name: "".join(value) for name, *value in parts}


def test_the_page_is_for_everyone_and_names_its_files_by_their_version(api: Api) -> None:
    answer = api.get("/console")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    named = re.findall(r'(?:src|href)="console/([^/"]+)/([^"]+)"', answer.text)
    assert {version for version, _ in named} == {version_of_all(WEB)}
    assert {name for _, name in named} <= set(SERVED)


def test_the_page_allows_nothing_that_is_not_its_own(api: Api) -> None:
    policy = policy_of(api.get("/console").headers)

    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["frame-src"] == "'self'"
    assert "unsafe" not in str(policy)
    page = api.get("/console").text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://", page)


def test_what_templates_make_is_shown_without_an_origin(api: Api) -> None:
    policy = policy_of(api.get("/console/x/preview.html").headers)

    assert policy["sandbox"] == "allow-scripts"
    assert policy["default-src"] == "'none'"
    assert (policy["img-src"], policy["frame-ancestors"]) == ("data:", "'self'")
    assert "connect-src" not in policy


@pytest.mark.parametrize("name", SERVED)
def test_every_file_is_served_as_it_is_and_kept_for_a_year_under_its_version(api: Api, name: str) -> None:
    version = version_of_all(WEB)

    answer = api.get(f"/console/{version}/{name}")

    assert answer.status == 200
    assert answer.text == (WEB / name).read_text("utf-8").replace("{version}", version if name.endswith(".html") else "{version}")
    kept = "public, no-cache" if name.endswith(".html") else "public, max-age=31536000, immutable"
    assert answer.headers["Cache-Control"] == kept
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_another_version_is_answered_and_not_kept(api: Api) -> None:
    """While a release rolls out, an old door is asked for new files and the other way round."""
    assert api.get("/console/0123456789abcdef/app.js").headers["Cache-Control"] == "public, no-cache"
    assert api.get("/console/demo.json").headers["Cache-Control"] == "public, no-cache"


@pytest.mark.parametrize("name", ["nothing.js", "VENDORED.md", "..%2Fapp.py", "app.py", "%00.js", "index.html%00"])
def test_no_other_file_of_the_function_is_served(api: Api, name: str) -> None:
    assert_problem(api.get(f"/console/{name}"), 404, "not-found")
    assert_problem(api.get(f"/console/any/{name}"), 404, "not-found")


def test_a_file_that_the_browser_has_is_304(api: Api) -> None:
    tag = api.get("/console").headers["ETag"]

    assert api.get("/console", headers={"if-none-match": tag}).status == 304


@pytest.mark.parametrize("name", MODULES)
def test_every_import_leads_to_a_file_beside_it(name: str) -> None:
    source = (WEB / name).read_text("utf-8")
    named = {found["from"] or found["lazy"] for found in IMPORT.finditer(source)} | {f"./{page}" for page in PAGE.findall(source)}

    assert {one for one in named if one.removeprefix("./") not in SERVED} == set()
    assert all(one.startswith("./") for one in named)


def test_every_module_is_reached_from_the_page() -> None:
    reached, further = set(), ["boot.js", "theme.js", "preview.js", "vendor-uplot.js", "app.js"]
    while further:
        name = further.pop()
        if name not in reached:
            reached.add(name)
            source = (WEB / name).read_text("utf-8")
            named = {found["from"] or found["lazy"] for found in IMPORT.finditer(source)}
            further += [one.removeprefix("./") for one in named if one] + PAGE.findall(source)

    assert {name for name in SERVED if name.endswith(".js")} - reached == set()


@pytest.mark.parametrize("name", [name for name in SERVED if name.endswith((".js", ".css", ".html"))])
def test_nothing_is_asked_of_anybody_else(name: str) -> None:
    """Addresses in words (an example, a placeholder) are fine; what loads or calls is not."""
    source = (WEB / name).read_text("utf-8")

    assert not re.search(r"""(?:import|fetch|src=|href=|url)\s*\(?\s*["'`]?(?:https?:)?//""", source)
    assert not re.search(r"\beval\(|new Function\(|\.innerHTML|insertAdjacentHTML|document\.write", source) or name.startswith(
        "vendor"
    )


def test_what_is_not_ours_is_as_its_authors_published_it() -> None:
    rows = {found["file"]: found for found in VENDORED.finditer((WEB / "VENDORED.md").read_text("utf-8"))}

    assert set(rows) == {name for name in SERVED if name.startswith("vendor-")}
    for name, row in rows.items():
        content = (WEB / name).read_bytes().replace(b'from"./vendor-preact.js"', b'from"preact"')
        assert hashlib.sha256(content).hexdigest() == row["hash"], name
        assert row["licence"].strip() in ("MIT", "Apache-2.0")
