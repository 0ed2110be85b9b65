"""The restore drill: a copy of a database goes on where the original stood, and one that does not is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.postgres import Postgres
from tocsin.upkeep import after_restore
from tocsin.upkeep.after_restore import Restored
from tools import restore_drill, restore_sample
from tools.restore_drill import DrillFailed


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Postgres(tmp_path_factory.mktemp("source"), durable=False) as server:
        yield restore_sample.make(server, restore_drill._go_on)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Postgres]:
    with Postgres(tmp_path, durable=False) as server:
        yield server


def test_what_was_accepted_and_not_sent_is_sent_once_and_what_waited_is_told(source: str, target: Postgres) -> None:
    said: list[str] = []

    restore_drill.run(source, target, say=said.append)

    assert "  13 messages would have been sent" in said  # 10 intents, and the emails of 3 events
    assert "  0 migrations applied; 2 events were told, 3 wait" in said
    assert said[-1] == "The copy goes on where the original stood."


def test_a_copy_whose_events_would_never_be_told_fails_the_drill(
    source: str, target: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_restore, "bring_in_order", lambda conn: Restored(0, 0))

    with pytest.raises(DrillFailed, match="no event waits any more"):
        restore_drill.run(source, target, say=lambda line: None)


def test_a_database_that_cannot_be_dumped_fails_the_drill(source: str, target: Postgres) -> None:
    with pytest.raises(DrillFailed, match="pg_dump"):
        restore_drill.run(source.replace("postgres@", "tocsin_app@"), target, say=lambda line: None)
