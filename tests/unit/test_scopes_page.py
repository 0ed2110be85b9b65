"""docs/keys.md says of every call which scope it needs, as the code has it."""

import re
from dataclasses import replace

from tocsin.access.key_format import SCOPES
from tocsin.api.about import every_endpoint
from tools import scopes_page
from tools.scopes_page import BESIDES, BY_TOKEN, COMMAND, PAGE, TITLES, drawn_into

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code() -> None:
    assert drawn_into(TEXT, every_endpoint()) == TEXT, f"the calls have changed: run `{COMMAND}`"


def test_every_call_stands_in_one_table() -> None:
    listed = re.findall(r"^\| `([A-Z]+ /\S+)` \|", scopes_page.tables(every_endpoint()), re.MULTILINE)

    assert sorted(listed) == sorted(one.route for one in every_endpoint())
    assert {one.scope for one in every_endpoint()} == set(TITLES)


def test_what_is_said_besides_is_said_of_calls_that_there_are() -> None:
    assert set(BESIDES) <= {one.route for one in every_endpoint()}


def test_exactly_what_a_user_token_opens_is_marked() -> None:
    marked = {line.split("`")[1] for line in TEXT.splitlines() if BY_TOKEN in line and line.startswith("| `")}

    assert marked == {one.route for one in every_endpoint() if one.is_personal}


def test_a_call_that_moves_to_another_scope_moves_on_the_page() -> None:
    first, *rest = every_endpoint()

    moved = drawn_into(TEXT, [replace(first, scope="admin"), *rest])

    assert moved != TEXT
    assert moved.index(f"| `{first.route}` |") > moved.index("### `admin`")


def test_the_page_explains_every_scope() -> None:
    explained = re.findall(r"^\| `(\w+)` \| .+ \|$", TEXT.split("<!-- calls -->")[0], re.MULTILINE)

    assert explained == list(SCOPES)
