"""What all commands share: the options that stand everywhere, examples in the help, and the session."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tocsin_cli import times
from tocsin_cli.config import Config, Target, load, path_of, resolve
from tocsin_cli.exits import Exit

if TYPE_CHECKING:  # both import much; the help and the completion of a shell need neither
    from tocsin_cli.client import Client
    from tocsin_cli.output import Out

Run = Callable[..., Exit | None]
Made = TypeVar("Made", bound=click.Command)
Examples = Sequence[tuple[str, str]]  # what it does, and the command


@dataclass
class Session:
    """One run of the command: what was asked for everywhere, and whom it talks to."""

    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    profile: str = ""
    url: str = ""
    is_json: bool = False
    pause: Callable[[float], object] = time.sleep

    @cached_property
    def out(self) -> "Out":
        from tocsin_cli.output import Out  # noqa: PLC0415 - it takes a tenth of a second

        return Out(is_json=self.is_json)

    @cached_property
    def config(self) -> Config:
        return load(path_of(self.env))

    @cached_property
    def target(self) -> Target:
        return resolve(self.config, profile=self.profile, url=self.url, env=self.env, folder=Path.cwd(), say=self.out.say)

    @cached_property
    def client(self) -> "Client":
        from tocsin_cli.client import Client  # noqa: PLC0415

        return Client(self.target, say=self.out.say, pause=self.pause)

    def now(self) -> datetime:
        return datetime.now(UTC)


pass_session = click.make_pass_decorator(Session, ensure=True)


def profile_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names for the completion of a shell; a file that cannot be read completes nothing."""
    try:
        known = load(path_of(os.environ)).profiles
    except Exception:
        return []
    return [name for name in known if name.startswith(incomplete)]


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value:
        setattr(context.ensure_object(Session), str(parameter.name), value)


def _everywhere() -> list[click.Parameter]:
    return [
        click.Option(["--profile", "-p"], metavar="NAME", expose_value=False, callback=_remember, shell_complete=profile_names,
                     help="The stack to talk to (`tocsin profiles list`)."),
        click.Option(["--url"], metavar="URL", expose_value=False, callback=_remember,
                     help="The address of the stack; its key stands in TOCSIN_KEY."),
        click.Option(["--json", "is_json"], is_flag=True, expose_value=False, callback=_remember,
                     help="JSON on standard output, and nothing else there."),
    ]  # fmt: skip


class _Helped(click.Command):
    """Help in the shape of a manual page: what it does, options, examples."""

    examples: Examples = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)  # --help is the last of them
        return [*own[:-1], *_everywhere(), *own[-1:]]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for n, (what, line) in enumerate(self.examples):
                    formatter.write("\n" if n else "")
                    formatter.write(f"{'':{formatter.current_indent}}# {what}\n")
                    for part in line.splitlines():
                        formatter.write(f"{'':{formatter.current_indent}}{part}\n")


class Command(_Helped):
    pass


class Group(_Helped, click.Group):
    command_class = Command
    group_class = type


_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def command(name: str, *, examples: Examples, **options: Any) -> Callable[[Run], Command]:
    """A command of its own. The docstring is its manual."""

    def make(run: Run) -> Command:
        made = click.command(name, cls=Command, context_settings=_HELP, **options)(run)
        made.examples = examples
        return made

    return make


def group(name: str, *, examples: Examples, **options: Any) -> Callable[[Callable[..., Any]], Group]:
    def make(run: Callable[..., Any]) -> Group:
        made = click.group(name, cls=Group, context_settings=_HELP, **options)(run)
        made.examples = examples
        return made

    return make


def within(of: Group, name: str, *, examples: Examples, **options: Any) -> Callable[[Run], Command]:
    """A command of a group."""

    def make(run: Run) -> Command:
        made = command(name, examples=examples, **options)(run)
        of.add_command(made)
        return made

    return make


class Moment(click.ParamType):
    """A time as RFC 3339, a local date and time, or a span from now."""

    name = "time"

    def __init__(self, *, ahead: bool = False) -> None:
        self._ahead = ahead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, datetime):
            return value
        try:
            return times.moment(str(value), datetime.now(UTC), ahead=self._ahead)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Span(click.ParamType):
    """A length of time: 90s, 10m, 2h, 1d. As seconds."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, int | float):
            return value
        try:
            return times.span(str(value)).total_seconds()
        except ValueError as error:
            self.fail(str(error), param, ctx)


PAST, AHEAD, SPAN = Moment(), Moment(ahead=True), Span()
CHANNELS = click.Choice(["email", "sms", "push", "in_app"])
ROUTE_STATUSES = click.Choice(["pending", "failed", "published", "dead_letter", "skipped", "cancelled"])

limit_option = click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="At most so many; without it all, to the last page."
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
