"""`tocsin templates`: templates as files in Git, and what differs from them on the stack."""

import difflib
from pathlib import Path
from typing import Any

import click

from tocsin_cli import template_files, times, values
from tocsin_cli.client import path
from tocsin_cli.command import CHANNELS, Session, group, pass_session, within, yes_option
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused, usage
from tocsin_cli.output import Out
from tocsin_cli.template_files import Key, Words

_AN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
Different = list[tuple[Words, Words | None]]  # what stands here, and what stands there


def _local_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    folder = Path(str(context.params.get("folder") or "templates"))
    return (
        sorted(one.name for one in folder.iterdir() if one.is_dir() and one.name.startswith(incomplete))
        if folder.is_dir()
        else []
    )


folder_option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("templates"),
    metavar="FOLDER",
    help="Where the files are (templates).",
)
names_argument = click.argument("names", nargs=-1, metavar="[NAME]…", shell_complete=_local_names)


@group(
    "templates",
    examples=[
        ("begin with what the stack has", "tocsin templates pull"),
        ("what would a message look like?", "tocsin templates preview parcel-sent --payload @order.json"),
        ("send what differs, after a look at it", "tocsin templates push"),
        ("in CI: exit code 1 if the stack is not what Git says", "tocsin templates push --check"),
    ],
)  # fmt: skip
def COMMAND() -> None:  # noqa: N802
    """Keep templates as files, and push what differs. Scope: manage.

    \b
    templates/parcel-sent/email.default.html   an email's HTML, with its subject in front
    templates/parcel-sent/email.default.txt    its plain text, if it is not to be derived
    templates/parcel-sent/email.pt.html        the same in Portuguese
    templates/parcel-sent/sms.default.txt      another channel

    \b
    +++
    subject = "{{ order }} has shipped"
    variables = ["order", "eta"]
    +++
    <p>Your order <b>{{ order }}</b> arrives on {{ eta }}.</p>
    """


@within(COMMAND, "list", examples=[("what is in use", "tocsin templates list")])
@pass_session
def list_templates(session: Session, /) -> None:
    """List the templates that are in use on the stack."""
    rows = session.client.rows("/v1/templates")
    session.out.json({"data": rows})
    session.out.columns("name", "channel", "locale", "version", "since", "subject").add(
        [
            [
                *(str(row[name]) for name in ("name", "channel", "locale", "version")),
                times.local(row["created_at"]),
                row["subject"],
            ]
            for row in sorted(rows, key=lambda row: (row["name"], row["channel"], row["locale"]))
        ]
    )


@within(COMMAND, "diff", examples=[("what differs", "tocsin templates diff"), ("of one", "tocsin templates diff parcel-sent")])
@names_argument
@folder_option
@pass_session
def diff(session: Session, /, names: tuple[str, ...], folder: Path) -> Exit | None:
    """Show how the files differ from the stack. Exit code 1: they do."""
    here, there = template_files.read(folder, names), _there(session)
    different = _different(here, there)
    _show(session, different)
    _name_what_is_only_there(session.out, here, there, names)
    session.out.json(_listed(different))
    return Exit.NO if different else None


@within(
    COMMAND,
    "push",
    examples=[
        ("shows the diff, asks, sends what differs", "tocsin templates push"),
        ("one template, from another folder", "tocsin templates push parcel-sent --folder emails"),
        ("in a pipeline after a merge", "tocsin templates push --yes"),
        ("in CI before it: exit code 1 if something differs", "tocsin templates push --check"),
    ],
)
@names_argument
@folder_option
@click.option("--dry-run", is_flag=True, help="Show what differs, check that the stack would take it, send nothing.")
@click.option("--check", is_flag=True, help="Only tell by the exit code whether something differs: 0 no, 1 yes.")
@yes_option
@pass_session
def push(session: Session, /, names: tuple[str, ...], folder: Path, dry_run: bool, check: bool, yes: bool) -> Exit | None:
    """Send what differs, as new versions; shows the differences first.

    Versions never change: what is under way goes out with the one it was planned with. What is only on the stack stays there.
    """
    here, there = template_files.read(folder, names), _there(session)
    different = _different(here, there)
    _show(session, different)
    _name_what_is_only_there(session.out, here, there, names)
    if check or not different:
        session.out.json(_listed(different))
        session.out.line("Nothing differs." if not different else f"{len(different)} differ.")
        return Exit.NO if different else None
    if dry_run:
        for words, _ in different:
            _draft(session, words, {})
        session.out.json(_listed(different))
        session.out.line(f"{len(different)} would be pushed. Nothing was sent.")
        return None
    session.out.ask(f"Push {len(different)}?", yes=yes)
    done: list[dict[str, Any]] = []
    with session.out.progress("pushing", len(different)) as bar:
        for words, _ in different:
            done.append(_publish(session, words, len(done), len(different)))
            bar.move(to=len(done))
    session.out.json({"data": done})
    for row in done:
        session.out.line(f"{row['name']}  {row['channel']}  {row['locale']}  version {row['version']}")
    return None


def _publish(session: Session, words: Words, done: int, of: int) -> dict[str, Any]:
    """Not repeated by itself: a second time would be a second version. What is pushed again differs no more and is left out."""
    try:
        row: dict[str, Any] = session.client.call("POST", "/v1/templates", body={"name": words.name} | words.request).body
    except Failed:
        session.out.say(f"{done} of {of} were pushed; this one was not: {' '.join(words.key)}")
        raise
    return row


@within(
    COMMAND,
    "pull",
    examples=[
        ("write what the stack has into templates/", "tocsin templates pull"),
        ("one of them", "tocsin templates pull parcel-sent"),
    ],
)
@click.argument("names", nargs=-1, metavar="[NAME]…")
@folder_option
@yes_option
@pass_session
def pull(session: Session, /, names: tuple[str, ...], folder: Path, yes: bool) -> None:
    """Write what the stack has into files. Asks before a file is changed that says something else."""
    there = {key: words for key, words in _there(session).items() if not names or key[0] in names}
    if missing := sorted(set(names) - {name for name, _, _ in there}):
        raise Failed(f"The stack has no template `{missing[0]}`.", Exit.NOT_FOUND)
    here = template_files.read(folder) if folder.is_dir() else {}
    changed = {key: words for key, words in there.items() if here.get(key) != words}
    overwritten = [words for key, words in changed.items() if key in here]
    if overwritten:
        _show(session, [(words, here[words.key]) for words in overwritten], into=str(folder))
        session.out.ask(f"Overwrite {len(overwritten)} that say something else here?", yes=yes)
    for key, words in changed.items():
        _write(folder, words, here.get(key))
    session.out.json({"written": [list(key) for key in changed], "unchanged": len(there) - len(changed)})
    for key in changed:
        session.out.line("  ".join(key))
    session.out.say(f"{len(changed)} written into {folder}, {len(there) - len(changed)} unchanged.")


def _write(folder: Path, words: Words, before: Words | None) -> None:
    made = template_files.files_of(words)
    place = folder / next(iter(made)).split("/")[0]
    place.mkdir(parents=True, exist_ok=True)
    stem = f"{words.channel}.{words.locale}"
    if before is not None:  # it may have had another suffix, or a text that is no more
        for suffix in ("html", "txt", "liquid"):
            (place / f"{stem}.{suffix}").unlink(missing_ok=True)
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")


@within(
    COMMAND,
    "preview",
    examples=[
        ("a file that is not pushed yet", "tocsin templates preview parcel-sent --channel email --payload @order.json"),
        ("with the payload of a notification that was sent", f"tocsin templates preview parcel-sent --notification {_AN_ID}"),
        ("the HTML, for a browser", "tocsin templates preview parcel-sent --payload @order.json --html > preview.html"),
        ("an older version, as the stack has it", "tocsin templates preview parcel-sent --stack --version 3"),
    ],
)  # fmt: skip
@click.argument("name", shell_complete=_local_names)
@folder_option
@click.option("--channel", type=CHANNELS, default="email", help="Of which channel (email).")
@click.option("--locale", default="default", help="In which locale (default).")
@click.option("--payload", metavar="JSON", help="A JSON object, @file, or - for standard input.")
@click.option("--notification", metavar="ID", help="Its payload instead, with secrets masked.")
@click.option("--stack", "of_stack", is_flag=True, help="What the stack has, not the file.")
@click.option("--version", type=click.IntRange(1), help="With --stack: this version.")
@click.option("--html", "as_html", is_flag=True, help="Only the HTML.")
@pass_session
def preview(
    session: Session, /, name: str, folder: Path, payload: str | None, notification: str | None, as_html: bool, **asked: Any
) -> None:
    """Render a template without sending anything: the file as it is, or with --stack what the stack has."""
    if payload and notification:
        raise usage("Give a --payload or a --notification, not both.")
    if asked["version"] and not asked["of_stack"]:
        raise usage("--version is of what the stack has: say --stack too.")
    source: dict[str, Any] = {"notification_id": notification} if notification else {}
    source |= {"payload": values.object_of(payload, "--payload")} if payload else {}
    channel, locale = asked["channel"], asked["locale"]
    if asked["of_stack"]:
        body = {"channel": channel, "locale": locale} | ({"version": asked["version"]} if asked["version"] else {})
        rendered = session.client.call("POST", path("/v1/templates/{}/preview", name), body=body | source, repeatable=True).body
    else:
        known = template_files.read(folder, (name,))
        if (name, channel, locale) not in known:
            there = ", ".join(sorted(f"{key[1]}.{key[2]}" for key in known))
            raise usage(f"{folder}/{name} has no {channel} in {locale}. It has: {there}.")
        rendered = _draft(session, known[name, channel, locale], source)
    session.out.json(rendered)
    _tell(session.out, rendered, as_html=as_html)


def _draft(session: Session, words: Words, source: dict[str, Any]) -> dict[str, Any]:
    """What the stack makes of a file. A dry run has no payload: that a variable is missing then is no fault of the file."""
    try:
        rendered: dict[str, Any] = session.client.call(
            "POST", "/v1/templates/preview", body=words.request | source, repeatable=True
        ).body
        return rendered
    except Refused as refused:
        if refused.kind == "missing-variables" and not source:
            return {}
        session.out.say(f"{' '.join(words.key)}:")
        raise


def _tell(out: Out, rendered: dict[str, Any], *, as_html: bool) -> None:
    if as_html:
        out.block(str(rendered.get("html") or ""))
        return
    if rendered.get("subject"):
        out.line(("subject: ", "dim"), (str(rendered["subject"]), "bold"))
        out.line("")
    out.block(str(rendered.get("text") or ""))
    if rendered.get("sms"):
        out.say("  ".join(f"{name}: {value}" for name, value in rendered["sms"].items()))


def _there(session: Session) -> dict[Key, Words]:
    return {words.key: words for words in map(template_files.of_answer, session.client.rows("/v1/templates"))}


def _different(here: dict[Key, Words], there: dict[Key, Words]) -> Different:
    return [(words, there.get(key)) for key, words in sorted(here.items()) if there.get(key) != words]


def _show(session: Session, different: Different, *, into: str = "") -> None:
    """A unified diff; on standard output where it is the answer."""
    for after, before in different:
        name = "/".join([after.name, f"{after.channel}.{after.locale}"])
        old, new = (f"{into}/{name}", f"stack/{name}") if into else (f"stack/{name}", f"files/{name}")
        lines = difflib.unified_diff(template_files.as_text(before), template_files.as_text(after), old, new)
        for line in lines:
            session.out.line((line.rstrip("\n"), _COLOURS.get(line[:1], "")))


def _listed(different: Different) -> dict[str, Any]:
    keys = [
        {"name": one.name, "channel": one.channel, "locale": one.locale, "is_new": before is None} for one, before in different
    ]
    return {"differs": bool(keys), "data": keys}


def _name_what_is_only_there(out: Out, here: dict[Key, Words], there: dict[Key, Words], names: tuple[str, ...]) -> None:
    only = [key for key in sorted(there) if key not in here and (not names or key[0] in names)]
    if only:
        out.say(("Only on the stack: ", "dim"), ", ".join(" ".join(key) for key in only[:10]), " …" if len(only) > 10 else "")
