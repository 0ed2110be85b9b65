"""GET /inbox/{asset}: the bell in its files and a page to try it on, and no other file of the function."""

import base64
import gzip

import pytest

from tests.functions.doors import FUNCTIONS, Api
from tests.functions.test_problems import assert_problem
from tocsin.http.assets import version_of
from tools.asset_versions import IMPORT

WEB = FUNCTIONS / "inbox_api" / "web"
NAMES = sorted(path.name for path in WEB.iterdir())
BELL = [name for name in NAMES if name.startswith("tocsin-inbox")]


@pytest.fixture
def api() -> Api:
    """Without a key, and without a world: these need no database."""
    return Api()


def test_there_is_a_bell_and_a_page_to_try_it_on() -> None:
    assert {"tocsin-inbox.js", "tocsin-inbox-core.js", "demo.html"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_as_it_is_to_everyone(api: Api, name: str) -> None:
    answer = api.get(f"/inbox/{name}")

    assert (answer.status, answer.text) == (200, (WEB / name).read_text("utf-8"))
    kind = {"js": "text/javascript; charset=utf-8", "html": "text/html; charset=utf-8"}
    assert answer.headers["Content-Type"] == kind[name.rpartition(".")[2]]


def test_a_page_needs_no_ending(api: Api) -> None:
    assert api.get("/inbox/demo").text == api.get("/inbox/demo.html").text


@pytest.mark.parametrize("name", ["demo", "tocsin-inbox.js"])
def test_a_file_loads_from_here_only_is_not_guessed_at_and_tells_nobody_where_one_came_from(api: Api, name: str) -> None:
    headers = api.get(f"/inbox/{name}").headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))

    assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'self'", "'self'")
    assert (policy["base-uri"], policy["form-action"], policy["frame-ancestors"]) == ("'none'", "'none'", "'none'")
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
    assert "unsafe" not in policy["script-src"]


def test_the_page_has_no_script_that_its_policy_would_refuse(api: Api) -> None:
    page = api.get("/inbox/demo").text

    assert "<script" in page
    assert all(tag.startswith((" src=", ' type="module" src=')) for tag in page.split("<script")[1:])
    assert " onclick=" not in page


@pytest.mark.parametrize("name", ["demo", "tocsin-inbox.js"])
def test_a_file_that_the_browser_has_is_304(api: Api, name: str) -> None:
    first = api.get(f"/inbox/{name}")
    tag = first.headers["ETag"]

    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = api.get(f"/inbox/{name}", headers={"if-none-match": known})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert api.get(f"/inbox/{name}", headers={"if-none-match": '"other"'}).status == 200
    assert api.get("/inbox/demo").headers["ETag"] != api.get("/inbox/tocsin-inbox.js").headers["ETag"]


def test_every_import_carries_the_version_of_the_file_it_means() -> None:
    found = [(name, each) for name in NAMES if name.endswith(".js") for each in IMPORT.finditer((WEB / name).read_text("utf-8"))]

    assert {each["name"] for _, each in found} == {*BELL} - {"tocsin-inbox.js"}
    for name, each in found:
        meant = version_of((WEB / each["name"]).read_bytes())
        assert each["version"] == meant, f"{name} imports another {each['name']}; run `.venv/bin/python -m tools.asset_versions`"


def test_what_the_bell_imports_is_kept_for_a_year_because_another_version_has_another_address(api: Api) -> None:
    imports = list(IMPORT.finditer(api.get("/inbox/tocsin-inbox.js").text))

    answers = [api.get(f"/inbox/{each['name']}", query={"v": each["version"]}) for each in imports]

    assert len(answers) >= 2
    for each, answer in zip(imports, answers, strict=True):
        assert (answer.status, answer.text) == (200, (WEB / each["name"]).read_text("utf-8"))
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["demo", *BELL])
def test_a_file_whose_address_stays_is_asked_for_again_after_five_minutes(api: Api, name: str) -> None:
    for query in ("", "utm_source=mail"):
        answer = api.get(f"/inbox/{name}", query=query)

        assert (answer.status, answer.headers["Cache-Control"]) == (200, "public, max-age=300, must-revalidate")


@pytest.mark.parametrize("query", ["v=0", "v=3.1", "v=%FF", "v=0&v={right}", "v={right}0"])
@pytest.mark.parametrize("name", BELL)
def test_asked_for_another_version_there_is_this_one_and_nobody_keeps_it_under_that_name(api: Api, name: str, query: str) -> None:
    right = version_of((WEB / name).read_bytes())

    answer = api.get(f"/inbox/{name}", query=query.format(right=right))

    assert (answer.status, answer.text) == (200, (WEB / name).read_text("utf-8"))
    assert answer.headers["Cache-Control"] == "public, no-cache"
    known = api.get(f"/inbox/{name}", query=query.format(right=right), headers={"if-none-match": answer.headers["ETag"]})
    assert (known.status, known.headers["Cache-Control"]) == (304, "public, no-cache")


def test_a_version_does_not_make_a_file_that_is_not_there(api: Api) -> None:
    assert_problem(api.get("/inbox/nothing.js", query="v=0"), 404, "not-found")


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "nothing.js",
        "app.py",
        "..%2Fapp.py",
        "..%2F..%2Fmanage%2Fapp.py",
        "%2E%2E%2Fapp",
        "..%5Capp.py",
        "%2Fetc%2Fpasswd",
        ".",
        "..",
        "demo.html%00.js",
        "demo%00",
        "DEMO.HTML",
        "demo.html%2F",
        "x" * 5_000,
    ],
)
def test_no_other_file_is_served(api: Api, name: str) -> None:
    assert_problem(api.get(f"/inbox/{name}"), 404, "not-found")


def test_there_is_nothing_else_to_do_with_them(api: Api) -> None:
    answer = api.post("/inbox/demo", {})

    assert_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET"


def test_who_takes_gzip_gets_the_same_file_smaller(api: Api) -> None:
    plain = api.get("/inbox/tocsin-inbox.js")

    packed = api.get("/inbox/tocsin-inbox.js", headers={"accept-encoding": "br, gzip"})

    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["ETag"] == plain.headers["ETag"]
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding, Origin"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(base64.b64decode(packed.text)).decode() == plain.text
    assert len(base64.b64decode(packed.text)) < len(plain.text.encode()) / 2
