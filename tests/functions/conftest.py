"""The doors, let into a world of their own."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from tests.functions.cloud_formation import cloud_formation, installation
from tests.functions.doors import Api, module_of
from tests.functions.operations import Stage
from tests.functions.readers import Reader
from tests.work_queue import WorkQueue
from tests.world import World
from tocsin.access.key_format import SCOPES
from tocsin.foundation import aws, database, secrets, settings

__all__ = ["cloud_formation", "installation"]  # fixtures of the deployment's door


@pytest.fixture
def api(world: World) -> Api:
    """The HTTP API, called with a key that may do everything."""
    return Api(world.add_key(*SCOPES))


@pytest.fixture
def token_secret(work_queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """The secret with which this installation signs people's tokens."""
    made = aws.client("secretsmanager").create_secret(Name="user-tokens", SecretString="the secret of the installation")
    monkeypatch.setenv("USER_TOKEN_SECRET_ARN", made["ARN"])
    settings.settings.cache_clear()
    secrets.forget()
    yield b"the secret of the installation"
    secrets.forget()


@pytest.fixture
def browser_of(api: Api, token_secret: bytes) -> Callable[[str], Reader]:
    """A person at their inbox, with a token for their browser."""

    def sign_in(user: str, api: Api = api) -> Reader:
        return Reader(Api(api.post(f"/v1/users/{user}/tokens").json["token"]))

    return sign_in


@pytest.fixture
def stage(world: World, api: Api, token_secret: bytes, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A tenant with one of everything, for what is said of every operation."""
    return Stage(world, api, monkeypatch)


@pytest.fixture
def later(world: World) -> Callable[[timedelta], None]:
    """Let time pass, for the doors too: their next connection sees the later clock."""

    def wait(more: timedelta) -> None:
        world.pass_time(more)
        database.disconnect()

    return wait


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


@pytest.fixture
def outages(capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """The reasons for which the database was counted as unavailable, as CloudWatch reads them from the log."""

    def counted() -> list[str]:
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"DatabaseUnavailable"' in line]
        return [line["reason"] for line in lines if line["scope"] == "installation"]

    return counted


@pytest.fixture(autouse=True)
def _voices() -> None:
    """Loggers outlive a test, the output they were made with does not: let them speak to where output goes now."""
    for name in list(logging.root.manager.loggerDict):
        for handler in logging.getLogger(name).handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream.closed:
                handler.stream = sys.stdout  # not setStream: it would flush the closed one


class Ears(logging.Handler):
    """Hears every record of every logger, with all that a formatter could print of it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(json.dumps(record.__dict__, default=str) + self.format(record))


@pytest.fixture
def ears(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Everything that was logged or printed so far, of our own code and of the libraries we configure to speak."""
    handler = Ears()
    doors = ("intake", "inbox_api", "live", "wait", "manage", "operate", "admin", "data", "intake_queue", "dispatch")
    for door in (*doors, "webhooks", "triggers", "feedback", "sweep"):
        module_of(door)
    ours = [logger for name in list(logging.root.manager.loggerDict) if (logger := logging.getLogger(name)).handlers]
    for logger in [logging.root, *ours]:
        logger.addHandler(handler)
    printed: list[str] = []

    def listen() -> str:
        out, err = capsys.readouterr()
        printed.append(out + err)
        return "\n".join(handler.heard + printed)

    yield listen
    for logger in [logging.root, *ours]:
        logger.removeHandler(handler)
