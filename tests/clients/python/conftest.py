"""Both clients, on a line of ours and on the doors themselves."""

import pytest

from tests.cli.stack import Doors
from tests.clients.python.wire import Asker, Clock, Wire
from tests.world import World
from tocsin.access.key_format import SCOPES


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def wire(clock: Clock) -> Wire:
    return Wire(clock)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest, wire: Wire, clock: Clock) -> Asker:
    """Either client, on a line of ours."""
    return Asker(wire, clock, is_async=request.param == "async")


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture
def key(world: World) -> str:
    return world.add_key(*SCOPES)


@pytest.fixture
def tocsin(doors: Doors, clock: Clock, key: str) -> Asker:
    """The client that waits, with a key that may do everything, in front of the doors."""
    return Asker(doors.handle_request, clock, is_async=False, options={"key": key})
