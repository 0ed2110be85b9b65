"""The command as somebody types it, and a stack for it to talk to."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.stack import URL, Doors
from tests.functions.doors import Api
from tests.work_queue import WorkQueue
from tests.world import World
from tocsin.access.key_format import SCOPES
from tocsin.foundation import secrets, settings
from tocsin_cli import client
from tocsin_cli.command import Session
from tocsin_cli.main import main


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Terminal:
    """Where somebody types. `pauses` is how long the command waited; `meanwhile` is what happens during each."""

    env: dict[str, str]
    pauses: list[float] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None

    def __call__(self, *arguments: str, typed: str = "", **env: str) -> Ran:
        out, err, before = io.StringIO(), io.StringIO(), sys.stdin
        session = Session(env=self.env | env, pause=self._pause)
        sys.stdin = io.StringIO(typed)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = main(arguments, session)
        finally:
            sys.stdin = before
        return Ran(code, out.getvalue(), err.getvalue())

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.meanwhile()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, with nothing configured."""
    monkeypatch.chdir(tmp_path)
    for name in ("TOCSIN_URL", "TOCSIN_KEY", "TOCSIN_PROFILE", "TOCSIN_PERSON", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOCSIN_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> Doors:
    found = Doors()
    monkeypatch.setattr(client, "transport", lambda: found)
    return found


@pytest.fixture
def bare(home: Path, doors: Doors) -> Terminal:
    """Nobody signed in, and no database behind it: for what is decided before a call, or answered by `doors.instead`."""
    return Terminal(
        {"TOCSIN_CONFIG": str(home / "config.toml"), "TOCSIN_URL": URL, "TOCSIN_KEY": "tcn_live_x", "TOCSIN_PERSON": "Jane"}
    )


@pytest.fixture
def api(world: World) -> Api:
    """The API as another client of the same tenant sees it, with a key that may do everything."""
    return Api(world.add_key(*SCOPES))


@pytest.fixture
def tocsin(bare: Terminal, api: Api) -> Terminal:
    """Signed in with that key."""
    bare.env |= {"TOCSIN_KEY": api.key, "TOCSIN_PERSON": "Jané Doe"}
    return bare


@pytest.fixture
def data_key(work_queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from tests.providers import make_data_key

    make_data_key(monkeypatch)
    settings.settings.cache_clear()
    yield
    secrets.forget()
