"""`tocsin demo`: fill a stack with an example, as the stack itself describes it."""

import secrets
from typing import Any

import click

from tocsin_cli.command import Session, command, pass_session, yes_option
from tocsin_cli.demo_steps import Call, Step, Unusable, steps
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused

WHERE = "/console/demo.json"
_LETTERS = "abcdefghjkmnpqrstuvwxyz"


@command(
    "demo",
    examples=[
        ("people, templates, and notifications that end in every way", "tocsin demo"),
        ("what would it do?", "tocsin demo --dry-run"),
    ],
)
@click.option("--dry-run", is_flag=True, help="Show the calls and make none.")
@yes_option
@pass_session
def COMMAND(session: Session, /, dry_run: bool, yes: bool) -> None:  # noqa: N802
    """Fill a stack with an example: the steps come from the stack itself (/console/demo.json).

    Not on a stack that people rely on: it makes users, and with a live key it sends real messages to made-up people. You are
    asked first, unless the stack is local. The console has the same demonstration.
    """
    document = session.client.call("GET", WHERE).body
    is_local = _is_local(session)
    run = "".join(secrets.choice(_LETTERS) for _ in range(5))
    try:
        wanted = [step for step in steps(document, run=run, now=session.now()) if is_local or not step.is_local_only]
    except Unusable as error:
        raise Failed(f"{WHERE} of the stack cannot be used: {error}.", Exit.UNREACHABLE) from None
    if dry_run:
        _show(session, wanted)
        return
    if not is_local:
        session.out.ask(
            f"Fill {session.target.url} with an example? With a live key it sends real messages to made-up people.", yes=yes
        )
    done: list[dict[str, Any]] = []
    with session.out.progress("calls", sum(len(step.calls) for step in wanted)) as bar:
        for step in wanted:
            session.out.line(step.say)
            for call in step.calls:
                if step.pause_seconds:
                    session.pause(step.pause_seconds)
                done.append(_make(session, step, call))
                bar.move(to=len(done))
    session.out.json({"run": run, "calls": done})


def _is_local(session: Session) -> bool:
    try:
        session.client.call("GET", "/_local", with_key=False, tries=1)
    except Refused:
        return False
    return True


def _show(session: Session, wanted: list[Step]) -> None:
    calls = [{"method": call.method, "path": call.path, "body": call.body} for step in wanted for call in step.calls]
    session.out.json({"calls": calls})
    for step in wanted:
        session.out.line((step.say, "bold"))
        for call in step.calls:
            session.out.line(f"  {call.method} {call.path}")


def _make(session: Session, step: Step, call: Call) -> dict[str, Any]:
    made: dict[str, Any] = {"method": call.method, "path": call.path}
    is_repeatable = call.method in ("GET", "PUT") or any(name.lower() == "idempotency-key" for name in call.headers)
    try:
        answer = session.client.call(call.method, call.path, body=call.body, headers=call.headers, repeatable=is_repeatable)
    except Refused as refused:
        for line in [f"{call.method} {call.path}", *refused.lines()]:
            session.out.say((line, "yellow" if step.may_fail else "red"))
        if not step.may_fail:
            raise Failed("The demonstration ends here.", Exit.NO) from None
        return made | {"status": refused.status, "problem": refused.problem}
    return made | {"status": answer.status}
