"""`tocsin tail`: decisions as they happen."""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.command import PAST, ROUTE_STATUSES, Session, command, pass_session
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed
from tocsin_cli.output import Out
from tocsin_cli.sentences import about, sentence

INTERVAL = 2.0
_LONGEST_PAUSE = 30.0
_REMEMBERED = 20_000  # ids: pages overlap by some seconds, and each decision is told once


@command(
    "tail",
    examples=[
        ("what happens from now on", "tocsin tail"),
        ("what was given up in the last hour, and from now on", "tocsin tail --since 1h --status dead_letter"),
        ("one person's emails", "tocsin tail --user ada --channel email"),
        ("for a script: what was decided in ten minutes, a line of JSON each", "tocsin tail --since 10m --once --json"),
    ],
)
@click.option("--type", "type_", metavar="TYPE", help="Of notifications of this type.")
@click.option("--channel", type=click.Choice(["email", "sms", "push", "in_app", "webhook"]))
@click.option("--user", metavar="USER", help="Of what goes to this user.")
@click.option("--status", type=ROUTE_STATUSES, help="Of routes that stand so now.")
@click.option("--producer", metavar="NAME")
@click.option("--since", type=PAST, help="Begin so long ago: 10m, 2h (24h at most), or a time.")
@click.option("--once", is_flag=True, help="Tell what there is, and end.")
@pass_session
def COMMAND(session: Session, /, since: datetime | None, once: bool, user: str | None, type_: str | None, **asked: Any) -> None:  # noqa: N802
    """Follow decisions as they happen: each step of each delivery, with its reason.

    It goes on through restarts of the server and broken connections. Ctrl-C ends it, with exit code 0.
    """
    wanted = asked | {"user_id": user, "type": type_}
    told = Told()
    try:
        for decision in _decisions(session, wanted, since, once=once):
            if told.is_new(str(decision["id"])):
                session.out.json_line(decision)
                _tell(session.out, decision)
    except KeyboardInterrupt:
        if not session.is_json:
            session.out.say("")


class Told:
    """Which decisions were told already, the latest of them."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def is_new(self, decision_id: str) -> bool:
        if decision_id in self._ids:
            return False
        self._ids[decision_id] = None
        if len(self._ids) > _REMEMBERED:
            self._ids.popitem(last=False)
        return True


def _decisions(session: Session, wanted: dict[str, Any], since: datetime | None, *, once: bool) -> Iterator[dict[str, Any]]:
    """Page after page; without a beginning, from a minute ago. The first call may fail; a later one is made again and again."""
    pause, was_answered = INTERVAL, False
    after = times.wire(since) if since else None
    while True:
        try:
            page = session.client.get("/v1/decisions", since=after, limit=200, **wanted)
        except Failed as failure:
            if failure.exit_code is not Exit.UNREACHABLE or not was_answered or once:
                raise
            session.out.say((f"{failure.message} Trying again in {pause:.0f} s.", "yellow"))
            session.pause(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
            continue
        if pause > INTERVAL:
            session.out.say(("It answers again.", "green"))
        pause, was_answered = INTERVAL, True
        yield from page["data"]
        has_more = page["more"] and page["next_since"] != after
        after = page["next_since"]
        if has_more:
            continue
        if once:
            return
        session.pause(INTERVAL)


def _tell(out: Out, decision: dict[str, Any]) -> None:
    said, colour = sentence(decision)
    test = "test " if decision.get("mode") == "test" else ""
    out.line(
        (times.local(decision["at"], "%H:%M:%S"), "dim"),
        "  ",
        (f"{test}{decision['type']}", "bold"),
        "  ",
        about(decision, decision),
        (said, colour),
        (f"  {decision['notification_id']}", "dim"),
    )
