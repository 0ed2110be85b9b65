"""`tocsin users`: whom your ids mean, and how they are reached."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

import click

from tocsin_cli import times, user_files
from tocsin_cli.client import path
from tocsin_cli.command import Session, group, limit_option, pass_session, within
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused, usage
from tocsin_cli.output import Part
from tocsin_cli.user_files import Row


@group(
    "users",
    examples=[
        ("who is that?", "tocsin users list --query ada@"),
        ("everybody of a spreadsheet", "tocsin users import people.csv"),
        ("one field", "tocsin users set ada --phone +4915112345678"),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """Show, change and import users. Scope: manage."""


@within(COMMAND, "list", examples=[("by the beginning of an id, email, username or number", "tocsin users list --query ada")])
@click.option("--query", metavar="TEXT", help="The beginning of an id, an email, a username or a phone number.")
@limit_option
@pass_session
def list_users(session: Session, /, query: str | None, limit: int | None) -> None:
    """List users, newest first."""
    rows: list[dict[str, Any]] = []
    table = session.out.columns("id", "email", "phone", "username", "locale", "since")
    for page in session.client.pages("/v1/users", limit=limit, query=query):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})
    if not rows:
        session.out.say("There is nobody.")


def _row(row: dict[str, Any]) -> list[Part]:
    return [
        *(str(row.get(name) or "") for name in ("id", "email", "phone", "username", "locale")),
        times.local(row["created_at"]),
    ]


@within(COMMAND, "show", examples=[("by your own id", "tocsin users show ada")])
@click.argument("user")
@pass_session
def show(session: Session, /, user: str) -> None:
    """Show a user."""
    _tell(session, session.client.get(path("/v1/users/{}", user)))


@within(
    COMMAND,
    "set",
    examples=[
        ("change what is named, leave the rest", "tocsin users set ada --email ada@example.com --attribute plan=pro"),
        ("take something away", "tocsin users set ada --clear phone"),
    ],
)
@click.argument("user")
@click.option("--email", metavar="ADDRESS")
@click.option("--phone", metavar="NUMBER")
@click.option("--username", metavar="NAME")
@click.option("--locale", metavar="LOCALE", help="Such as de or pt-BR.")
@click.option("--timezone", metavar="ZONE", help="Such as Europe/Berlin.")
@click.option("--avatar-url", metavar="URL", help="The address of an image.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME=VALUE", help="JSON or text. May be repeated.")
@click.option("--clear", multiple=True, type=click.Choice(user_files.FIELDS), help="Take a field away. May be repeated.")
@pass_session
def set_user(session: Session, /, user: str, attributes: tuple[str, ...], clear: tuple[str, ...], **asked: Any) -> None:
    """Change what is named of a user, and leave the rest; make the user if there is none."""
    wanted: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    wanted |= dict.fromkeys(clear)
    if attributes:
        wanted["attributes"] = dict(_attribute(one) for one in attributes)
    where = path("/v1/users/{}", user)
    try:
        found = session.client.call("PATCH", where, body=wanted, repeatable=True).body
    except Refused as refused:
        if refused.status != 404:
            raise
        found = session.client.call("PUT", where, body={n: v for n, v in wanted.items() if v is not None}, repeatable=True).body
        session.out.say(f"{user} is new.")
    _tell(session, found)


def _attribute(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise usage("--attribute must be such as plan=pro.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _tell(session: Session, user: dict[str, Any]) -> None:
    session.out.json(user)
    for name, value in user.items():
        if value not in (None, {}, ""):
            shown = times.local(value) if name.endswith("_at") else json.dumps(value) if isinstance(value, dict) else str(value)
            session.out.line((f"{name:<12}", "dim"), shown)


@dataclass
class Import:
    """How far an import has come; kept beside the file, so that it goes on where it was interrupted."""

    journal: Path | None
    digest: str
    url: str
    done: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"made": 0, "changed": 0, "rejected": 0})

    def resume(self) -> bool:
        if self.journal is None or not self.journal.exists():
            return False
        try:
            kept = json.loads(self.journal.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if kept.get("sha256") != self.digest or kept.get("url") != self.url:
            return False  # another file, or another stack: from the beginning
        self.done, self.counts = int(kept["done"]), self.counts | kept["counts"]
        return self.done > 0

    def keep(self) -> None:
        if self.journal:
            kept = {"sha256": self.digest, "url": self.url, "done": self.done, "counts": self.counts}
            self.journal.write_text(json.dumps(kept), encoding="utf-8")

    def forget(self) -> None:
        if self.journal:
            self.journal.unlink(missing_ok=True)


@within(
    COMMAND,
    "import",
    examples=[
        ("is everything in it as it should be?", "tocsin users import people.csv --dry-run"),
        ("500 at a time; interrupted, the same command goes on", "tocsin users import people.csv"),
        ("from another program", "export-users | tocsin users import - --format ndjson"),
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--format", "kind", type=click.Choice(["csv", "ndjson", "json"]), help="Else by the name of the file.")
@click.option("--dry-run", is_flag=True, help="Check the rows and send nothing.")
@click.option("--rejected", metavar="FILE", help="Where rejected rows go, with the reason (FILE.rejected.ndjson).")
@click.option("--restart", is_flag=True, help="From the beginning, also if it was interrupted before.")
@pass_session
def import_users(
    session: Session, /, file: str, kind: str | None, dry_run: bool, rejected: str | None, restart: bool
) -> Exit | None:
    """Write the users of a file: each row is a whole user, and what it does not name is cleared.

    CSV has a line with the names of the columns: id, email, phone, username, locale, timezone, avatar_url, and attributes.NAME
    for each attribute. NDJSON has an object a line, JSON a list of them. Rows that cannot be written do not hold up the others:
    they are written to a file with the reason, and the exit code is 5. Interrupted, the same command goes on where it was.
    """
    kind = user_files.format_of(file, kind)
    with _opened(file) as (text, digest, count):
        base = None if file == "-" else Path(file)
        if dry_run:
            return _check(session, user_files.read(text, kind))
        run = Import(base.with_name(f"{base.name}.progress.json") if base else None, digest, session.target.url)
        refused = (
            Path(rejected) if rejected else (base or Path("users")).with_name(f"{(base or Path('users')).name}.rejected.ndjson")
        )
        if restart or not run.resume():
            refused.unlink(missing_ok=True)
        else:
            session.out.say(f"Going on after row {run.done}.")
        rows = (row for row in user_files.read(text, kind) if row.number > run.done)
        with session.out.progress("users", count) as bar:
            for batch in user_files.batches(rows):
                _write(session, run, batch, refused)
                bar.move(to=run.done)
        run.forget()
    session.out.json(run.counts | {"rows": run.done, "rejected_file": str(refused) if run.counts["rejected"] else None})
    session.out.line(f"{run.counts['made']} made, {run.counts['changed']} written, {run.counts['rejected']} rejected.")
    if run.counts["rejected"]:
        session.out.say((f"What was rejected, and why: {refused}", "yellow"))
        return Exit.REFUSED
    return None


@contextmanager
def _opened(file: str) -> Iterator[tuple[TextIO, str, int | None]]:
    """The text, the hash by which an interrupted import knows its file, and about how many rows it has."""
    if file == "-":
        yield StringIO(sys.stdin.read()), "", None
        return
    try:
        content = Path(file).read_bytes()
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{file} cannot be read: {error}") from None
    yield StringIO(text, newline=""), hashlib.sha256(content).hexdigest(), text.count("\n") or None


def _check(session: Session, rows: Iterator[Row]) -> Exit | None:
    found = list(rows)
    faults = [row for row in found if row.fault]
    session.out.json({"rows": len(found), "faults": [{"row": row.number, "reason": row.fault} for row in faults]})
    for row in faults:
        session.out.line((f"row {row.number}: ", "dim"), (row.fault, "red"))
    session.out.line(f"{len(found)} rows, {len(faults)} with faults. Nothing was sent.")
    return Exit.REFUSED if faults else None


def _write(session: Session, run: Import, batch: list[Row], refused: Path) -> None:
    """One batch, its rejects, then the note how far it has come: what a crash repeats is written twice, never left out."""
    sent = [row for row in batch if not row.fault]
    results: list[dict[str, Any]] = []
    if sent:
        body = {"users": [row.user for row in sent]}
        results = session.client.call("POST", "/v1/users/batch", body=body, repeatable=True).body["results"]
        if len(results) != len(sent):
            raise Failed("The server answered for another number of users than were sent.", Exit.UNREACHABLE)
    rejects = [(row, row.fault) for row in batch if row.fault]
    for row, result in zip(sent, results, strict=True):
        if "problem" in result:
            rejects.append((row, _reason(result["problem"])))
        else:
            run.counts["made" if result["status"] == 201 else "changed"] += 1
    if rejects:
        with open(refused, "a", encoding="utf-8", opener=_for_me_alone) as file:  # only open() takes an opener
            for row, reason in sorted(rejects, key=lambda one: one[0].number):
                file.write(json.dumps({"row": row.number, "reason": reason, "user": row.user}, ensure_ascii=False) + "\n")
    run.counts["rejected"] += len(rejects)
    run.done = batch[-1].number
    run.keep()


def _for_me_alone(name: str, flags: int) -> int:
    """A new file is its owner's: the rows have people's addresses."""
    return os.open(name, flags, 0o600)


def _reason(problem: dict[str, Any]) -> str:
    errors = "; ".join(f"{one.get('pointer')}: {one.get('message')}" for one in problem.get("errors") or [])
    return f"{problem.get('detail') or problem.get('title')}{f' {errors}' if errors else ''}"
