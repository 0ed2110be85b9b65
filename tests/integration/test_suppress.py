"""Suppressing and lifting by their use cases: the rules hold for whoever calls them."""

from uuid import UUID, uuid4

import pytest

from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.feedback.suppress import NotAnAddress, NotLifted, lift, suppress
from tocsin.foundation.ids import uuid7
from tocsin.store import suppressions

OPERATOR = Actor(TENANT, "console:alice")


@pytest.fixture
def complaint(world: World) -> UUID:
    suppression_id = uuid7()
    suppressions.insert_or_strengthen(
        world.worker,
        suppression_id=suppression_id,
        tenant_id=TENANT,
        channel="email",
        address="alice@example.com",
        reason="complaint",
    )
    return suppression_id


@pytest.mark.parametrize(
    ("reason", "is_operator", "end", "left"),
    [
        ("she asked us to", False, NotLifted.OPERATORS_ONLY, 1),
        ("", True, NotLifted.NO_REASON, 1),
        ("she asked us to", True, None, 0),
    ],
)
def test_a_complaint_is_lifted_by_an_operator_with_a_reason_alone(
    world: World, complaint: UUID, reason: str, is_operator: bool, end: NotLifted | None, left: int
) -> None:
    assert lift(world.app, OPERATOR, complaint, reason=reason, is_operator=is_operator) is end

    assert (world.count("suppressions"), world.count("audit_logs")) == (left, 1 - left)


def test_what_nobody_suppressed_is_not_lifted(world: World) -> None:
    assert lift(world.app, OPERATOR, uuid4(), reason="", is_operator=True) is NotLifted.UNKNOWN
    assert world.count("audit_logs") == 0


def test_a_manual_suppression_does_not_weaken_a_complaint(world: World, complaint: UUID) -> None:
    row = suppress(world.app, OPERATOR, "email", "Alice@Example.com", None)

    assert (row.id, row.reason) == (complaint, "complaint")


@pytest.mark.parametrize(("channel", "address"), [("email", "+351910000000"), ("sms", "alice@example.com")])
def test_an_address_of_another_channel_is_refused(world: World, channel: str, address: str) -> None:
    with pytest.raises(NotAnAddress):
        suppress(world.app, OPERATOR, channel, address, None)

    assert world.count("suppressions") == 0


def test_an_address_may_be_suppressed_again_however_many_types_it_was_suppressed_for(world: World) -> None:
    first = suppress(world.app, OPERATOR, "email", "alice@example.com", "news")
    for n in range(200):
        suppress(world.app, OPERATOR, "email", "alice@example.com", f"type-{n}")

    assert suppress(world.app, OPERATOR, "email", "alice@example.com", "news").id == first.id
