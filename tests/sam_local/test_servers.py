"""Both of sam's servers get what they need, are known to be up, and are ended so that they take their containers along."""

import json
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devstack.children import ChildError
from devstack.sam_local.container_network import ContainerNetwork
from devstack.sam_local.docker_engine import Engine
from devstack.sam_local.servers import SamServers, free_port
from tests.sam_local.fake_docker import FakeDocker

VARIABLES = {"IntakeFunction": {"AWS_ENDPOINT_URL": "http://172.30.0.1:4566", "DATABASE_HOST": "172.30.0.1"}}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the fake sam writes down."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "fake_sam"))
    monkeypatch.setenv("FAKE_SAM_NOTES", str(tmp_path))
    return tmp_path


@pytest.fixture
def sam(notes: Path, docker: FakeDocker) -> Iterator[SamServers]:
    docker.says("ps --all --quiet --filter")
    docker.says("network rm")
    network = ContainerNetwork(Engine("unix:///docker.sock", "x86_64"), notes)
    made = SamServers(notes / "built.yaml", network, port=free_port(), folder=notes, logs=notes)
    yield made
    made.kill()


def noted(notes: Path, name: str) -> Any:
    return json.loads((notes / name).read_text())


@pytest.mark.parametrize("command", ["start-api", "start-lambda"])
def test_each_serves_the_built_copy_on_loopback_with_the_env_file_in_our_network(
    command: str, sam: SamServers, notes: Path, docker: FakeDocker
) -> None:
    sam.start(VARIABLES)

    arguments = noted(notes, command)
    options = dict(zip(arguments[2::2], arguments[3::2], strict=False))
    assert arguments[:2] == ["local", command]
    assert (options["--host"], options["--template"]) == ("127.0.0.1", str(notes / "built.yaml"))
    assert options["--docker-network"].startswith("tocsin-sam-local-")
    assert "--skip-pull-image" in arguments
    env_file = Path(options["--env-vars"])
    assert json.loads(env_file.read_text()) == VARIABLES
    assert stat.S_IMODE(env_file.stat().st_mode) == 0o600


def test_both_are_asked_to_end_and_only_then_is_the_network_removed_once(
    sam: SamServers, notes: Path, docker: FakeDocker
) -> None:
    sam.start(VARIABLES)

    sam.stop()
    sam.stop()

    ended_by = [noted(notes, f"{command}-ended-by") for command in ("start-api", "start-lambda")]
    assert ended_by == [signal.SIGTERM, signal.SIGTERM]
    assert (sam.api.is_alive, sam.functions.is_alive) == (False, False)
    assert len(docker.asked("network rm")) == 1


def test_ending_them_at_once_still_removes_their_containers(sam: SamServers, docker: FakeDocker) -> None:
    sam.start(VARIABLES)

    sam.kill()

    assert (sam.api.is_alive, sam.functions.is_alive) == (False, False)
    assert len(docker.asked("ps --all")) == 1


def test_one_that_does_not_start_is_quoted(sam: SamServers, notes: Path, docker: FakeDocker) -> None:
    (notes / "start-api-cannot-start").touch()

    with pytest.raises(ChildError, match=r"(?s)start-api did not start:.*requires a container runtime"):
        sam.start(VARIABLES)


def test_one_that_died_is_started_again_at_the_same_port(sam: SamServers, notes: Path, docker: FakeDocker) -> None:
    sam.start(VARIABLES)
    first = noted(notes, "start-api")
    (notes / "start-api").unlink()
    sam.api.kill()

    sam.api.start()

    assert noted(notes, "start-api") == first
