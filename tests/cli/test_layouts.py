"""`tocsin layouts` and `tocsin brand`: what stands around the words of emails."""

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.functions.doors import Api
from tests.world import World
from tocsin_cli.layout_files import Shared, in_order


@pytest.fixture
def files(home: Path) -> Path:
    """A layout with a partial that has another one in it; by name, they would come in the wrong order."""
    place = home / "layouts"
    bodies = {
        "shop/layout.default.html": "<main>{{ content }}</main>{% render 'action' %}\n",
        "action/partial.default.html": "<p>{% render 'button', label: 'Go' %}</p>\n",
        "button/partial.default.html": '<a style="color:{{ brand.color }}">{{ label }}</a>\n',
    }
    for name, body in bodies.items():
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(body)
    return place


def test_what_differs_is_pushed_with_partials_first_and_comes_back_the_same(tocsin: Terminal, files: Path, home: Path) -> None:
    checked = tocsin("layouts", "push", "--check")
    first = tocsin("layouts", "push", "--yes", "--json")
    again = tocsin("layouts", "push")
    pulled = tocsin("layouts", "pull", "--folder", "copy")

    assert (checked.code, first.code, pulled.code) == (1, 0, 0)
    assert [one["name"] for one in first.json["data"]] == ["button", "action", "shop"]
    assert again.out == "Nothing differs.\n"
    names = [path.relative_to(files) for path in files.rglob("*.html")]
    assert all((home / "copy" / name).read_text() == (files / name).read_text() for name in names)
    assert "button" in tocsin("layouts", "list").out


def test_a_file_that_says_something_else_is_overwritten_only_after_a_question(tocsin: Terminal, files: Path) -> None:
    tocsin("layouts", "push", "--yes")
    (files / "button" / "partial.default.html").write_text("mine\n")

    assert tocsin("layouts", "pull", typed="n\n").code == 1
    assert (files / "button" / "partial.default.html").read_text() == "mine\n"


def test_a_file_that_is_none_of_them_is_named(tocsin: Terminal, files: Path, world: World) -> None:
    (files / "shop" / "page.html").write_text("x")

    ran = tocsin("layouts", "push", "--yes")

    assert (ran.code, world.count("layouts")) == (2, 0)
    assert "page.html: must be named layout.<locale>.html or partial.<locale>.html" in ran.err


def test_a_ring_is_left_to_the_stack_to_tell() -> None:
    ring = [Shared("partial", "a", "default", "{% render 'b' %}"), Shared("partial", "b", "default", "{% render 'a' %}")]

    assert {one.name for one in in_order(ring)} == {"a", "b"}


def test_the_brand_is_changed_in_what_is_named_and_keeps_the_rest(tocsin: Terminal, api: Api) -> None:
    assert "There is no brand yet" in tocsin("brand", "show").err
    tocsin("brand", "set", "--name", "Example Shop", "--color", "#0f766e", "--postal-address", r"1 High Street\nLondon")
    ran = tocsin("brand", "set", "--reply-to", "help@example.com", "--clear", "color")

    brand = api.get("/v1/brand").json
    assert (ran.code, brand["name"], brand["color"]) == (0, "Example Shop", None)
    assert (brand["postal_address"], brand["reply_to"]) == ("1 High Street\nLondon", "help@example.com")
    assert (tocsin("brand", "set").code, tocsin("brand", "set", "--color", "red").code) == (2, 5)
