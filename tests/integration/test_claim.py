"""The claim: what it brings along stands in the order in which it is read."""

from dataclasses import fields
from uuid import uuid4

from tests.world import LEASE, World
from tocsin.store import outbox


def test_the_columns_of_a_claim_stand_in_the_order_of_its_fields(world: World) -> None:
    cursor = outbox.claim(world.worker, [], lease_token=uuid4(), lease=LEASE, suspects=False, limit=1)

    assert [column.name for column in cursor.description or []] == [field.name for field in fields(outbox.Claimed)]
