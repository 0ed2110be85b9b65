"""`tocsin dead-letters`: what automation gave up on."""

from collections.abc import Callable
from typing import Any

import click

from tocsin_cli import times
from tocsin_cli.client import path
from tocsin_cli.command import PAST, Run, Session, group, limit_option, pass_session, within, yes_option
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, usage
from tocsin_cli.output import Part, styled

_POLL = 1.0
_AN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
_FILTERS: list[tuple[str, dict[str, Any]]] = [
    ("--source-kind", {"type": click.Choice(["plan", "deliver", "fanout", "webhook", "trigger", "replay"])}),
    ("--channel", {"type": click.Choice(["email", "sms", "push", "in_app", "webhook"])}),
    ("--classification", {"help": "Why: exhausted, permanent, unrenderable, …"}),
    ("--provider", {}),
    ("--provider-code", {"help": "What the provider calls the failure."}),
    ("--notification", {"metavar": "ID"}),
    ("--user", {"metavar": "USER"}),
    ("--recipient", {}),
    ("--type", {}),
    ("--template", {}),
    ("--template-version", {"type": click.IntRange(1)}),
    ("--trigger", {"metavar": "ID"}),
    ("--since", {"type": PAST, "help": "7d, 24h, or a time."}),
    ("--until", {"type": PAST}),
]
_NAMES = {"notification": "notification_id", "user": "user_id", "trigger": "trigger_id"}


def filters(run: Run) -> Run:
    """The options that choose letters."""
    for flag, options in reversed(_FILTERS):
        run = click.option(flag, **options)(run)
    return run


def chosen(asked: dict[str, Any]) -> dict[str, Any]:
    """The filter as the API names it."""
    found = {_NAMES.get(name, name): value for name, value in asked.items() if value is not None}
    return {name: times.wire(value) if name in ("since", "until") else value for name, value in found.items()}


@group(
    "dead-letters",
    examples=[
        ("what are the causes?", "tocsin dead-letters groups"),
        ("why did this one die?", f"tocsin dead-letters show {_AN_ID}"),
        ("the cause is mended: try it dry, ask, replay", "tocsin dead-letters replay --classification exhausted --channel email"),
        ("this one will never be sent", f'tocsin dead-letters resolve {_AN_ID} --reason "the customer left"'),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """See what automation gave up on, and replay it. Scope: operate."""


@within(COMMAND, "list", examples=[("of one cause", "tocsin dead-letters list --classification permanent --since 7d")])
@filters
@click.option("--state", default="unresolved", help="unresolved (which is the default), resolved, replayed, ignored, …, all.")
@limit_option
@pass_session
def list_letters(session: Session, /, state: str, limit: int | None, **asked: Any) -> None:
    """List dead letters, newest first."""
    rows: list[dict[str, Any]] = []
    table = session.out.columns("id", "when", "kind", "channel", "type", "recipient", "why", "message")
    for page in session.client.pages("/v1/dead-letters", limit=limit, state=state, **chosen(asked)):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})
    if not rows:
        session.out.say("There is none.")


def _row(row: dict[str, Any]) -> list[Part]:
    words = [str(row.get(name) or "") for name in ("source_kind", "channel", "type", "recipient")]
    return [
        str(row["id"]),
        times.local(row["created_at"]),
        *words,
        (str(row["classification"]), "red"),
        str(row["failure_message"]),
    ]


@within(COMMAND, "groups", examples=[("the commonest causes", "tocsin dead-letters groups --limit 10")])
@click.option("--limit", type=click.IntRange(1, 200), default=50, metavar="N", help="At most so many (50).")
@pass_session
def groups(session: Session, /, limit: int) -> None:
    """Group what waits for a person by its cause, the commonest first."""
    found = session.client.get("/v1/dead-letters/groups", limit=limit)
    session.out.json(found)
    table = session.out.columns("count", "kind", "channel", "why", "provider", "code", "template", "last", "what helps")
    table.add([_cause(one) for one in found["data"]])
    if not found["data"]:
        session.out.say("Nothing waits for a person.")


def _cause(one: dict[str, Any]) -> list[Part]:
    template = f"{one['template']} v{one['template_version']}" if one["template"] else ""
    words = [str(one[name]) for name in ("source_kind", "channel")]
    cause = (str(one["classification"]), "red")
    rest = [
        str(one["provider"]),
        str(one["provider_code"]),
        template,
        times.local(one["last_seen_at"]),
        str(one["recovery_hint"]),
    ]
    return [(str(one["count"]), "bold"), *words, cause, *rest]


@within(COMMAND, "show", examples=[("with its attempts, and what helps", f"tocsin dead-letters show {_AN_ID}")])
@click.argument("letter")
@pass_session
def show(session: Session, /, letter: str) -> None:
    """Show a dead letter: why, what was tried, what became of its replay, and what stands in the way of one."""
    found = session.client.get(path("/v1/dead-letters/{}", letter))
    out = session.out
    out.json(found)
    out.line((str(found["classification"]), "bold red"), f"  {found['failure_message']}")
    facts = {
        "id": found["id"],
        "when": times.local(found["created_at"]),
        "what": " ".join(str(found[name]) for name in ("source_kind", "channel", "type", "recipient") if found.get(name)),
        "provider": " ".join(str(found[name]) for name in ("provider", "provider_code") if found.get(name)),
        "helps": found["recovery_hint"],
        "resolved": f"{found['resolution']}  {found['resolution_reason'] or ''}" if found["resolution"] else "",
        "replay": (found["replay"] or {}).get("status"),
        "obstacle": found["obstacle"] and found["obstacle"]["detail"],
        "about": f"tocsin explain {found['notification_id']}" if found["notification_id"] else "",
    }
    for name, value in facts.items():
        if value:
            out.line((f"{name:<10}", "dim"), str(value))
    for attempt in found["attempts"]:
        said = attempt.get("error_message") or attempt.get("outcome") or ""
        out.line((f"{times.local(attempt['started_at'])}  attempt {attempt['attempt_no']}: ", "dim"), str(said))
    if not found["resolution"] and not found["obstacle"]:
        doubt = " An earlier attempt may have arrived: it may be a second copy." if found["second_copy_possible"] else ""
        out.say(f"tocsin dead-letters replay {found['id']}{doubt}")


@within(
    COMMAND,
    "replay",
    examples=[
        ("one", f"tocsin dead-letters replay {_AN_ID}"),
        ("all of a cause: counts, asks, shows how far it is", "tocsin dead-letters replay --classification exhausted"),
        ("only count", "tocsin dead-letters replay --provider ses --since 24h --dry-run"),
        ("everything, in a script", "tocsin dead-letters replay --all --yes"),
    ],
)  # fmt: skip
@click.argument("letter", required=False)
@filters
@click.option("--all", "everything", is_flag=True, help="All that are not resolved.")
@click.option("--past-expiry", is_flag=True, help="Also what has expired.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--wait/--no-wait", default=True, help="Stay until it is done; Ctrl-C leaves it running.")
@yes_option
@pass_session
def replay(
    session: Session,
    /,
    letter: str | None,
    everything: bool,
    past_expiry: bool,
    dry_run: bool,
    wait: bool,
    yes: bool,
    **asked: Any,
) -> Exit | None:
    """Do once more what died: one letter, or all that the filters choose.

    Many are first tried dry, with counts; then you are asked; then a bar shows how far the job is. Exit code 1: the job failed or
    was cancelled.
    """
    wanted = chosen(asked)
    if letter and (wanted or everything):
        raise usage("Name a letter, or filters, not both.")
    if not letter and not wanted and not everything:
        raise usage("Say which: the id of a letter, filters, or --all.")
    if letter:
        _replay_one(session, letter, past_expiry=past_expiry, dry_run=dry_run)
        return None
    body = {"filter": wanted, "past_expiry": past_expiry}
    tried = session.client.call("POST", "/v1/dead-letters/replay", body=body | {"dry_run": True}, repeatable=True).body
    _tell_dry_run(session.out.line if dry_run else session.out.say, tried)
    if dry_run:
        session.out.json(tried)
        return None
    if not tried["replayed"]:
        session.out.json({"job": None, "dry_run": tried})
        return None
    session.out.ask(f"Replay {tried['replayed']}?", yes=yes)
    job = session.client.call("POST", "/v1/dead-letters/replay", body=body).body
    session.out.say(f"Job {job['id']}")
    return _follow(session, job, wait=wait)


def _replay_one(session: Session, letter: str, *, past_expiry: bool, dry_run: bool) -> None:
    where = path("/v1/dead-letters/{}", letter)
    if dry_run:
        found = session.client.get(where)
        obstacle = found["obstacle"]
        session.out.json({"dry_run": True, "obstacle": obstacle, "second_copy_possible": found["second_copy_possible"]})
        session.out.line("It would be replayed." if not obstacle else f"It would not be replayed: {obstacle['detail']}")
        return
    answer = session.client.call("POST", f"{where}/replay", body={"past_expiry": past_expiry}).body
    session.out.json(answer)
    session.out.line((f"It is under way, as generation {answer['generation']}.", "green"))
    if answer["warning"]:
        session.out.say((str(answer["warning"]), "yellow"))


def _tell_dry_run(tell: Callable[..., object], tried: dict[str, Any]) -> None:
    more = "" if tried["is_complete"] else " (of the first that were looked at; there are more)"
    tell((f"{tried['replayed']} would be replayed", "bold"), f", {tried['skipped']} not{more}.")
    for kind, count in tried["replayable"].items():
        tell(f"{count:>8}  {kind}")
    for reason, count in tried["skipped_reasons"].items():
        tell(f"{count:>8}  not: {reason}")


def _follow(session: Session, job: dict[str, Any], *, wait: bool) -> Exit | None:
    with session.out.progress("replaying", job["total"]) as bar:
        while wait and job["status"] in ("queued", "running"):
            session.pause(_POLL)
            job = session.client.get(path("/v1/jobs/{}", str(job["id"])))
            bar.move(to=job["done"] + job["skipped"] + job["failed"], total=job["total"])
    session.out.json(job)
    counts = f"  {job['done']} replayed, {job['skipped']} left out, {job['failed']} failed"
    session.out.line(styled(str(job["status"])), counts)
    for reason, count in job["skipped_reasons"].items():
        session.out.line(f"{count:>8}  left out: {reason}")
    return Exit.NO if job["status"] in ("failed", "cancelled") or job["failed"] else None


@within(
    COMMAND, "resolve", examples=[("it will never be sent", f'tocsin dead-letters resolve {_AN_ID} --reason "the customer left"')]
)
@click.argument("letters", nargs=-1, required=True, metavar="ID…")
@click.option("--reason", required=True, help="Why; it stands with the letter and in the audit log.")
@yes_option
@pass_session
def resolve(session: Session, /, letters: tuple[str, ...], reason: str, yes: bool) -> None:
    """Lay letters aside for good, with a reason."""
    session.out.ask(f"Lay {len(letters)} aside for good?", yes=yes)
    done: list[dict[str, Any]] = []
    for letter in letters:
        try:
            body = {"resolution": "ignored", "reason": reason}
            done.append(session.client.call("POST", path("/v1/dead-letters/{}/resolve", letter), body=body).body)
        except Failed:
            session.out.say(f"{len(done)} of {len(letters)} were laid aside before this one: {letter}")
            raise
        session.out.line(f"{letter} is laid aside.")
    session.out.json({"data": done})
