"""`tocsin status`: what is wrong right now, since when, and what to do."""

import re
from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.command import Session, command, pass_session
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed
from tocsin_cli.output import Out

_COMMANDS = {
    re.compile(r"POST /v1/lanes/([A-Za-z0-9_.~:-]+)/open"): r"tocsin lanes open \1 --reason …",
    re.compile(r"GET /v1/dead-letters/groups"): "tocsin dead-letters groups",
    re.compile(r"POST /v1/dead-letters/replay"): "tocsin dead-letters replay --help",
}


@command(
    "status",
    examples=[
        ("is everything all right?", "tocsin status"),
        ("look every five seconds", "tocsin status --watch"),
        ("in a script: exit code 1 if something is wrong", "tocsin status >/dev/null || echo 'something is wrong'"),
    ],
)
@click.option("--watch", is_flag=True, help="Look again and again, until Ctrl-C.")
@click.option("--every", type=click.FloatRange(1), default=5.0, metavar="SECONDS", help="How often, with --watch (5).")
@pass_session
def COMMAND(session: Session, /, watch: bool, every: float) -> Exit | None:  # noqa: N802
    """Tell what is wrong right now, since when, and what to do.

    Exit code 0: nothing is wrong; 1: something is. With --watch it goes on through broken connections, tells each change where
    the output is no terminal, and ends with 0 at Ctrl-C.
    """
    if not watch:
        found = session.client.get("/v1/status")
        session.out.json(found)
        _tell(session, found)
        return None if found["healthy"] else Exit.NO
    try:
        _watch(session, every)
    except KeyboardInterrupt:
        session.out.say("")
    return None


def _watch(session: Session, every: float) -> None:
    before: Any = None
    while True:
        try:
            found = session.client.get("/v1/status")
        except Failed as failure:
            if failure.exit_code is not Exit.UNREACHABLE or before is None:
                raise
            session.out.say((failure.message, "red"))
            session.pause(every)
            continue
        now = [(problem["what"], problem["since"]) for problem in found["problems"]]
        if session.out.is_terminal or now != before:
            session.out.clear()
            session.out.json_line(found)
            _tell(session, found)
        before = now
        session.pause(every)


def _tell(session: Session, found: dict[str, Any]) -> None:
    out, now = session.out, times.parsed(found["at"]) or session.now()
    if found["healthy"]:
        out.line(("Nothing is wrong.", "bold green"), (f"  {times.local(found['at'])}", "dim"))
    else:
        count = len(found["problems"])
        out.line((f"{count} {'things are' if count > 1 else 'thing is'} wrong.", "bold red"), f"  {times.local(found['at'])}")
    for problem in found["problems"]:
        since = f"  since {times.local(problem['since'])} ({times.ago(problem['since'], now)})" if problem["since"] else ""
        out.line("")
        out.line((str(problem["what"]), "bold"), (since, "dim"))
        out.line(("  do: ", "green"), str(problem["do"]))
        for line in commands_in(str(problem["do"])):
            out.line(("      ", ""), (line, "bold"))
    _numbers(out, found)


def commands_in(advice: str) -> list[str]:
    """The calls that the server recommends, as commands of this line, where it has them."""
    found = [pattern.search(advice) for pattern in _COMMANDS]
    return [match.expand(line) for match, line in zip(found, _COMMANDS.values(), strict=True) if match]


def _numbers(out: Out, found: dict[str, Any]) -> None:
    """What waits, in a line each; nothing where nothing does."""
    piles = [pile for pile in found["backlog"] if pile["due"] or pile["waiting"] or pile["leased"]]
    if piles:
        out.line("")
        table = out.columns("queue", "kind", "due", "in hand", "later", "oldest due")
        names = ("queue", "kind", "due", "leased", "waiting")
        table.add(
            [
                [*(str(pile.get(name, "")) for name in names), _oldest(pile)]
                for pile in piles
            ]
        )  # fmt: skip


def _oldest(pile: dict[str, Any]) -> str:
    seconds = pile.get("oldest_due_seconds")
    return f"{seconds:.0f} s" if seconds is not None else ""
