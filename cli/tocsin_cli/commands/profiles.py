"""`tocsin profiles`: several stacks, known by name."""

import getpass
import sys
from dataclasses import asdict
from typing import Any

import click

from tocsin_cli.command import Session, group, pass_session, within, yes_option
from tocsin_cli.command import profile_names as names
from tocsin_cli.config import NAME, Config, Profile, base_url, travels_in_clear
from tocsin_cli.failures import usage
from tocsin_cli.safe_text import safe

_WITH_AWS = """tocsin profiles add prod --url https://notify.example.com --key-command \\
  'aws secretsmanager get-secret-value --secret-id tocsin/cli --query SecretString --output text'"""


@group(
    "profiles",
    examples=[
        ("a stack whose key stands in AWS Secrets Manager", _WITH_AWS),
        ("talk to it from now on", "tocsin profiles use prod"),
        ("talk to another one, once", "tocsin status --profile staging"),
    ],
)  # fmt: skip
def COMMAND() -> None:  # noqa: N802
    """Know several stacks by name.

    They stand in ~/.config/tocsin/config.toml, or where TOCSIN_CONFIG says; the file is yours alone (mode 0600).
    """


@within(COMMAND, "list", examples=[("all of them", "tocsin profiles list")])
@pass_session
def list_profiles(session: Session, /) -> None:
    """List the profiles. Keys are not shown."""
    known = session.config
    shown = [_shown(profile, known) for profile in known.profiles.values()]
    session.out.json({"file": str(known.path), "data": shown})
    session.out.columns("", "name", "key", "person", "url").add(
        [["*" if one["is_current"] else "", one["name"], one["key"], one["person"], one["url"]] for one in shown]
    )
    if not shown:
        session.out.say(f"{known.path} has none yet: tocsin profiles add NAME --url https://…")


def _shown(profile: Profile, known: Config) -> dict[str, Any]:
    key = "from a command" if profile.key_command else "kept" if profile.key else "none"
    fields = asdict(profile)
    return {"name": fields["name"], "url": fields["url"], "person": fields["person"]} | {
        "key": key,
        "key_command": fields["key_command"],
        "is_current": profile.name == known.current,
    }


@within(
    COMMAND,
    "add",
    examples=[
        ("asks for the key, without showing it", "tocsin profiles add staging --url https://staging.example.com"),
        ("the key through standard input", "pass tocsin | tocsin profiles add prod --url https://notify.example.com --key-stdin"),
    ],
)  # fmt: skip
@click.argument("name")
@click.option("--key-command", metavar="COMMAND", help="A command that prints the key; it runs whenever the key is needed.")
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input.")
@click.option("--person", help="Your name, for the audit log; else TOCSIN_PERSON or your login name.")
@click.option("--use/--no-use", default=None, help="Talk to it from now on. The first profile always is.")
@pass_session
def add(session: Session, /, name: str, key_command: str | None, key_stdin: bool, person: str | None, use: bool | None) -> None:
    """Add a profile, or write one anew. --url says where the stack is.

    A key is never an argument: arguments stand in the history of the shell and in the list of processes.
    """
    known = session.config
    if not NAME.fullmatch(name):
        raise usage("A name has letters, digits, dots, dashes and underscores, up to 64.")
    before = known.profiles.get(name)
    if not session.url and before is None:
        raise usage("Say where the stack is: --url https://…")
    url = base_url(session.url) if session.url else before.url if before else ""
    key = "" if key_command else _key(stdin=key_stdin)
    known.profiles[name] = Profile(name, url, key, key_command or "", safe(person or (before.person if before else "")))
    if use or (use is None and not known.current):
        known.current = name
    known.save()
    session.out.json(_shown(known.profiles[name], known))
    session.out.line(f"{name}: {url}", "  (in use)" if known.current == name else "")
    if travels_in_clear(url):
        session.out.say(("The address is not encrypted: the key can be read on its way.", "yellow"))
    session.out.say(f"Does it work? tocsin doctor --profile {name}")


def _key(*, stdin: bool) -> str:
    if not stdin and not sys.stdin.isatty():
        raise usage("There is no terminal to ask for the key.", "Say --key-stdin or --key-command.")
    key = (sys.stdin.readline() if stdin else getpass.getpass("Key (is not shown): ")).strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise usage("That is no key: it is one word, such as tcn_live_…")
    return key


@within(COMMAND, "use", examples=[("from now on", "tocsin profiles use prod")])
@click.argument("name", shell_complete=names)
@pass_session
def use_profile(session: Session, /, name: str) -> None:
    """Talk to this stack from now on."""
    known = session.config
    known.current = known.named(name).name
    known.save()
    session.out.json(_shown(known.profiles[name], known))
    session.out.line(f"In use: {name}, {known.profiles[name].url}")


@within(COMMAND, "remove", examples=[("and its key", "tocsin profiles remove staging")])
@click.argument("name", shell_complete=names)
@yes_option
@pass_session
def remove(session: Session, /, name: str, yes: bool) -> None:
    """Forget a profile and its key."""
    known = session.config
    profile = known.named(name)
    session.out.ask(f"Forget {name} ({profile.url}) and its key?", yes=yes)
    del known.profiles[name]
    known.current = "" if known.current == name else known.current
    known.save()
    session.out.json({"removed": name})
    session.out.line(f"{name} is forgotten.")
