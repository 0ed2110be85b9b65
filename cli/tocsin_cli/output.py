"""Everything that is printed passes here: text for people, JSON for machines, questions, progress. Nothing of it is obeyed.

Standard output has the answer and nothing else; what is said about it, questions and progress go to standard error. With
--json the answer is JSON."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, usage
from tocsin_cli.safe_text import safe, safe_json

Part = str | tuple[str, str]  # text, or text and its style
STYLES = {
    "published": "green", "delivered": "green", "accepted": "green", "ok": "green", "active": "green", "open": "green",
    "complete": "green", "dead_letter": "bold red", "failed": "red", "critical": "bold red", "revoked": "red",
    "skipped": "yellow", "cancelled": "yellow", "warning": "yellow", "suspended": "yellow", "pending": "cyan",
    "unknown": "magenta", "waiting": "cyan", "deferred": "cyan",
}  # fmt: skip


def styled(word: str) -> tuple[str, str]:
    """A state in its colour."""
    return word, STYLES.get(word, "")


class Out:
    def __init__(self, *, is_json: bool = False) -> None:
        self.is_json = is_json
        self._out, self._err = _console(stderr=False), _console(stderr=True)

    @property
    def is_terminal(self) -> bool:
        return self._out.is_terminal and not self.is_json

    def line(self, *parts: Part) -> None:
        """A line of the answer, for people."""
        if not self.is_json:
            self._out.print(_text(parts), soft_wrap=True)

    def block(self, text: str, style: str = "") -> None:
        """Several lines as they are, such as a message."""
        if not self.is_json:
            self._out.print(Text(safe(text, lines=True), style=style), soft_wrap=True)

    def secret(self, text: str) -> None:
        """What is shown once, alone on its line, so that `KEY=$(…)` takes it."""
        if not self.is_json:
            self._out.print(Text(safe(text)), soft_wrap=True)

    def json(self, value: Any) -> None:
        if self.is_json:
            self._out.print(Text(safe_json(value)), soft_wrap=True)

    def json_line(self, value: Any) -> None:
        """One of many, each on a line of its own."""
        if self.is_json:
            self._out.print(Text(safe_json(value, indent=None)), soft_wrap=True)
            self._out.file.flush()

    def say(self, *parts: Part) -> None:
        """Beside the answer, on standard error."""
        self._err.print(_text(parts), soft_wrap=True)

    def clear(self) -> None:
        if self.is_terminal:
            self._out.clear()

    def columns(self, *names: str) -> "Columns":
        return Columns(self, names)

    def ask(self, question: str, *, yes: bool) -> None:
        """Goes on if the answer is yes; else nothing was done."""
        if yes:
            return
        if self._answer(f"{question} [y/N] ").lower() not in ("y", "yes"):
            raise Failed("Nothing was done.", Exit.NO)

    def ask_to_type(self, question: str, word: str, *, typed: str | None) -> None:
        """For what cannot be undone: the name itself is the answer."""
        answer = self._answer(f"{question} ") if typed is None else typed
        if answer != word:
            raise Failed("That is not the same. Nothing was done.", Exit.NO)

    def _answer(self, prompt: str) -> str:
        self._err.print(Text(safe(prompt)), end="", soft_wrap=True)
        line = sys.stdin.readline()
        if not line:
            self._err.print()
            raise usage("Nobody answered.", "In a script, say --yes.")
        return line.strip()

    @contextmanager
    def progress(self, what: str, total: int | None) -> Iterator["Bar"]:
        """A bar on standard error, where that is a terminal."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        # What is printed meanwhile stands above the bar, if both are on the same screen; else it must not leave standard output.
        same, is_shown = self._out.is_terminal, self._err.is_terminal
        with Progress(*columns, console=self._err, disable=not is_shown, transient=True, redirect_stdout=same) as shown:
            yield Bar(shown, shown.add_task(safe(what), total=total))


class Bar:
    def __init__(self, shown: Progress, task: Any) -> None:
        self._shown, self._task = shown, task

    def move(self, *, to: int, total: int | None = None) -> None:
        self._shown.update(self._task, completed=to, total=total)  # None leaves the total as it is


class Columns:
    """A table that is printed page by page as it comes. The first page makes the widths; the last column is as wide as it is."""

    def __init__(self, out: Out, names: Sequence[str]) -> None:
        self._out, self._names = out, names
        self._widths: list[int] = []

    def add(self, rows: Sequence[Sequence[Part | None]]) -> None:
        cells = [[_cell(one) for one in row] for row in rows]
        if not cells:
            return
        if not self._widths:
            self._widths = [max(cell_len(row[n].plain) for row in [self._head(), *cells]) for n in range(len(self._names))]
            self._print(self._head())
        for row in cells:
            self._print(row)

    def _head(self) -> list[Text]:
        return [Text(name, style="dim") for name in self._names]

    def _print(self, row: list[Text]) -> None:
        line = Text()
        for n, cell in enumerate(row):
            line.append_text(cell)
            if n < len(row) - 1:
                line.append(" " * (max(0, self._widths[n] - cell_len(cell.plain)) + 2))
        line.rstrip()
        self._out._out.print(line, soft_wrap=True) if not self._out.is_json else None


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever read the output stopped. `main` ends the command; rich would end the process, with 1."""
        raise BrokenPipeError


def _console(*, stderr: bool) -> Console:
    """Colours on a terminal alone, and none at all with NO_COLOR; what is printed is never read as markup."""
    plain = bool(os.environ.get("NO_COLOR"))
    return _Console(stderr=stderr, markup=False, highlight=False, emoji=False, color_system=None if plain else "auto")


def _text(parts: Sequence[Part]) -> Text:
    line = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        line.append(safe(text), style=style or None)
    return line


def _cell(part: Part | None) -> Text:
    text, style = ("", "") if part is None else (part, "") if isinstance(part, str) else part
    return Text(safe(text), style=style)
