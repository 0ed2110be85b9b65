"""`tocsin brand`: how mail and its pages look, and who they are from."""

from typing import Any

import click

from tocsin_cli.command import Session, group, pass_session, within
from tocsin_cli.failures import usage

FIELDS = ("name", "logo_url", "color", "postal_address", "reply_to", "from_name")


@group(
    "brand",
    examples=[
        ("what is it?", "tocsin brand show"),
        ("change the colour, keep the rest", 'tocsin brand set --color "#0f766e"'),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """See and change the name, logo and colour of mail, and of the pages its links lead to. Scope: manage."""


@within(COMMAND, "show", examples=[("all of it", "tocsin brand show")])
@pass_session
def show(session: Session, /) -> None:
    """Show the brand."""
    _tell(session, session.client.get("/v1/brand"))


@within(
    COMMAND,
    "set",
    examples=[
        ("a name and a colour", 'tocsin brand set --name "Example Shop" --color "#0f766e"'),
        ("no logo any more", "tocsin brand set --clear logo_url"),
    ],
)
@click.option("--name", help="What mail and pages call you.")
@click.option("--logo-url", metavar="URL", help="The https address of a picture.")
@click.option("--color", metavar="#RRGGBB", help="Of buttons and links.")
@click.option("--postal-address", metavar="TEXT", help="At the end of mail; \\n is a new line.")
@click.option("--reply-to", metavar="EMAIL", help="Where answers go.")
@click.option("--from-name", metavar="NAME", help="Whom mail says to be from.")
@click.option("--clear", multiple=True, type=click.Choice(FIELDS), help="A field to empty; may be repeated.")
@pass_session
def change(session: Session, /, clear: tuple[str, ...], **given: Any) -> None:
    """Change what is named, and keep the rest."""
    changes = {name: value for name, value in given.items() if value is not None} | dict.fromkeys(clear)
    if not changes:
        raise usage("Say what to change, such as --name or --color.")
    if changes.get("postal_address"):
        changes["postal_address"] = changes["postal_address"].replace("\\n", "\n")
    before = session.client.get("/v1/brand")
    body = {name: before[name] for name in FIELDS} | changes
    _tell(session, session.client.call("PUT", "/v1/brand", body=body, repeatable=True).body)


def _tell(session: Session, brand: dict[str, Any]) -> None:
    session.out.json(brand)
    for name in FIELDS:
        if brand.get(name):
            session.out.line((f"{name:<15}", "dim"), str(brand[name]).replace("\n", ", "))
    if not any(brand.get(name) for name in FIELDS):
        session.out.say("There is no brand yet: mail has the tenant's name. `tocsin brand set --help` has examples.")
