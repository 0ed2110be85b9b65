"""What a batch of deliveries came to, for the installation's metrics: by channel, provider and outcome, never by tenant."""

from collections import Counter
from typing import Protocol

from tocsin.store.rows import Delivery, Settlement

NOBODY = "none"  # no provider was asked


class Count(Protocol):
    """Adds to a metric; with dimensions, to the one of that name and these dimensions."""

    def __call__(self, name: str, value: float, /, **dimensions: str) -> object: ...


def uncounted(name: str, value: float, /, **dimensions: str) -> None:
    """Where nobody watches."""


def count_outcomes(deliveries: list[Delivery], settlements: list[Settlement], count: Count, *, held_for: float) -> None:
    """`held_for`: seconds since these were claimed. A worker that has lost its lease meanwhile counts too: it did the work."""
    by_id = {one.work.id: one for one in deliveries}
    outcomes: Counter[tuple[str, str, str]] = Counter()
    for settlement in settlements:
        one = by_id[settlement.outbox_id]
        provider = "sandbox" if one.record.mode == "test" else settlement.provider or NOBODY
        outcomes[one.route.channel, provider, _outcome(settlement)] += 1
        if settlement.status == "published":
            waited = (one.work.claimed_at - one.work.created_at).total_seconds() + held_for
            count("DeliverySeconds", max(0.0, waited), channel=one.route.channel, provider=provider)
    for (channel, provider, outcome), number in outcomes.items():
        count("Routes", number, channel=channel, provider=provider, outcome=outcome)


def _outcome(settlement: Settlement) -> str:
    """How it ended, or why it did not."""
    if settlement.delay is None and settlement.due_at is None:
        return settlement.status
    return "deferred" if settlement.is_deferral else "retried"
