"""What the pages about words decide without asking anybody: differences, locales, samples, rules. In the browser."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from devstack.launch import RunningStack
from tests.browser.chromium import Chromium
from tests.browser.page import opened_page
from tests.console.console import Console
from tocsin.content.render import distance


@pytest.fixture(scope="module")
def module(chromium: Chromium, empty_stack: RunningStack) -> Iterator[Any]:
    """Run an expression with what a module of the console exports. They keep nothing, so one tab does for all."""
    with opened_page(chromium) as page:
        Console(page, empty_stack.dev["base_url"]).open("#/templates")
        yield lambda name, expression: page.run(
            f"import(new URL('console/any/{name}', document.baseURI)).then((it) => ({expression}))"
        )
        assert page.complaints() == []


def shown(lines: list[dict[str, Any]]) -> list[str]:
    return [
        {"same": " ", "gone": "-", "added": "+"}.get(line["kind"], "@") + line.get("text", str(line.get("count")))
        for line in lines
    ]


def test_a_difference_is_as_short_as_it_can_be(module: Any) -> None:
    lines = module("diff.js", r"it.diffLines('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc')")

    assert shown(lines) == ["-a", "-b", " c", "+b", " a", " b", "-b", " a", "+c"]
    assert shown(module("diff.js", r"it.diffLines(null, 'x\ny')")) == ["+x", "+y"]
    assert shown(module("diff.js", r"it.diffLines('x\ny', '')")) == ["-x", "-y"]
    assert shown(module("diff.js", r"it.diffLines('x\r\ny', 'x\ny')")) == [" x", " y"]


def test_texts_with_nothing_in_common_are_told_apart_in_bounded_time(module: Any) -> None:
    many = "Array.from({length: 5000}, (_, n) => "
    took, count = module(
        "diff.js",
        f"(() => {{ const [a, b] = [{many} 'a' + n).join('\\n'), {many} 'b' + n).join('\\n')], begun = performance.now();"
        " const made = it.diffLines(a, b); return [performance.now() - begun, made.length] })()",
    )

    assert count == 10_000
    assert took < 1_500


def test_what_did_not_change_is_folded_away_but_for_its_neighbours(module: Any) -> None:
    lines = module("diff.js", r"it.folded(it.diffLines('1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5\nsix'), 2)")

    assert shown(lines) == ["@3", " 4", " 5", "-6", "+six"]


def test_the_nearest_locale_is_the_one_that_the_server_would_take(module: Any) -> None:
    locales = ["default", "pt", "pt-BR", "PT_br", "en", "zh-Hant", "zh", ""]
    pairs = [(have, want) for have in locales for want in locales]

    found = module("locales.js", f"{json.dumps(pairs)}.map(([have, want]) => it.distance(have, want))")

    assert found == [distance(have, want) for have, want in pairs]


def test_among_equally_distant_locales_the_one_that_was_made_first_answers(module: Any) -> None:
    rows = [{"locale": "de", "created_at": "2026-02-01T00:00:00Z"}, {"locale": "fr", "created_at": "2026-01-01T00:00:00Z"}]

    assert module("locales.js", f"it.answering({json.dumps(rows)}, 'pt-BR').row.locale") == "fr"
    assert module("locales.js", f"it.answering({json.dumps(rows)}, 'de-AT').row.locale") == "de"
    assert module("locales.js", "it.answering([], 'de')") is None


def test_a_sample_has_every_name_that_the_words_use_and_no_other(module: Any) -> None:
    words = {
        "subject": "{{ order.id }} for {{ name | default: 'you' }}",
        "body": "{% assign twice = total | times: 2 %}{{ twice }}{% for item in order.items %}{{ item.title }}"
        " {{ item.quantity }}{% endfor %}{% if is_paid %}{% endif %}{% comment %}{{ never }}{% endcomment %}",
        "variables": ["eta"],
    }

    sample = module("sample.js", f"it.sampleFor({json.dumps(words)})")

    assert sorted(sample) == ["eta", "is_paid", "name", "order", "total"]
    assert [item["title"] for item in sample["order"]["items"]] == ["Item 1", "Item 2"]
    assert sample["is_paid"] is True


def test_an_event_gets_the_exact_routing_then_the_longest_beginning(module: Any) -> None:
    routings = json.dumps([{"event_type": name} for name in ("*", "comment.*", "comment.re*", "comment.created")])

    found = module(
        "routing.js",
        f"['comment.created', 'comment.removed', 'comment.x', 'y'].map((one) => it.matching({routings}, one).event_type)",
    )

    assert found == ["comment.created", "comment.re*", "comment.*", "*"]
    assert module("routing.js", "it.matching([{event_type: 'a.*'}], 'b') === undefined")


def test_somebody_is_told_by_the_strongest_of_their_reasons_that_is_named(module: Any) -> None:
    rules = json.dumps({"comment": [], "watching": ["in_app"]})

    assert module("routing.js", f"it.telling({rules}, ['mention', 'watching'])") == {"reason": "watching", "channels": ["in_app"]}
    assert module("routing.js", f"it.telling({rules}, ['comment', 'watching'])") == {"reason": "comment", "channels": []}
    assert module("routing.js", f"it.telling({rules}, ['mention']) === undefined")
