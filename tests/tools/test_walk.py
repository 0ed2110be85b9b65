"""How far a reader must go: what counts as a file, what as a turn back, and that both walks can be made."""

import importlib.util
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tools import walk
from tools.walk import WALKS, Place, Reading, Trace, reading_of

SOURCE = """
def outer():
    def inner():
        return [one for one in (1, 2)]
    return inner

made_at_import = outer()
nameless = lambda: None

class Thing:
    def method(self):
        return second()

def second():
    return nameless()

def imports():
    import late
    return late.called()
"""


def read_in(*files: str) -> Reading:
    return reading_of([Place(file, f"f{n}") for n, file in enumerate(files)])


def test_reading_on_in_one_file_is_no_turn_back() -> None:
    assert read_in("a", "a", "a") == Reading(files=1, turns_back=0)


def test_every_return_to_a_file_that_was_left_is_a_turn_back() -> None:
    assert read_in("a", "b", "a", "a", "c", "b") == Reading(files=3, turns_back=2)


def test_nothing_read_is_nothing() -> None:
    assert read_in() == Reading(files=0, turns_back=0)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module to be traced, and another that it imports late."""
    (tmp_path / "early.py").write_text(SOURCE)
    (tmp_path / "late.py").write_text("def called():\n    return None\n\ncalled()\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("early", tmp_path / "early.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("late", None)


def traced(tmp_path: Path, work: Any) -> list[str]:
    trace = Trace((tmp_path,), tmp_path)
    with trace.on():
        work()
    return [f"{place.file}:{place.function}" for place in trace.places]


def test_functions_are_noted_once_in_the_order_of_their_first_call(tmp_path: Path, source: Any) -> None:
    def work() -> None:
        source.Thing().method()
        source.Thing().method()
        source.outer()

    assert traced(tmp_path, work) == ["early.py:Thing.method", "early.py:second", "early.py:outer"]


def test_what_is_nested_is_read_with_the_function_around_it(tmp_path: Path, source: Any) -> None:
    assert traced(tmp_path, source.made_at_import) == ["early.py:outer"]


def test_what_runs_at_import_is_not_part_of_the_walk(tmp_path: Path, source: Any) -> None:
    (tmp_path / "late.py").write_text("def called():\n    return None\n\ndef at_import():\n    called()\n\nat_import()\n")

    assert traced(tmp_path, source.imports) == ["early.py:imports", "late.py:called"]


def test_other_threads_are_followed(tmp_path: Path, source: Any) -> None:
    def work() -> None:
        thread = Thread(target=source.second)
        thread.start()
        thread.join()

    assert traced(tmp_path, work) == ["early.py:second"]


def test_the_report_names_the_files_of_rooms_that_the_page_leaves_out() -> None:
    places = [Place(f"{walk.GROUND[0]}ids.py", "uuid7"), *(Place(f"functions/{name}.py", str(n)) for n, name in enumerate("aba"))]
    said: list[str] = []

    walk.report("email", places, "# A\n[a](../functions/a.py)\n", said.append)

    assert said == [
        "an email there and back: 3 files, 1 turns back, 4 functions",
        "  without foundation and http: 2 files, 1 turns back",
        "  most often back to functions/a.py (1)",
        "  entered, and not named by architecture.md: functions/b.py",
    ]


@pytest.mark.parametrize("name", WALKS)
def test_the_walk_is_made_through_the_doors(name: str) -> None:
    files = {place.file for place in walk.walk(name)}

    assert {"functions/dispatch/app.py", "layers/shared/tocsin/http/door.py"} <= files
    assert any(file.startswith("layers/shared/tocsin/store/") for file in files)
