"""The command `tocsin`: its commands by what they are for, and what every end becomes."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from tocsin_cli import __version__
from tocsin_cli.command import Group, Session
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed

# section: command: (module, what it does); a module is imported when its command is called
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Send and look": {
        "send": ("send", "Send a notification."),
        "explain": ("explain", "Tell what became of a notification, and why."),
        "tail": ("tail", "Follow decisions as they happen."),
        "search": ("search", "Find notifications, people and dead letters by anything."),
        "inbox": ("inbox", "Show what a person has in their inbox."),
        "status": ("status", "Tell what is wrong right now, since when, and what to do."),
    },
    "Look after": {
        "users": ("users", "Show, change and import users."),
        "templates": ("templates", "Keep templates as files, and push what differs."),
        "layouts": ("layouts", "Keep layouts and partials of emails as files, and push what differs."),
        "brand": ("brand", "See and change the name, logo and colour of mail."),
        "dead-letters": ("dead_letters", "See what automation gave up on, and replay it."),
        "lanes": ("lanes", "See ways out that are in trouble, and open one."),
        "webhooks": ("webhooks", "See webhooks, test one, switch one on again."),
        "erase": ("erase", "Erase a person everywhere, with a receipt."),
        "audit": ("audit", "Read the audit log, and check that it is whole."),
        "keys": ("keys", "Make, rotate and revoke API keys."),
        "tenants": ("tenants", "Look after the tenants of an installation."),
    },
    "Set up": {
        "doctor": ("doctor", "Find the first thing to fix."),
        "demo": ("demo", "Fill a stack with an example."),
        "profiles": ("profiles", "Know several stacks by name."),
        "completion": ("completion", "Print the completion script of a shell."),
    },
}
_MODULES = {name: found for section in SECTIONS.values() for name, found in section.items()}


class Root(Group):
    """Knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        made = import_module(f"tocsin_cli.commands.{_MODULES[cmd_name][0]}").COMMAND
        assert isinstance(made, click.Command)  # noqa: S101 - for the type checker
        return made

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            close = [name for name in _MODULES if args and (name.startswith(args[0][:3]) or args[0] in name)]
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise click.UsageError(f"There is no command `{args[0]}`.{hint}", ctx) from None


def _root() -> Root:
    @click.command("tocsin", cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
    @click.version_option(__version__, prog_name="tocsin", message="%(prog)s %(version)s")
    def tocsin() -> None:
        """The command line of Tocsin, the notification service in your own AWS account.

        Which stack it talks to: --profile, --url or TOCSIN_URL (with TOCSIN_KEY), TOCSIN_PROFILE, the profile in use, or the
        local stack of this folder, whichever comes first.

        \b
        Exit codes: 0 done or yes, 1 no, 2 usage, 3 not allowed, 4 not found,
        5 refused, 6 unreachable, 130 interrupted.
        """

    assert isinstance(tocsin, Root)  # noqa: S101
    tocsin.examples = (
        ("send, and see what becomes of it", 'tocsin send --email ada@example.com --type hello --title "Hello" --wait'),
        ("why did she not get it?", "tocsin explain ada@example.com"),
        ("what is wrong?", "tocsin status"),
        ("it does not work at all", "tocsin doctor"),
    )
    return tocsin


ROOT = _root()


def main(arguments: Sequence[str] | None = None, session: Session | None = None) -> int:
    """Run, and return what the process ends with. Nothing but a bug shows a traceback."""
    session = session or Session()
    try:
        ended: Any = ROOT.main(
            list(arguments) if arguments is not None else None, prog_name="tocsin", standalone_mode=False, obj=session
        )
        sys.stdout.flush()
        return int(ended) if isinstance(ended, int) else Exit.OK
    except click.ClickException as error:
        return _misused(session, error)
    except Failed as failure:
        first, *rest = failure.lines()
        session.out.say(("Error: ", "bold red"), first)
        for line in rest:
            session.out.say(line)
        return failure.exit_code
    except (KeyboardInterrupt, click.Abort):
        session.out.say("Interrupted.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return Exit.BROKEN_PIPE


def _misused(session: Session, error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    if context is not None:
        session.out.say(context.get_usage())
    session.out.say(("Error: ", "bold red"), error.format_message())
    if context is not None:
        session.out.say(f"`{context.command_path} --help` has examples.")
    return Exit.USAGE


def run() -> None:
    sys.exit(main())
