"""The default email on its way: in its tenant's brand, in its reader's language, and with what was cut told on the attempt."""

from pathlib import Path
from uuid import UUID

import pytest

from devstack.post_office import PostOffice
from tests.content import add_type
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.channels import installation
from tocsin.content import keep_brand
from tocsin.content.keep_brand import Appearance

SHOP = Appearance(name="Example Shop", color="#0f766e", reply_to="help@example.com", from_name="The Shop")


def _keep(world: World, appearance: Appearance = SHOP, tenant: UUID = TENANT) -> None:
    keep_brand.keep(world.app, Actor(tenant, "key:test"), appearance)


def test_a_mail_goes_out_in_the_brand_of_its_own_tenant(world: World) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant)
    _keep(world)

    deliver_by(world, ways_of(world))

    by_tenant = {one.from_name: one for one in world.email.accepted}
    ours, others = by_tenant["The Shop"], by_tenant[""]
    assert ours.reply_to == "help@example.com"
    assert 'bgcolor="#0f766e"' in ours.content.html
    assert "because you have an account with Example Shop." in ours.content.text
    assert others.reply_to == ""
    assert "Example Shop" not in others.content.html
    assert "#0f766e" not in others.content.html


def test_a_brand_is_read_once_and_a_change_is_seen_a_few_seconds_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user()
    ways = ways_of(world)
    _keep(world)

    def send() -> str:
        world.accept()
        deliver_by(world, ways)
        return world.email.accepted[-1].from_name

    assert send() == "The Shop"
    _keep(world, Appearance(name="Store"))
    assert send() == "The Shop"
    monkeypatch.setattr(installation, "KNOWN_SECONDS", -1.0)
    assert send() == "Store"


def test_by_sendgrid_too_the_mail_is_in_the_brand(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data_key(monkeypatch)
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    _keep(world)
    world.accept()
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        deliver_by(world, ways_of(world, office.url))
        (row,) = office.ledger()

    assert (row["from"], row["headers"]["Reply-To"]) == ("The Shop <shop@example.com>", "help@example.com")
    assert "Example Shop" in row["html"]


@pytest.mark.parametrize(("transactional", "count"), [(True, 0), (False, 1)])
def test_the_ways_out_stand_in_mail_that_is_not_transactional(world: World, transactional: bool, count: int) -> None:
    world.add_user()
    world.admin.execute("UPDATE users SET locale = 'fr-CA'")
    add_type(world, "order.shipped", transactional=transactional)
    world.accept()

    deliver_by(world, ways_of(world))

    (mail,) = world.email.accepted
    assert '<html lang="fr">' in mail.content.html
    assert mail.content.html.count(">Se désabonner</a>") == count
    assert mail.content.text.count("\nRéglages des notifications\u00a0: https://notify.example.com/p/") == count
    assert len(mail.headers) == 2 * count
    if count:
        (link,) = [line for line in mail.content.text.splitlines() if line.startswith("Se désabonner\u00a0: ")]
        assert mail.headers["List-Unsubscribe"] == f"<{link.partition(': ')[2]}>"
