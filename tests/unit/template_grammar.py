"""Templates and payloads as a hostile author would write them: everything refers to everything, and grows by it.

Most of what is drawn makes sense, so that it goes on to grow: `x` holds a text, `y` a list and `z` anything."""

from typing import Any

from hypothesis import strategies as st

PAYLOAD: dict[str, Any] = {
    "s": "<a> & 'b' \"c\"\n",
    "long": "<" * 60_000,
    "wide": "\U0001f600" * 30_000,
    "growing": "\u0390\u00df\ufb03" * 10_000,
    "lines": "\n" * 30_000,
    "words": "a " * 20_000,
    "b": ["x" * 100_000],
    "nested": [[[[[[[["y" * 500] * 3] * 3] * 2] * 2] * 2], []]],
    "rows": [{"n": list(range(3_000)), "t": "z" * 1_000}, {"n": [], "t": None}],
    "many": list(range(5_000)),
    "too_many": [None] * 10_001,
    "o": {"b": {"c": ["\x01" * 10_000, 1.5, True, None]}, "size": 3},
    "n": 2**53,
    "f": 1e308,
    "digits": "9" * 4_000,
    "exponent": "1e400",
    "none": None,
    "yes": True,
    "half": "\ud800",
}

texts = st.sampled_from(
    ["x", "x", "x", "s", "long", "wide", "growing", "lines", "words", "b[0]", "rows.first.t", "' '", "'a'", "''"]
)
lists = st.sampled_from(["y", "y", "y", "b", "nested", "rows", "many", "rows[0].n", "nested.first"])
numbers = st.sampled_from(
    ["0", "1", "3", "-1", "999", "1000000000", "99999999999999999999999", "1.5", "n", "f", "x.size", "digits"]
)
anything = (
    st.sampled_from(
        ["z", "o", "none", "yes", "half", "too_many", "exponent", "forloop", "i", "missing", "o.b.c", "o[y]", "empty", "(1..n)"]
    )
    | texts
    | lists
    | numbers
)

# From what they take to what they make, with their arguments.
FILTERS: dict[str, dict[str, list[tuple[str, list[st.SearchStrategy[str]]]]]] = {
    "text": {
        "text": [
            *(
                (name, [])
                for name in ("upcase", "downcase", "capitalize", "escape", "newline_to_br", "strip_newlines", "url_encode")
            ),
            *((name, [anything]) for name in ("append", "append", "prepend", "default")),
            *((name, [texts, anything]) for name in ("replace", "replace", "replace_first")),
            *((name, [numbers, anything]) for name in ("truncate", "truncatewords")),
            *((name, [texts]) for name in ("remove", "remove_first")),
            ("strip", []),
            ("slice", [numbers, numbers]),
            ("date", [st.sampled_from(["'%Y%B'", "'%9999999d'", "long"])]),
        ],
        "list": [("split", [texts]), ("split", [st.just("''")])],
        "anything": [
            ("size", []),
            *((name, [numbers]) for name in ("plus", "times", "divided_by", "modulo", "round", "at_most")),
        ],
    },
    "list": {
        "list": [
            *((name, [lists]) for name in ("concat", "concat", "concat")),
            *((name, []) for name in ("reverse", "sort", "compact")),
            *((name, [st.sampled_from(["'n'", "'t'", "y"])]) for name in ("map", "where", "sort", "compact")),
            ("slice", [numbers, numbers]),
        ],
        "text": [("join", [anything]), ("join", []), ("upcase", []), ("append", [lists])],
        "anything": [*((name, []) for name in ("first", "last", "size", "sum"))],
    },
}
FILTERS["anything"] = {kind: FILTERS["text"][kind] + FILTERS["list"][kind] for kind in ("text", "list", "anything")}


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, str]:
    """With the kind of value that comes out."""
    kind = draw(st.sampled_from(["text", "list", "anything"]))
    source = draw({"text": texts, "list": lists, "anything": anything}[kind])
    for _ in range(draw(st.integers(0, 4))):
        made = draw(st.sampled_from(["text", "text", "list", "anything"]))
        name, arguments = draw(st.sampled_from(FILTERS[kind][made]))
        source, kind = f"{source} | {name}" + (": " + ", ".join(draw(one) for one in arguments) if arguments else ""), made
    return source, kind


_HOLDERS = {"text": "x", "list": "y", "anything": "z"}
assigns = expressions().map(lambda one: f"{{% assign {_HOLDERS[one[1]]} = {one[0]} %}}")
doublings = st.sampled_from(
    [
        "{% assign y = y | concat: y %}",
        "{% assign x = x | append: x %}",
        "{% assign x = x | replace: 'a', x %}",
        "{% assign x = y | join: x %}",
        "{% capture x %}{{ x }}{{ x }}{% endcapture %}",
        "{% assign y = x | split: '' | concat: y %}",
    ]
)
conditions = st.builds("{} {} {}".format, anything, st.sampled_from(["==", "!=", "<", ">=", "contains", "and", "or"]), anything)
ranges = st.sampled_from(["(1..3)", "(1..500)", "(1..n)", "(1..x)", "(n..9)"])
ways = st.sampled_from(
    ["", "", "", " reversed", " limit: 2", " offset: 9", " limit: y", " offset: 1000000000", " offset: continue"]
)
markup = st.sampled_from(
    ["text", "<p>", "{% # x %}", "{% break %}", "<a href='x", "'>", "<!-- a -->", "<style>p</style>", "&#99999999999;"]
)
plain = st.one_of(expressions().map(lambda one: f"{{{{ {one[0]} }}}}"), assigns, assigns, doublings, doublings, markup)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{{% capture x %}}{}{{% endcapture %}}".format, inner),
        st.builds("{{% for i in {}{} %}}{}{{% endfor %}}".format, lists | ranges, ways, inner),
        st.builds("{{% if {} %}}{}{{% else %}}{}{{% endif %}}".format, conditions, inner, inner),
        st.builds("{{% case {} %}}{{% when {} %}}{}{{% else %}}{}{{% endcase %}}".format, anything, anything, inner, inner),
        st.builds(lambda one, times: one * times, inner, st.sampled_from([2, 5, 13, 30])),
        st.lists(inner, min_size=2, max_size=5).map("".join),
    )


uses = st.sampled_from(
    [
        "{{ x }}",
        "{{ y }}",
        "{{ y | join: x }}",
        "{{ o[y] }}",
        "{{ x | append: y }}",
        "{% if y < x %}{% endif %}",
        "{{ y | map: 'n' | compact }}",
    ]
)
templates = st.builds(
    "{}{}{}{}text".format,
    st.sampled_from(
        ["{% assign x = s %}{% assign y = b %}", "{% assign x = long %}{% assign y = rows %}", "{% assign y = many %}"]
    ),
    st.builds(lambda one, times: one * times, doublings, st.sampled_from([0, 3, 10, 13])),
    st.recursive(plain, _blocks, max_leaves=12),
    uses,
)
