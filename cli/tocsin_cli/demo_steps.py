"""The steps of the demonstration, as /console/demo.json has them: what each repetition says in its place. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tocsin_cli.times import wire

GATHERED = 100  # bodies in one call
LONGEST_PAUSE = 60.0  # seconds
_METHODS = ("GET", "PUT", "POST", "PATCH", "DELETE")
_MOMENT = re.compile(r"\{now(?:([+-])(\d{1,6})([smhd]))?\}")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Unusable(ValueError):
    """The file is not as it should be. Whoever serves it mends it."""


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Step:
    say: str
    calls: list[Call]
    may_fail: bool
    is_local_only: bool
    pause_seconds: float  # before each of its calls


def steps(document: Any, *, run: str, now: datetime) -> Iterator[Step]:
    found = document.get("steps") if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Unusable("it has no list of steps")
    for number, step in enumerate(found, 1):
        try:
            yield _step(step, run, now)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unusable(f"step {number} is not as it should be: {error}") from None


def _step(step: dict[str, Any], run: str, now: datetime) -> Step:
    calls = [_call(step, words, now) for words in _repetitions(step, run)]
    for call in calls:
        if call.method not in _METHODS or not call.path.startswith("/") or call.path.startswith("//"):
            raise TypeError(f"{call.method} {call.path} is no call of this stack")
    name = step.get("gather")
    if name:
        bodies = [call.body for call in calls]
        chunks = [bodies[n : n + GATHERED] for n in range(0, len(bodies), GATHERED)]
        calls = [Call(calls[0].method, calls[0].path, calls[0].headers, {name: chunk}) for chunk in chunks]
    pause = min(max(float(step.get("pause_seconds", 0)), 0), LONGEST_PAUSE)
    return Step(str(step.get("say", "")), calls, bool(step.get("may_fail")), step.get("only") == "local", pause)


def _repetitions(step: dict[str, Any], run: str) -> list[dict[str, str]]:
    """What stands for {n} (from 1), {n0} (one digit, from 0), {run} and the step's own word; without `each` there is one."""
    each = step.get("each", [""])
    items = list(range(1, each + 1)) if isinstance(each, int) else list(each)
    word = str(step.get("as", "item"))
    return [{"run": run, "n": str(n + 1), "n0": str(n % 10), word: str(item)} for n, item in enumerate(items)]


def _call(step: dict[str, Any], words: dict[str, str], now: datetime) -> Call:
    headers = {name: str(value) for name, value in _filled(step.get("headers", {}), words, now).items()}
    return Call(str(step["method"]).upper(), _filled(step["path"], words, now), headers, _filled(step.get("body"), words, now))


def _filled(value: Any, words: dict[str, str], now: datetime) -> Any:
    """Every string with its placeholders replaced; braces that are none stay, as those of a template's language do."""
    if isinstance(value, dict):
        return {_filled(name, words, now): _filled(one, words, now) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, words, now) for one in value]
    if not isinstance(value, str):
        return value
    text = _MOMENT.sub(lambda found: _moment(found, now), value)
    return re.sub(r"(?<!\{)\{(\w+)\}(?!\})", lambda found: words.get(found[1], found[0]), text)


def _moment(found: re.Match[str], now: datetime) -> str:
    sign, number, unit = found.groups()
    shift = timedelta(**{_UNITS[unit]: int(number)}) if number else timedelta()
    return wire(now - shift if sign == "-" else now + shift)
