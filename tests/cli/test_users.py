"""`tocsin users` and `tocsin erase`, against the real API."""

import json
import stat
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.functions.doors import Api
from tests.world import World
from tocsin_cli import user_files
from tocsin_cli.user_files import Row


def rejected(home: Path, name: str = "people.csv") -> list[dict[str, object]]:
    file = home / f"{name}.rejected.ndjson"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_users_are_listed_to_the_last_page_or_to_the_limit(tocsin: Terminal, api: Api, doors: Doors) -> None:
    for start in (0, 250):
        api.post("/v1/users/batch", {"users": [{"id": f"u-{n:03}"} for n in range(start, start + 250)]})

    every = tocsin("users", "list", "--json").json["data"]
    calls = len(doors.calls)
    some = tocsin("users", "list", "--limit", "210")

    assert (len({one["id"] for one in every}), calls) == (500, 3)
    assert len(some.out.splitlines()) == 211
    assert len(tocsin("users", "list", "--query", "u-49", "--json").json["data"]) == 10


def test_a_user_is_made_changed_and_shown(tocsin: Terminal) -> None:
    made = tocsin("users", "set", "ada", "--email", "ada@example.com", "--attribute", "plan=pro", "--attribute", "seats=3")
    changed = tocsin("users", "set", "ada", "--phone", "+4915112345678", "--clear", "email", "--json").json

    assert "ada is new." in made.err
    assert (changed["email"], changed["phone"], changed["attributes"]) == (None, "+4915112345678", {"plan": "pro", "seats": 3})
    assert '{"plan": "pro", "seats": 3}' in tocsin("users", "show", "ada").out
    assert tocsin("users", "show", "nobody").code == 4
    assert tocsin("users", "set", "ada", "--timezone", "Mars/Base").code == 5


def test_a_spreadsheet_is_imported(tocsin: Terminal, api: Api, home: Path) -> None:
    (home / "people.csv").write_text(
        '\ufeffid,email,locale,attributes.plan,attributes\nada,ada@example.com,pt-BR,pro,\nbo,,,,"{""seats"": 3}"\n',
        encoding="utf-8",
    )

    ran = tocsin("users", "import", "people.csv", "--json")

    assert (ran.code, ran.json["made"], ran.json["rejected"]) == (0, 2, 0)
    ada, bo = (api.get(f"/v1/users/{name}").json for name in ("ada", "bo"))
    assert (ada["email"], ada["locale"], ada["attributes"], bo["attributes"]) == (
        "ada@example.com",
        "pt-BR",
        {"plan": "pro"},
        {"seats": 3},
    )
    assert not (home / "people.csv.progress.json").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.ndjson", '{"id": "ada"}\n\n{"id": "bo"}\n'),
        ("p.json", '[{"id": "ada"}, {"id": "bo"}]'),
        ("p.json", '{"users": [{"id": "ada"}, {"id": "bo"}]}'),
    ],
)
def test_json_is_imported_in_each_of_its_forms(tocsin: Terminal, world: World, home: Path, name: str, content: str) -> None:
    (home / name).write_text(content)

    assert (tocsin("users", "import", name).code, world.count("users")) == (0, 2)


def test_another_program_writes_users_through_standard_input(tocsin: Terminal, world: World) -> None:
    assert tocsin("users", "import", "-", "--format", "ndjson", typed='{"id": "ada"}\n').code == 0
    assert tocsin("users", "import", "-", typed='{"id": "ada"}\n').code == 2
    assert world.count("users") == 1


def test_what_cannot_be_written_is_kept_with_the_reason_and_holds_up_nobody(tocsin: Terminal, world: World, home: Path) -> None:
    world.add_user("owner")  # whose email is taken
    rows = [
        "ada,ada@example.com",
        "bo,nonsense",
        "cy,OWNER@example.com",
        "ada,again@example.com",
        "di,di@example.com",
        "x" * 256 + ",",
    ]
    (home / "people.csv").write_text("id,email\n" + "\n".join(rows) + "\n")

    ran = tocsin("users", "import", "people.csv")

    assert ran.code == 5
    assert "2 made, 0 written, 4 rejected" in ran.out
    found = rejected(home)
    assert [one["row"] for one in found] == [2, 3, 4, 6]
    assert "email is taken" in str(found[1]["reason"]) or "has this email" in str(found[1]["reason"])
    assert found[0]["user"] == {"id": "bo", "email": "nonsense"}
    assert stat.S_IMODE((home / "people.csv.rejected.ndjson").stat().st_mode) == 0o600, "it has people's addresses"


def test_a_dry_run_tells_of_each_fault_and_sends_nothing(bare: Terminal, doors: Doors, home: Path) -> None:
    faults = [
        '{"id": 7}',
        "{",
        '"x"',
        '{"id": "a", "mail": "x"}',
        '{"id": "a", "phone": "0151"}',
        '{"id": "a", "locale": "german"}',
        '{"id": "a", "timezone": "Mars"}',
        '{"id": "a", "attributes": []}',
        '{"id": "a", "email": 1}',
    ]
    (home / "people.ndjson").write_text("\n".join(['{"id": "good"}', *faults]) + "\n")

    ran = bare("users", "import", "people.ndjson", "--dry-run", "--json")

    assert (ran.code, doors.calls) == (5, [])
    assert [one["row"] for one in ran.json["faults"]] == list(range(2, 11))
    assert ran.json["faults"][3]["reason"] == "/mail: is not a known field"


def test_what_was_interrupted_goes_on_where_it_was(tocsin: Terminal, world: World, home: Path, doors: Doors, api: Api) -> None:
    (home / "people.csv").write_text("id,email\n" + "".join(f"u-{n},{'bad' if n == 3 else ''}\n" for n in range(1_200)))
    first = doors.answer

    def breaks_at_the_second(request: httpx.Request) -> httpx.Response:
        return first(request) if len(doors.calls) == 1 else httpx.Response(500, json={"title": "Down", "detail": "It is down."})

    doors.answer = breaks_at_the_second  # type: ignore[method-assign, assignment]
    broken = tocsin("users", "import", "people.csv")
    doors.answer = first  # type: ignore[method-assign, assignment]
    doors.calls.clear()

    ran = tocsin("users", "import", "people.csv", "--json")

    assert (broken.code, ran.code) == (6, 5)
    assert "Going on after row 500." in ran.err
    assert [len(json.loads(call.content)["users"]) for call in doors.calls] == [500, 200]
    assert (ran.json["made"], ran.json["rejected"], world.count("users"), len(rejected(home))) == (1_199, 1, 1_199, 1)


def test_a_file_that_has_changed_is_imported_from_its_beginning(tocsin: Terminal, home: Path) -> None:
    (home / "people.csv").write_text("id\nada\n")
    (home / "people.csv.progress.json").write_text(json.dumps({"sha256": "another", "url": "", "done": 1, "counts": {}}))

    assert tocsin("users", "import", "people.csv", "--json").json["made"] == 1


def test_a_batch_has_at_most_500_and_no_more_than_a_body_may_hold() -> None:
    small = [Row(n, {"id": str(n)}) for n in range(1_001)]
    large = [Row(n, {"id": str(n), "attributes": {"text": "x" * 90_000}}) for n in range(5)]

    assert [len(batch) for batch in user_files.batches(small)] == [500, 500, 1]
    assert [len(batch) for batch in user_files.batches(large)] == [2, 2, 1]


@pytest.mark.parametrize("content", ["name,email\nada,a@example.com\n", "id,plan\nada,pro\n", ""])
def test_a_csv_without_the_right_columns_is_2(bare: Terminal, home: Path, content: str) -> None:
    (home / "people.csv").write_text(content)

    assert bare("users", "import", "people.csv").code == 2


def test_a_row_with_another_number_of_cells_is_a_fault_of_its_own(bare: Terminal, home: Path) -> None:
    (home / "people.csv").write_text("id,email\nada,a@example.com,extra\nbo\ncy,c@example.com\n")

    assert [one["row"] for one in bare("users", "import", "people.csv", "--dry-run", "--json").json["faults"]] == [1, 2]


def test_a_person_is_erased_after_counts_and_their_id(tocsin: Terminal, world: World) -> None:
    world.add_user("ada")

    counted = tocsin("erase", "ada", "--dry-run", "--json")
    wrong = tocsin("erase", "ada", typed="adam\n")
    assert world.count("users") == 1

    ran = tocsin("erase", "ada", "--json", typed="ada\n")

    assert (counted.json["would_erase"]["users"], wrong.code, ran.code, ran.json["status"]) == (1, 1, 0, "finished")
    assert "would be erased" in wrong.err
    assert world.count("users") == 0
    assert tocsin("erase", "ada", "--confirm", "ada").code == 4


def test_a_server_that_knows_no_dry_run_is_never_asked_for_one(tocsin: Terminal, world: World, doors: Doors) -> None:
    """It would pass over the word, and erase."""
    world.add_user("ada")
    without = {"paths": {"/v1/users/{id}/erase": {"post": {}}}}

    doors.instead.append(httpx.Response(200, json=without))
    refused = tocsin("erase", "ada", "--dry-run")
    doors.instead.append(httpx.Response(200, json=without))
    unanswered = tocsin("erase", "ada")

    assert (refused.code, unanswered.code, world.count("users")) == (5, 2, 1)
    assert doors.asked("POST") == []
