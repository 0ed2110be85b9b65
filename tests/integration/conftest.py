"""What several of these tests stand on."""

from collections.abc import Iterator

import pytest

from tests.webhooks import Receiver, allow_loopback, receiving
from tests.world import World


@pytest.fixture
def receiver(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Somebody who listens, where we may call, and alice, of whom there is something to tell."""
    allow_loopback(monkeypatch)
    world.add_user()
    with receiving() as receiver:
        yield receiver
