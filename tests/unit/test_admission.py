"""Admission: who is known to be above the limit is refused before the database is asked."""

from uuid import UUID, uuid4

import pytest

from tocsin.access.authenticate import Principal
from tocsin.intake.admission import RateExceeded, Sender, admitted, sender_of


@pytest.fixture
def sender() -> Sender:
    return Sender(UUID(int=1), "shop", "live", rate_subject=f"key:{uuid4()}", rate_limit=10)


def _exceed(sender: Sender, what: str, size: int) -> None:
    with pytest.raises(RateExceeded), admitted(sender, what, size):
        raise RateExceeded


def test_who_was_refused_is_refused_again_without_asking(sender: Sender) -> None:
    _exceed(sender, "intents", 1)

    with pytest.raises(RateExceeded), admitted(sender, "intents", 1):
        pytest.fail("asked again")


def test_a_batch_that_did_not_fit_says_nothing_of_the_next(sender: Sender) -> None:
    _exceed(sender, "intents", 5)

    with admitted(sender, "intents", 1):
        pass


def test_too_many_intents_are_not_too_many_events(sender: Sender) -> None:
    _exceed(sender, "intents", 1)

    with admitted(sender, "events", 1):
        pass


@pytest.mark.parametrize(("own", "limit"), [(None, 6000), (7, 7)])
def test_a_key_has_its_own_limit_or_the_usual_one(own: int | None, limit: int) -> None:
    key_id, tenant_id = uuid4(), uuid4()

    sender = sender_of(Principal(key_id, tenant_id, "shop", "test", frozenset({"send"}), own), usual_limit=6000)

    assert sender == Sender(tenant_id, "shop", "test", rate_subject=f"key:{key_id}", rate_limit=limit)
