"""`tocsin tenants`: who shares an installation."""

from typing import Any

import click

from tocsin_cli import times, values
from tocsin_cli.client import path
from tocsin_cli.command import Session, group, limit_option, pass_session, within, yes_option
from tocsin_cli.commands.erase import tell_counts
from tocsin_cli.output import Part, styled
from tocsin_cli.safe_text import safe_json

_AN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@group(
    "tenants",
    examples=[
        ("who is there?", "tocsin tenants list"),
        ("another one; its first key is printed once", "KEY=$(tocsin tenants create Harbour)"),
        ("nothing is accepted or sent, nothing is lost", f'tocsin tenants suspend {_AN_ID} --reason "invoice 17 is unpaid"'),
    ],
)
def COMMAND() -> None:  # noqa: N802
    """Look after the tenants of an installation. Scope: admin, of the installation's first tenant."""


@within(COMMAND, "list", examples=[("those that are suspended", "tocsin tenants list --status suspended")])
@click.option("--name", help="A part of the name.")
@click.option("--status", type=click.Choice(["active", "suspended", "deleting"]))
@limit_option
@pass_session
def list_tenants(session: Session, /, name: str | None, status: str | None, limit: int | None) -> None:
    """List the tenants, newest first."""
    rows: list[dict[str, Any]] = []
    table = session.out.columns("id", "status", "made", "name")
    for page in session.client.pages("/v1/tenants", limit=limit, name=name, status=status):
        rows += page
        table.add([_row(row) for row in page])
    session.out.json({"data": rows})


def _row(row: dict[str, Any]) -> list[Part]:
    return [str(row["id"]), styled(str(row["status"])), times.local(row["created_at"]), str(row["name"])]


@within(COMMAND, "create", examples=[("with limits of its own", "tocsin tenants create Harbour --settings @harbour.json")])
@click.argument("name")
@click.option("--settings", metavar="JSON", help="A JSON object, @file, or - for standard input (docs/tenants.md).")
@pass_session
def create(session: Session, /, name: str, settings: str | None) -> None:
    """Make a tenant, and show its first key this once: alone on standard output."""
    body = {"name": name} | ({"settings": values.object_of(settings, "--settings")} if settings else {})
    answer = session.client.call("POST", "/v1/tenants", body=body).body
    session.out.json(answer)
    session.out.say(f"{answer['name']}: {answer['id']}")
    session.out.say((f"Its first key ({' '.join(answer['first_key']['scopes'])}), shown this once:", "bold"))
    session.out.secret(str(answer["first_key"]["key"]))


@within(COMMAND, "show", examples=[("by its id", f"tocsin tenants show {_AN_ID}")])
@click.argument("tenant")
@pass_session
def show(session: Session, /, tenant: str) -> None:
    """Show a tenant and its settings."""
    _tell(session, session.client.get(path("/v1/tenants/{}", tenant)))


@within(COMMAND, "suspend", examples=[("with a reason", f'tocsin tenants suspend {_AN_ID} --reason "invoice 17 is unpaid"')])
@click.argument("tenant")
@click.option("--reason", required=True, help="Why; the tenant's own audit log shows it too.")
@yes_option
@pass_session
def suspend(session: Session, /, tenant: str, reason: str, yes: bool) -> None:
    """Suspend a tenant: nothing is accepted or sent, nothing is lost."""
    where = path("/v1/tenants/{}", tenant)
    session.out.ask(f"Suspend {session.client.get(where)['name']}? Its keys are refused from then on.", yes=yes)
    _tell(session, session.client.call("POST", f"{where}/suspend", body={"reason": reason}, repeatable=True).body)


@within(COMMAND, "resume", examples=[("by its id", f"tocsin tenants resume {_AN_ID}")])
@click.argument("tenant")
@pass_session
def resume(session: Session, /, tenant: str) -> None:
    """Resume a suspended tenant: it goes on within a minute."""
    _tell(session, session.client.call("POST", path("/v1/tenants/{}/resume", tenant), repeatable=True).body)


@within(
    COMMAND,
    "delete",
    examples=[
        ("what would go?", f"tocsin tenants delete {_AN_ID} --dry-run"),
        ("in a script, with its name", f"tocsin tenants delete {_AN_ID} --confirm Harbour"),
    ],
)
@click.argument("tenant")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--confirm", metavar="NAME", help="Its name, instead of typing it.")
@pass_session
def delete(session: Session, /, tenant: str, dry_run: bool, confirm: str | None) -> None:
    """Delete a tenant with everything it has. Counts first, then asks for its name; there is no way back."""
    where = path("/v1/tenants/{}", tenant)
    known = session.client.get(where)
    counted = session.client.call("DELETE", where, params={"dry_run": True}, repeatable=True).body
    if dry_run:
        session.out.json(counted)
        tell_counts(session.out, counted["would_delete"], "would be deleted")
        return
    if confirm is None:
        tell_counts(session.out, counted["would_delete"], "would be deleted", beside=True)
    session.out.ask_to_type(f"Type the tenant's name to delete it ({known['name']}):", str(known["name"]), typed=confirm)
    receipt = session.client.call("DELETE", where, body={"confirm": known["name"]}, repeatable=False).body
    session.out.json(receipt)
    session.out.line(f"It is refused from now on. Receipt: {receipt['id']}")


def _tell(session: Session, tenant: dict[str, Any]) -> None:
    session.out.json(tenant)
    session.out.line((str(tenant["name"]), "bold"), "  ", str(tenant["id"]), "  ", styled(str(tenant["status"])))
    for name in ("created_at", "suspended_at", "suspended_reason", "deletion_requested_at"):
        if tenant.get(name):
            session.out.line((f"{name:<22}", "dim"), times.local(tenant[name]))
    if tenant.get("settings"):
        session.out.block(safe_json(tenant["settings"]))
