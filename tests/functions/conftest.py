"""The doors, let into a world of their own."""

from collections.abc import Callable

import pytest

from tests.functions.doors import Api
from tests.world import World
from tocsin import database, settings
from tocsin.keys import SCOPES


@pytest.fixture
def api(world: World) -> Api:
    """The HTTP API, called with a key that may do everything."""
    return Api(world.add_key(*SCOPES))


@pytest.fixture
def run_as(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the next handler connect as another role, as its own secret would have it."""

    def become(role: str) -> None:
        monkeypatch.setenv("TOCSIN_DATABASE_URL", world.dsn(role))
        settings.settings.cache_clear()
        database.disconnect()

    return become


@pytest.fixture
def database_down(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """Nobody listens where the database should be."""
    monkeypatch.setenv("TOCSIN_DATABASE_URL", "postgresql://tocsin_app@127.0.0.1:1/tocsin?connect_timeout=2")
    settings.settings.cache_clear()
    database.disconnect()
