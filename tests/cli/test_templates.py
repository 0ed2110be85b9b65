"""`tocsin templates`: files that say what the stack says, and what differs between them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.functions.doors import Api
from tests.world import World
from tocsin_cli import template_files
from tocsin_cli.failures import Failed
from tocsin_cli.template_files import Words

HTML = '+++\nsubject = "{{ order }} has shipped"\nvariables = ["order"]\n+++\n<p>Order <b>{{ order }}</b></p>\n'


@pytest.fixture
def files(home: Path) -> Path:
    """A folder with one template in two channels and two locales."""
    place = home / "templates" / "parcel-sent"
    place.mkdir(parents=True)
    (place / "email.default.html").write_text(HTML)
    (place / "email.default.txt").write_text("Order {{ order }}\n")
    (place / "email.pt.html").write_text(HTML.replace("has shipped", "foi enviada"))
    (place / "sms.default.txt").write_text("Sent: {{ order }}\n")
    return place


def test_what_differs_is_pushed_after_a_look_and_nothing_else(tocsin: Terminal, api: Api, files: Path, doors: Doors) -> None:
    first = tocsin("templates", "push", typed="y\n")
    again = tocsin("templates", "push")
    (files / "sms.default.txt").write_text("On its way: {{ order }}\n")
    doors.calls.clear()
    second = tocsin("templates", "push", "--yes", "--json")

    assert (first.code, again.code, again.out) == (0, 0, "Nothing differs.\n")
    assert "+<p>Order <b>{{ order }}</b></p>" in first.out
    assert [(one["channel"], one["version"]) for one in second.json["data"]] == [("sms", 2)]
    assert doors.asked("POST") == [("POST", "/v1/templates")]
    rows = {(row["channel"], row["locale"]): row for row in api.get("/v1/templates").json["data"]}
    assert len(rows) == 3
    email = rows["email", "default"]
    assert (email["subject"], email["body"], email["text"], email["variables"]) == (
        "{{ order }} has shipped",
        "<p>Order <b>{{ order }}</b></p>",
        "Order {{ order }}",
        ["order"],
    )


def test_no_answer_and_no_are_different_and_both_push_nothing(tocsin: Terminal, world: World, files: Path) -> None:
    assert (tocsin("templates", "push", typed="n\n").code, tocsin("templates", "push").code) == (1, 2)
    assert world.count("templates") == 0


def test_ci_learns_by_the_exit_code_whether_they_differ(tocsin: Terminal, files: Path) -> None:
    assert tocsin("templates", "push", "--check").code == 1
    tocsin("templates", "push", "--yes")
    assert tocsin("templates", "push", "--check").code == 0
    assert tocsin("templates", "diff").code == 0
    (files / "sms.default.txt").write_text("changed\n")
    ran = tocsin("templates", "diff")

    assert ran.code == 1
    assert [line for line in ran.out.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-Sent: {{ order }}",
        "+changed",
    ]
    assert tocsin("templates", "diff", "--json").json["data"] == [
        {"name": "parcel-sent", "channel": "sms", "locale": "default", "is_new": False}
    ]


def test_a_dry_run_shows_and_checks_and_sends_nothing(tocsin: Terminal, world: World, files: Path) -> None:
    fine = tocsin("templates", "push", "--dry-run")
    (files / "sms.default.txt").write_text("{% if %}\n")
    faulty = tocsin("templates", "push", "--dry-run")

    assert (fine.code, faulty.code) == (0, 5)
    assert "3 would be pushed" in fine.out
    assert "parcel-sent sms default" in faulty.err
    assert tocsin("templates", "list", "--json").json["data"] == []


def test_what_is_pulled_is_what_was_pushed(tocsin: Terminal, files: Path, home: Path) -> None:
    tocsin("templates", "push", "--yes")

    pulled = tocsin("templates", "pull", "--folder", "copy")

    assert pulled.code == 0
    names = sorted(one.name for one in files.iterdir())
    assert sorted(one.name for one in (home / "copy" / "parcel-sent").iterdir()) == names
    assert all((home / "copy" / "parcel-sent" / name).read_text() == (files / name).read_text() for name in names)
    assert "0 written into copy, 3 unchanged" in tocsin("templates", "pull", "--folder", "copy").err


def test_a_file_that_says_something_else_is_overwritten_only_after_a_question(tocsin: Terminal, files: Path) -> None:
    tocsin("templates", "push", "--yes")
    (files / "sms.default.txt").write_text("mine\n")

    assert tocsin("templates", "pull", typed="n\n").code == 1
    assert (files / "sms.default.txt").read_text() == "mine\n"
    assert tocsin("templates", "pull", "parcel-sent", "--yes").code == 0
    assert (files / "sms.default.txt").read_text() == "Sent: {{ order }}\n"
    assert tocsin("templates", "pull", "nonsense").code == 4


def test_what_is_only_on_the_stack_stays_and_is_named(tocsin: Terminal, api: Api, files: Path) -> None:
    api.post("/v1/templates", {"name": "other", "channel": "sms", "body": "x"})

    ran = tocsin("templates", "push", "--yes")

    assert "Only on the stack: other sms default" in ran.err
    assert tocsin("templates", "push", "--check").code == 0


def test_a_file_is_previewed_before_it_is_pushed(tocsin: Terminal, files: Path) -> None:
    ran = tocsin("templates", "preview", "parcel-sent", "--payload", '{"order": "A-17"}')
    html = tocsin("templates", "preview", "parcel-sent", "--payload", '{"order": "A&B"}', "--html")
    sms = tocsin("templates", "preview", "parcel-sent", "--channel", "sms", "--payload", '{"order": "A-17"}')

    assert (ran.code, ran.out) == (0, "subject: A-17 has shipped\n\nOrder A-17\n")
    assert "<b>A&amp;B</b>" in html.out
    assert sms.out == "Sent: A-17\n"
    assert "parts: 1" in sms.err


def test_a_preview_of_the_stack_is_of_what_it_has(tocsin: Terminal, files: Path) -> None:
    tocsin("templates", "push", "--yes")
    (files / "sms.default.txt").write_text("changed\n")

    ran = tocsin("templates", "preview", "parcel-sent", "--channel", "sms", "--stack", "--payload", '{"order": "A-17"}')

    assert ran.out == "Sent: A-17\n"


@pytest.mark.parametrize(
    "arguments", [("--locale", "de"), ("--channel", "push"), ("--payload", "{}", "--notification", "x"), ("--version", "2")]
)
def test_a_preview_that_cannot_be_meant_is_2(bare: Terminal, files: Path, doors: Doors, arguments: tuple[str, ...]) -> None:
    assert (bare("templates", "preview", "parcel-sent", *arguments).code, doors.calls) == (2, [])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("email.html", "x"),
        ("fax.default.txt", "x"),
        ("email.default.liquid", "x"),
        ("push.default.txt", ""),
        ("email.fr.txt", "x"),
        ("push.default.txt", "+++\nsubject = 3\n+++\nx"),
        ("push.default.txt", "+++\nnonsense\n+++\nx"),
        ("push.default.txt", "+++\nbody = 'x'\n+++\nx"),
        ("push.default.txt", b"\xff\xfe"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_named(files: Path, name: str, content: str | bytes) -> None:
    (files / name).write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(Failed, match=name.split(".", maxsplit=1)[0]) as caught:
        template_files.read(files.parent)

    assert caught.value.exit_code == 2


def test_hidden_files_and_readmes_are_passed_over_and_crlf_is_no_difference(files: Path) -> None:
    before = template_files.read(files.parent)
    (files / ".DS_Store").write_text("x")
    (files / "README.md").write_text("x")
    (files / "email.default.html").write_bytes(HTML.replace("\n", "\r\n").encode())

    assert template_files.read(files.parent) == before


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(name=TEXT, body=TEXT, subject=st.none() | TEXT, text=st.none() | TEXT, variables=st.lists(TEXT, max_size=3))
def test_whatever_a_template_says_its_files_say_it_too(
    tmp_path_factory: pytest.TempPathFactory, name: str, body: str, subject: str | None, text: str | None, variables: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("templates")
    words = Words(name, "email", "pt-BR", body, subject, text, tuple(variables))

    for file, content in template_files.files_of(words).items():
        place = folder / file
        assert place.resolve().parent.parent == folder.resolve(), "a name never leads elsewhere"
        place.parent.mkdir(exist_ok=True)
        place.write_text(content, encoding="utf-8", newline="")

    assert template_files.read(folder) == {words.key: words}
