"""Does the test that docs/seeds.md names for a column, an index or a constraint really notice? `python -m tools.seeds`.

Each test runs once with each of its things made useless (tests/without.py), and is expected to fail. One that passes has not
noticed: the column is dead, or the page should name another test. What was noticed is remembered in `.local/seeds.jsonl`, so
that a run can be stopped and goes on later; `--afresh` forgets it."""

import argparse
import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools import seeds_page
from tools.seeds_page import PAGE, ROOT

MEMORY = ROOT / ".local" / "seeds.jsonl"
MOST_CONSTANTS = 5
CANDIDATES = 8
AT_ONCE = 40  # pairs in one pytest process
# Without what takes a test's time-out, in the midst of its own work, for an error of pytest's.
PYTEST = "-m pytest -n 0 -q --no-header --tb short --timeout 20 -p tests.noticing -p no:hypothesispytest"
NOTICED, NOT_RUN = "noticed", "not run"


class Pair(NamedTuple):
    test: str
    thing: str


class Answer(NamedTuple):
    end: str  # noticed, survived, inconclusive or skipped
    why: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.seeds", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a table, a column or an index, such as routes or routes.status")
    parser.add_argument("--afresh", action="store_true", help="ask again what was noticed before")
    parser.add_argument("--find", nargs="+", default=[], metavar="THING", help="which tests notice a column or an index?")
    wanted = parser.parse_args()
    if wanted.find:
        return _find(wanted.find)
    if wanted.afresh:
        MEMORY.unlink(missing_ok=True)
    holders = {
        thing: tests
        for thing, tests in holders_of(seeds_page.read(PAGE.read_text(encoding="utf-8"))).items()
        if _is_of(thing, wanted.only)
    }
    missed = _missed(holders)
    for thing, answers in sorted(missed.items()):
        print(f"nobody misses {thing}:")
        print(*(f"    {answer.end}: {test} ({answer.why})" for test, answer in answers.items()), sep="\n")
    print(f"{len(holders) - len(missed)} are missed, {len(missed)} are not")
    return 1 if missed else 0


def holders_of(rows: Iterable[seeds_page.Row]) -> dict[str, list[str]]:
    """For each column, index and constraint of the page the tests that are said to hold it, whichever row says so."""
    holders: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for thing in (*row.columns, *row.names):
            holders[thing] += [test for test in row.tests if test not in holders[thing]]
    return {thing: tests for thing, tests in holders.items() if tests}


def _missed(holders: dict[str, list[str]]) -> dict[str, dict[str, Answer]]:
    """What no test notices, with what each of its tests did. Its first tests are asked, then the second ones of what is left."""
    known = recall()
    left = {thing for thing, tests in holders.items() if not any(known.get(Pair(test, thing)) for test in tests)}
    print(f"{len(holders)} to be missed, {len(holders) - len(left)} of them known")
    told: dict[str, dict[str, Answer]] = {thing: {} for thing in left}
    for turn in range(max(map(len, holders.values()), default=0)):
        for pair, answer in _ask([Pair(holders[thing][turn], thing) for thing in sorted(left) if turn < len(holders[thing])]):
            told[pair.thing][pair.test] = answer
            if answer.end == NOTICED:
                left.discard(pair.thing)
    return {thing: told[thing] for thing in left}


def _is_of(thing: str, only: str) -> bool:
    return not only or thing == only or thing.split(".", maxsplit=1)[0] == only


def recall() -> dict[Pair, Answer]:
    """What was noticed before, by which test."""
    lines = MEMORY.read_text().splitlines() if MEMORY.exists() else []
    answers = {Pair(row["test"], row["thing"]): Answer(row["end"], row["why"]) for row in map(json.loads, lines)}
    return {pair: answer for pair, answer in answers.items() if answer.end == NOTICED}


def _ask(pairs: list[Pair]) -> Iterator[tuple[Pair, Answer]]:
    """First whether the test notices that anything is there at all; then the thing, by one constant after the other."""
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        nervous = _nervous(some)
        asked: dict[Pair, Answer] = {pair: Answer("nervous", "fails whatever is done to the table") for pair in nervous}
        waiting = [pair for pair in some if pair not in nervous]
        for constant in range(MOST_CONSTANTS):
            given = run([Pair(test, f"{thing}#{constant}" if constant else thing) for test, thing in waiting])
            now = dict(zip(waiting, given, strict=True))
            asked |= {pair: answer for pair, answer in now.items() if answer.why != "NoMoreConstants" or pair not in asked}
            waiting = [pair for pair, answer in now.items() if answer.end == "inconclusive" and answer.why != "NoMoreConstants"]
            if not waiting:
                break
        _remember(asked)
        yield from asked.items()
        print(f"  {min(start + AT_ONCE, len(pairs))} of {len(pairs)}", flush=True)


def _nervous(pairs: list[Pair]) -> set[Pair]:
    columns = [pair for pair in pairs if "." in pair.thing]
    placebos = list(dict.fromkeys(Pair(test, f"{thing.split('.')[0]}.placebo") for test, thing in columns))
    failed = {placebo for placebo, answer in zip(placebos, run(placebos), strict=True) if answer.end not in ("survived", NOT_RUN)}
    return {pair for pair in columns if Pair(pair.test, f"{pair.thing.split('.')[0]}.placebo") in failed}


def run(pairs: list[Pair]) -> list[Answer]:
    """One pytest process for all of them. A test with parameters has noticed if one of its cases has."""
    if not pairs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        useless, noticed = Path(folder) / "useless", Path(folder) / "noticed"
        useless.write_text("".join(json.dumps(pair._asdict()) + "\n" for pair in pairs))
        said = subprocess.run(
            [sys.executable, *PYTEST.split(), *dict.fromkeys(pair.test for pair in pairs)],
            cwd=ROOT,
            env=os.environ | {"TOCSIN_USELESS": str(useless), "TOCSIN_NOTICED": str(noticed)},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_bounded,
        )
        answers: dict[Pair, list[Answer]] = defaultdict(list)
        for row in map(json.loads, noticed.read_text().splitlines() if noticed.exists() else []):
            answers[Pair(row["test"], row["thing"])].append(Answer(row["end"], row["why"]))
    missing = Answer(NOT_RUN, said.stdout[-300:] + said.stderr[-300:])
    return [_strongest(answers[pair]) or missing for pair in pairs]


def _bounded() -> None:
    """What loops without its column must not take the machine with it."""
    with suppress(ValueError, OSError):  # a system without such limits
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def _strongest(answers: list[Answer]) -> Answer | None:
    order = (NOTICED, "inconclusive", "survived", "skipped")
    found = min(answers, key=lambda answer: order.index(answer.end), default=None)
    return found._replace(why="NoMoreConstants") if found and "NoMoreConstants" in found.why else found


def _remember(asked: dict[Pair, Answer]) -> None:
    MEMORY.parent.mkdir(exist_ok=True)
    with MEMORY.open("a") as file:
        file.writelines(json.dumps(pair._asdict() | answer._asdict()) + "\n" for pair, answer in asked.items())


def _find(things: list[str]) -> int:
    for thing in things:
        pairs = [Pair(test, thing) for test in candidates(thing)]
        for pair, answer in sorted(_ask(pairs), key=lambda one: one[1].end != NOTICED):
            print(f"{thing} {answer.end} {pair.test} ({answer.why})")
    return 0


def candidates(thing: str) -> list[str]:
    """The quick tests that speak of it, those that ask the doors first: what they notice, somebody outside would."""
    table, _, column = thing.partition(".")
    words = [re.compile(rf"\b{re.escape(word)}\b") for word in (column or table, table) if word]
    scored: list[tuple[int, str]] = []
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        if path.parent.name not in ("functions", "integration") or path.stem.endswith(("plans", "crowds", "indexes")):
            continue
        source = path.read_text(encoding="utf-8")
        if not words[0].search(source):
            continue
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                text = ast.get_source_segment(source, node) or ""
                hits = 4 * bool(words[0].search(text)) + bool(words[1].search(source)) + (path.parent.name == "functions")
                scored.append((-hits, f"{path.relative_to(ROOT)}::{node.name}"))
    return [test for _, test in sorted(scored)[:CANDIDATES]]


if __name__ == "__main__":
    sys.exit(main())
