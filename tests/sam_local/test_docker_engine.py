"""Which engine is used, for which architecture, and what is said where there is none."""

from pathlib import Path

import pytest

from devstack.sam_local.docker_engine import Engine
from devstack.state import RefusalError
from tests.sam_local.fake_docker import FakeDocker

IMAGE = "public.ecr.aws/lambda/python:3.13-x86_64"


def test_functions_are_built_for_the_architecture_of_the_engine_which_sam_is_told_of(docker: FakeDocker) -> None:
    docker.says("version", "arm64")
    docker.says("context inspect", "unix:///home/ada/.docker/run/docker.sock")

    engine = Engine.find()

    assert (engine.architecture, engine.address) == ("arm64", "unix:///home/ada/.docker/run/docker.sock")
    assert engine.image_name("python3.13") == "public.ecr.aws/lambda/python:3.13-arm64"


def test_an_engine_that_the_environment_names_is_the_one(docker: FakeDocker, monkeypatch: pytest.MonkeyPatch) -> None:
    docker.says("version", "amd64")
    docker.says("context inspect", "unix:///var/run/docker.sock")
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/user/1000/docker.sock")

    engine = Engine.find()

    assert (engine.address, engine.image_name("python3.13")) == ("unix:///run/user/1000/docker.sock", IMAGE)


def test_without_docker_the_refusal_names_the_command_that_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RefusalError, match=r"no docker on the PATH.*\n.*make dev"):
        Engine.find()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "systemctl start docker"),
        ("permission denied while trying to connect to the Docker daemon socket", "usermod -aG docker"),
        ("", "systemctl start docker"),
    ],
)
def test_an_engine_that_does_not_answer_is_quoted_with_what_to_do(docker: FakeDocker, said: str, advice: str) -> None:
    docker.says("version", code=1, err=said)

    with pytest.raises(RefusalError) as refused:
        Engine.find()

    assert said in str(refused.value)
    assert advice in str(refused.value)
    assert "make dev" in str(refused.value)


def test_an_engine_of_an_architecture_that_lambda_does_not_have_is_refused(docker: FakeDocker) -> None:
    docker.says("version", "riscv64")

    with pytest.raises(RefusalError, match="riscv64"):
        Engine.find()


def test_an_image_is_there_or_pulled_or_the_refusal_says_how_to_get_it(docker: FakeDocker) -> None:
    engine = Engine("unix:///docker.sock", "x86_64")
    docker.says("pull reachable:1")

    engine.pull("reachable:1")

    assert not engine.has("reachable:1")
    with pytest.raises(RefusalError, match=f"cannot be pulled.*\n.*docker pull {IMAGE}"):
        engine.pull(IMAGE)
    docker.says("image inspect reachable:1", "[]")
    assert engine.has("reachable:1")
