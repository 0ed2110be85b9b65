"""Stored secrets: sealed for one tenant and one purpose, unreadable anywhere else, and told to nobody."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from botocore.exceptions import ClientError

from devstack.post_office import PostOffice
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.ways import Credentials
from tocsin.foundation import encryption

SECRET = "SG.canary-secret"


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    return make_data_key(monkeypatch)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def _stored(world: World) -> dict[UUID, dict[str, Any]]:
    return {row["id"]: row for row in world.rows("SELECT * FROM provider_configs")}


def test_what_is_sealed_can_be_read_again_by_its_own_tenant_for_its_own_purpose(data_key: str) -> None:
    sealed = encryption.seal("größer", tenant_id=TENANT, purpose="p", key_arn=data_key)

    assert encryption.unseal(sealed, tenant_id=TENANT, purpose="p") == "größer"


@pytest.mark.parametrize(("tenant", "purpose"), [(OTHER_TENANT, "p"), (TENANT, "q"), (TENANT, "P"), (OTHER_TENANT, "q")])
def test_nobody_else_can_read_it(data_key: str, tenant: UUID, purpose: str) -> None:
    sealed = encryption.seal(SECRET, tenant_id=TENANT, purpose="p", key_arn=data_key)

    with pytest.raises(ClientError, match="InvalidCiphertext"):
        encryption.unseal(sealed, tenant_id=tenant, purpose=purpose)


def test_the_same_secret_is_never_the_same_ciphertext(data_key: str) -> None:
    sealed = {encryption.seal(SECRET, tenant_id=TENANT, purpose="p", key_arn=data_key) for _ in range(3)}

    assert len(sealed) == 3


def test_the_longest_secret_that_is_taken_fits(data_key: str) -> None:
    longest = "x" * encryption.MAX_PLAINTEXT

    sealed = encryption.seal(longest, tenant_id=TENANT, purpose="p", key_arn=data_key)

    assert encryption.unseal(sealed, tenant_id=TENANT, purpose="p") == longest


def test_a_row_holds_a_ciphertext_and_the_provider_gets_the_secret(world: World, office: PostOffice) -> None:
    row = add_provider(world, "twilio", api_key="AC-canary", api_secret=SECRET)
    ways = ways_of(world, office.url)

    ways.prepare(world.worker, {TENANT})

    stored = world.one("SELECT provider_configs::text FROM provider_configs")
    for secret in ("AC-canary", SECRET):
        assert secret not in stored
        assert secret.encode().hex() not in stored
    (way, _) = ways.of(TENANT, "sms")
    assert way.config_id == row.id
    assert way.channel.credentials == Credentials("AC-canary", SECRET)  # type: ignore[attr-defined]


SWAPS = {
    "another row of the tenant": (TENANT, "api_key", "api_key"),
    "the same purpose of another tenant": (OTHER_TENANT, "api_key", "api_key"),
    "another part of the row": (None, "api_key", "api_secret"),
}


@pytest.mark.parametrize("name", SWAPS)
def test_a_ciphertext_moved_elsewhere_cannot_be_read_and_only_that_provider_is_left_out(
    world: World, office: PostOffice, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    tenant, part, taken = SWAPS[name]
    world.add_tenant()
    world.add_user(phone="+14155550100")
    good = add_provider(world, "sendgrid", api_key="SG.good", priority=5)
    mine = add_provider(world, "sendgrid", api_key=SECRET, api_secret="other", priority=9)
    donor = add_provider(world, "sendgrid", tenant=tenant, api_key="SG.theirs", is_active=False) if tenant else mine
    world.admin.execute(
        f"UPDATE provider_configs SET {part} = (SELECT {taken} FROM provider_configs WHERE id = %s) WHERE id = %s",  # type: ignore[call-overload]
        [donor.id, mine.id],
    )
    ways = ways_of(world, office.url)
    world.accept(channels=["email", "sms"])

    deliver_by(world, ways)

    assert [way.config_id for way in ways.of(TENANT, "email")] == [good.id, None]
    assert {(route["provider"], route["status"]) for route in world.routes()} == {("sendgrid", "published"), ("sns", "published")}
    logged = str([record.__dict__ for record in caplog.records])
    assert str(mine.id) in logged
    assert not [secret for secret in (SECRET, "SG.theirs", "SG.good") if secret in logged]


def test_a_swap_of_two_rows_leaves_both_out_and_the_default_is_used(world: World, office: PostOffice) -> None:
    world.add_user()
    one, two = add_provider(world, "sendgrid", api_key="SG.one"), add_provider(world, "sendgrid", api_key="SG.two")
    before = _stored(world)
    for row, other in ((one, two), (two, one)):
        world.admin.execute("UPDATE provider_configs SET api_key = %s WHERE id = %s", [before[other.id]["api_key"], row.id])

    world.accept()
    deliver_by(world, ways_of(world, office.url))

    assert (office.ledger(), len(world.email.accepted)) == ([], 1)


def test_without_the_key_service_the_default_provider_is_used_and_the_others_come_back_with_it(
    world: World, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key=SECRET)
    world.accept()
    with monkeypatch.context() as outage:
        outage.setattr(encryption, "unseal", _fail)
        deliver_by(world, ways_of(world, office.url))
    world.accept()
    deliver_by(world, ways_of(world, office.url))

    assert (len(world.email.accepted), len(office.ledger())) == (1, 1)


def _fail(ciphertext: bytes, **context: Any) -> str:
    raise ClientError({"Error": {"Code": "KMSInternalException", "Message": SECRET}}, "Decrypt")


def test_credentials_do_not_show_themselves(world: World, office: PostOffice) -> None:
    add_provider(world, "sendgrid", api_key=SECRET, api_secret=SECRET)
    ways = ways_of(world, office.url)
    ways.prepare(world.worker, {TENANT})

    assert SECRET not in repr(ways.of(TENANT, "email"))
