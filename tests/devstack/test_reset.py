"""`make dev RESET=1` forgets what there is, also where there is nothing yet."""

from pathlib import Path

import pytest

from devstack import __main__ as stack
from devstack import unprivileged
from devstack.state import State


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.setattr(unprivileged, "is_root", lambda: True)
    made = State(tmp_path / "state")
    made.logs.mkdir(parents=True)
    return made


def test_a_fresh_tree_has_nothing_to_forget_and_that_is_no_fault(state: State) -> None:
    stack._forget(state)

    assert [path.name for path in state.folder.iterdir()] == ["logs"]


def test_what_was_kept_is_gone(state: State) -> None:
    (state.postgres / "cluster").mkdir(parents=True)
    state.ledger.touch()

    stack._forget(state)

    assert [path.name for path in state.folder.iterdir()] == ["logs"]
