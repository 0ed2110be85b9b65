"""Workers that wake too late."""

from collections.abc import Callable

import pytest

from tests.crash.zombies import SCENARIOS
from tests.world import World


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_zombie(scenario: Callable[[World], None], world: World) -> None:
    scenario(world)
