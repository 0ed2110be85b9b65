"""`tocsin layouts`: layouts and partials as files in Git, and what differs from them on the stack."""

import difflib
from pathlib import Path
from typing import Any

import click

from tocsin_cli import layout_files, times
from tocsin_cli.command import Session, group, pass_session, within, yes_option
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed
from tocsin_cli.layout_files import Key, Shared

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

folder_option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("layouts"),
    metavar="FOLDER",
    help="Where the files are (layouts).",
)


@group(
    "layouts",
    examples=[
        ("begin with what the stack has", "tocsin layouts pull"),
        ("send what differs, then the templates that use it", "tocsin layouts push && tocsin templates push"),
        ("in CI: exit code 1 if the stack is not what Git says", "tocsin layouts push --check"),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """Keep layouts and partials of emails as files, and push what differs. Scope: manage.

    \b
    layouts/shop/layout.default.html      a layout: HTML with {{ content }}
    layouts/shop/layout.pt.html           the same in Portuguese
    layouts/button/partial.default.html   a partial, for {% render 'button' %}
    """


@within(COMMAND, "list", examples=[("what is in use", "tocsin layouts list")])
@pass_session
def list_layouts(session: Session, /) -> None:
    """List the layouts and partials that are in use on the stack."""
    rows = sorted(session.client.rows("/v1/layouts"), key=lambda row: (row["kind"], row["name"], row["locale"]))
    session.out.json({"data": rows})
    session.out.columns("kind", "name", "locale", "version", "since", "renders").add(
        [
            [
                *(str(row[name]) for name in ("kind", "name", "locale", "version")),
                times.local(row["created_at"]),
                ", ".join(row["partials"]),
            ]
            for row in rows
        ]
    )


@within(
    COMMAND,
    "push",
    examples=[
        ("shows the diff, asks, sends what differs", "tocsin layouts push"),
        ("in a pipeline after a merge", "tocsin layouts push --yes"),
        ("in CI before it: exit code 1 if something differs", "tocsin layouts push --check"),
    ],
)
@click.argument("names", nargs=-1, metavar="[NAME]…")
@folder_option
@click.option("--check", is_flag=True, help="Show what differs, send nothing; the exit code tells: 0 nothing, 1 something.")
@yes_option
@pass_session
def push(session: Session, /, names: tuple[str, ...], folder: Path, check: bool, yes: bool) -> Exit | None:
    """Send what differs, as new versions, partials before what renders them; shows the differences first.

    Mail that is under way keeps the versions it was planned with. What is only on the stack stays there.
    """
    here, there = layout_files.read(folder, names), _there(session)
    different = layout_files.in_order([shared for key, shared in here.items() if there.get(key) != shared])
    for shared in different:
        _show(session, there.get(shared.key), shared)
    if only := [" ".join(key) for key in sorted(there) if key not in here and not names]:
        session.out.say(("Only on the stack: ", "dim"), ", ".join(only[:10]), " …" if len(only) > 10 else "")
    if check or not different:
        listed = [{"kind": one.kind, "name": one.name, "locale": one.locale, "is_new": one.key not in there} for one in different]
        session.out.json({"differs": bool(listed), "data": listed})
        session.out.line("Nothing differs." if not different else f"{len(different)} differ.")
        return Exit.NO if different else None
    session.out.ask(f"Push {len(different)}?", yes=yes)
    done: list[dict[str, Any]] = []
    for shared in different:
        done.append(_publish(session, shared, len(done), len(different)))
    session.out.json({"data": done})
    for row in done:
        session.out.line(f"{row['kind']}  {row['name']}  {row['locale']}  version {row['version']}")
    return None


def _publish(session: Session, shared: Shared, done: int, of: int) -> dict[str, Any]:
    """Not repeated by itself: a second time would be a second version."""
    try:
        row: dict[str, Any] = session.client.call("POST", "/v1/layouts", body=shared.request).body
    except Failed:
        session.out.say(f"{done} of {of} were pushed; this one was not: {' '.join(shared.key)}")
        raise
    return row


@within(COMMAND, "pull", examples=[("write what the stack has into layouts/", "tocsin layouts pull")])
@folder_option
@yes_option
@pass_session
def pull(session: Session, /, folder: Path, yes: bool) -> None:
    """Write what the stack has into files. Asks before a file is changed that says something else."""
    there, here = _there(session), layout_files.read(folder) if folder.is_dir() else {}
    changed = {key: shared for key, shared in there.items() if here.get(key) != shared}
    overwritten = [shared for key, shared in changed.items() if key in here]
    for shared in overwritten:
        _show(session, here[shared.key], shared, before_is=str(folder), after_is="stack")
    if overwritten:
        session.out.ask(f"Overwrite {len(overwritten)} that say something else here?", yes=yes)
    for shared in changed.values():
        place = folder / shared.file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".liquid").unlink(missing_ok=True)  # it would be a second body
        place.write_text(shared.content, encoding="utf-8", newline="\n")
        session.out.line(shared.file)
    session.out.json({"written": [list(key) for key in changed], "unchanged": len(there) - len(changed)})
    session.out.say(f"{len(changed)} written into {folder}, {len(there) - len(changed)} unchanged.")


def _there(session: Session) -> dict[Key, Shared]:
    return {shared.key: shared for shared in map(layout_files.of_answer, session.client.rows("/v1/layouts"))}


def _show(session: Session, before: Shared | None, after: Shared, *, before_is: str = "stack", after_is: str = "files") -> None:
    old = before.content.splitlines(keepends=True) if before else []
    new = after.content.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, f"{before_is}/{after.file}", f"{after_is}/{after.file}"):
        session.out.line((line.rstrip("\n"), _COLOURS.get(line[:1], "")))
