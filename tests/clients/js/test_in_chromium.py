"""The packages in a page: the bell as a module of its own name, and as a component of React 18 and 19, under a strict policy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium, started_chromium
from tests.browser.fake_inbox import Answer, serving
from tests.browser.page import Page, opened_page
from tests.clients.js import packages
from tests.clients.js.conftest import Project
from tests.clients.js.shop import BUNDLED, Shop, mapped_shop

ALIASES = {18: ["--alias:react=react-18", "--alias:react-dom=react-dom-18"], 19: []}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with started_chromium(tmp_path_factory.mktemp("chromium")) as chromium:
        yield chromium


@contextmanager
def opened(chromium: Chromium, shop: Shop, query: str = "") -> Iterator[Page]:
    with serving(shop), opened_page(chromium) as page:
        page.goto(f"{shop.url}/{query}")
        yield page
        assert page.complaints() == []


def test_the_bell_is_a_module_that_an_import_map_names(chromium: Chromium) -> None:
    shop = mapped_shop()
    shop.add("News")
    with opened(chromium, shop) as page:
        page.equals("words($('.badge'))", "1")
        page.click(".bell")
        page.see("row('News')")

        assert page.run("isOurs")
        assert shop.tokens_asked == 1


def test_a_token_server_in_trouble_signs_nobody_out(chromium: Chromium) -> None:
    shop = mapped_shop()
    shop.add("News")
    shop.token_answer = Answer(503)
    with opened(chromium, shop) as page:
        page.run("window.expired = 0; document.addEventListener('tocsin-token-expired', () => (expired += 1))")
        page.click(".bell")
        page.equals("words($('.state strong'))", "This did not work")
        shop.token_answer = Answer(200, {"token": "good"})
        page.click("$('.state .button')")
        page.see("row('News')")

        assert page.run("expired") == 0


@pytest.fixture(scope="module")
def bundle(whole_project: Project) -> Callable[..., str]:
    """What esbuild makes of an example, from the packages as they are published."""

    def make(entry: str, react: int, *options: str) -> str:
        told = ["--bundle", "--jsx=automatic", "--log-level=warning", *ALIASES[react], *options]
        return packages.run(packages.node(), whole_project.tool("esbuild"), f"example/{entry}", *told, cwd=whole_project.folder)

    return make


@pytest.fixture(params=[18, 19], ids=["React 18", "React 19"])
def react(request: pytest.FixtureRequest) -> int:
    version: int = request.param
    return version


@pytest.fixture
def react_shop(react: int, bundle: Callable[..., str]) -> Shop:
    development = '--define:process.env.NODE_ENV="development"'  # which complains, and lives through every effect twice
    return Shop(BUNDLED, {"/page.js": bundle("browser.jsx", react, "--format=esm", development)})


def test_in_react_a_bell_lives_on_while_the_page_is_drawn_anew(chromium: Chromium, react_shop: Shop) -> None:
    react_shop.add("News", summary={"url": "https://shop.example/17"})
    with opened(chromium, react_shop) as page:
        page.equals("words($('.badge'))", "1")
        page.run("for (let times = 0; times < 5; times += 1) draw()")
        page.see("drawn === 6")
        page.run("bell.current.open()")
        page.see("row('News')")
        page.click("row('News').querySelector('.open')")
        page.see("heard.some(([type]) => type === 'tocsin-select')")

        assert page.run("asked") == [1], "one token, although the function was another one each time"
        assert page.run("bell.current === inbox && [inbox.className, inbox.getAttribute('label'), inbox.token]") == [
            "bell",
            "News",
            None,
        ]
        assert "good" not in page.run("document.documentElement.outerHTML")
        assert page.run("heard.filter(([type]) => type === 'tocsin-open')") == [["tocsin-open", 6, None]], "the newest was called"
        assert ["tocsin-select", 6, "https://shop.example/17"] in page.run("heard")
        assert page.run("location.pathname") == "/"


def test_in_react_a_token_that_ran_out_is_renewed_and_who_is_signed_out_is_told(chromium: Chromium, react_shop: Shop) -> None:
    react_shop.add("News")
    with opened(chromium, react_shop, "?first=old") as page:
        page.equals("words($('.badge'))", "1")
        assert page.run("asked.length") == 2

        react_shop.tokens.clear()
        page.click(".bell")
        page.equals("words($('.state strong'))", "Signed out")

        assert page.run("heard.filter(([type]) => type === 'tocsin-token-expired').length") == 1
        page.run("leave()")
        page.see("!document.querySelector('tocsin-inbox') && bell.current === null")


def test_where_a_bundler_splits_the_panel_is_a_chunk_that_comes_at_the_first_opening(
    chromium: Chromium, bundle: Callable[..., str], tmp_path: Path
) -> None:
    bundle("browser.jsx", 19, "--format=esm", "--minify", "--splitting", "--entry-names=page", f"--outdir={tmp_path}")
    shop = Shop(BUNDLED, {f"/{path.name}": path.read_text() for path in tmp_path.iterdir()})
    shop.add("News")
    with opened(chromium, shop) as page:
        page.equals("words($('.badge'))", "1")
        panel = [path for path in shop.scripts if path.startswith("/tocsin-inbox-panel-")]
        assert len(panel) == 1
        assert not {*panel} & {each.path for each in shop.answered}

        page.click(".bell")
        page.see("row('News')")

        assert [each.path for each in shop.answered if each.path in panel] == panel


def test_a_server_that_renders_the_page_writes_the_element_without_a_token(
    react: int, bundle: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "rendered.cjs").write_text(bundle("rendered.jsx", react, "--platform=node", "--format=cjs"))

    said = packages.run(packages.node(), tmp_path / "rendered.cjs", cwd=tmp_path)

    assert '<tocsin-inbox api="https://notify.example.com" label="News" class="bell"></tocsin-inbox>' in said
    assert "secret" not in said
