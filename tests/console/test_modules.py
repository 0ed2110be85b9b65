"""The console's pure modules: files of users, the demo's steps, and how values are written."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from devstack.launch import RunningStack
from tests.browser.chromium import Chromium
from tests.browser.page import opened_page
from tests.console.console import Console

NOTHING = "\u2013"  # a dash


@pytest.fixture(scope="module")
def run(chromium: Chromium, empty_stack: RunningStack) -> Iterator[Any]:
    """`run("csv.js", "usersOf('…')")`: what this module's function gives. They keep nothing, so one tab does for all."""
    with opened_page(chromium) as page:
        Console(page, empty_stack.dev["base_url"]).open("#/demo")

        def run(module: str, expression: str) -> Any:
            name = expression.partition("(")[0]
            return page.run(f"import(new URL({json.dumps(module)}, tocsinFiles.root)).then(({{ {name} }}) => {expression})")

        yield run
        assert page.complaints() == []


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("id,email\na,a@example.com\n", [{"id": "a", "email": "a@example.com"}]),
        ('\ufeffid,plan\r\n"x, ""y""",gold\r\n\r\n', [{"id": 'x, "y"', "attributes": {"plan": "gold"}}]),
        ('id,attributes.note\na,"two\nlines"', [{"id": "a", "attributes": {"note": "two\nlines"}}]),
        ('{"id": "a"}\n{"id": "b"}\n', [{"id": "a"}, {"id": "b"}]),
        ('[{"id": "a"}]', [{"id": "a"}]),
        ('{"users": [{"id": "a"}]}', [{"id": "a"}]),
    ],
)
def test_users_are_read_from_csv_and_json(run: Any, text: str, users: list[dict[str, Any]]) -> None:
    assert run("csv.js", f"usersOf({json.dumps(text)})") == {"users": users, "faults": []}


def test_what_cannot_be_read_is_said(run: Any) -> None:
    assert run("csv.js", "usersOf('email\\na@example.com')")["faults"] == [
        "The first line names the columns; one of them must be `id`."
    ]
    assert run("csv.js", "usersOf('{\"id\": 1}\\nnonsense')")["faults"] == ["Line 2 is not JSON."]


def test_a_batch_has_at_most_five_hundred_users_and_fits_a_body(run: Any) -> None:
    assert run("csv.js", "batches(Array(1201).fill({id: 'a'})).map((one) => one.length)") == [500, 500, 201]
    assert run("csv.js", "batches(Array(10).fill({id: 'x'.repeat(100_000)})).map((one) => one.length)") == [2, 2, 2, 2, 2]


def test_a_step_of_the_demo_is_filled_and_gathered(run: Any) -> None:
    step = {"method": "POST", "path": "/v1/x/{who}", "each": ["a", "b"], "as": "who", "gather": "all"}
    step |= {"body": {"n": "{n}{n0}", "run": "{run}", "liquid": "{{ name }}", "unknown": "{other}"}}

    (call,) = run("demo.js", f"callsOf({json.dumps(step)}, 'r')")

    first, second = call["body"]["all"]
    assert first == {"n": "10", "run": "r", "liquid": "{{ name }}", "unknown": "{other}"}
    assert second["n"] == "21"


def test_times_of_the_demo_are_shifted(run: Any) -> None:
    moment = "Date.parse('2026-11-17T12:00:00Z')"

    assert run("demo.js", f"filled(['{{now}}', '{{now-90m}}', '{{now+2h}}'], {{}}, {moment})") == [
        "2026-11-17T12:00:00.000Z", "2026-11-17T10:30:00.000Z", "2026-11-17T14:00:00.000Z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("span(0.25)", "250 ms"), ("span(45)", "45 s"), ("span(600)", "10 min"), ("span(3 * 3600 + 1200)", "3 h 20 min"),
        ("span(5 * 86400)", "5 d"), ("span(null)", NOTHING), ("ago(1000, 1000 + 61_000 * 2)", "2 min ago"),
        ("ago(100_000, 0)", "in 2 min"), ("words('ses_account')", "SES account"), ("many(1, 'row')", "1 row"),
        ("many(1200, 'row')", "1,200 rows"), ("utcTime('2026-11-17T12:00:00.5Z')", "2026-11-17 12:00:00.500 UTC"),
        ("percent(1, 3)", "33.3 %"), ("percent(0, 0)", NOTHING),
    ],
)  # fmt: skip
def test_values_are_written_for_people(run: Any, expression: str, said: str) -> None:
    assert run("format.js", expression) == said
