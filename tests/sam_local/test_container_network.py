"""How containers reach this machine is asked, tried, and taken away again."""

import json
import re
import sys
from pathlib import Path

import pytest

from devstack.reach import Reach
from devstack.sam_local.container_network import ContainerNetwork
from devstack.sam_local.docker_engine import Engine
from devstack.state import RefusalError
from tests.sam_local.fake_docker import FakeDocker

NOBODYS = "192.0.2.77"  # an address for documentation, which no machine has


def network_at(docker: FakeDocker, gateway: str, folder: Path = Path("/some/state")) -> ContainerNetwork:
    configured = [{"Subnet": "fd00::/64", "Gateway": "fd00::1"}, {"Subnet": "172.30.0.0/16", "Gateway": gateway}]
    docker.says("ps --all --quiet --filter")
    docker.says("network create")
    docker.says("network inspect", json.dumps([{"IPAM": {"Config": configured}}]))
    return ContainerNetwork(Engine("unix:///docker.sock", "x86_64"), folder)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 is the only address of loopback")
def test_where_the_gateway_is_this_machine_servers_listen_there_and_guests_come_from_its_network(
    docker: FakeDocker,
) -> None:
    reach = network_at(docker, "127.0.0.9").open("image:1")

    assert reach == Reach(listen="127.0.0.9", seen_as="127.0.0.9", guests="172.30.0.0/16")
    assert reach.addresses == "127.0.0.1,127.0.0.9"
    assert reach.seen("http://127.0.0.9:4566/queue") == "http://127.0.0.9:4566/queue"
    assert docker.asked("run") == []


def test_where_the_engine_is_in_a_machine_of_its_own_a_container_says_how_it_sees_this_one(docker: FakeDocker) -> None:
    docker.says("run", "192.168.65.254")

    reach = network_at(docker, NOBODYS).open("image:1")

    assert reach == Reach(listen="127.0.0.1", seen_as="192.168.65.254", guests=None)
    assert (reach.addresses, reach.seen("http://127.0.0.1:4566")) == ("127.0.0.1", "http://192.168.65.254:4566")
    (asked,) = docker.asked("run")
    assert "image:1" in asked
    assert "host.docker.internal" in asked[-1]


@pytest.mark.parametrize("answer", [{"code": 1, "err": "Name or service not known"}, {"out": "no address"}])
def test_where_containers_have_no_way_here_that_is_said(docker: FakeDocker, answer: dict[str, object]) -> None:
    docker.says("run", **answer)  # type: ignore[arg-type]

    with pytest.raises(RefusalError, match=f"no way to this machine: {re.escape(NOBODYS)}"):
        network_at(docker, NOBODYS).open("image:1")


def test_a_firewall_between_is_noticed_before_any_function_times_out(docker: FakeDocker) -> None:
    network = network_at(docker, NOBODYS)
    reach = Reach(listen="172.30.0.1", seen_as="172.30.0.1", guests="172.30.0.0/16")
    docker.says("run", code=1, err="Traceback\nTimeoutError: timed out")

    with pytest.raises(RefusalError, match=r"(?s)at 172.30.0.1, ports 5432, 4566.*timed out.*ufw allow from 172.30.0.0/16"):
        network.try_out("image:1", reach, [5432, 4566])


def test_its_containers_go_with_it_also_those_that_a_killed_stack_left(docker: FakeDocker, tmp_path: Path) -> None:
    (tmp_path / "build" / "IntakeFunction").mkdir(parents=True)
    (tmp_path / "build" / "SharedLayer").mkdir()
    docker.says("ps --all --quiet --filter network=", "abc\ndef")
    docker.says("ps --all --quiet --filter volume=", "abc\nghi")
    docker.says("rm")
    docker.says("network rm")
    docker.says("run", "192.168.65.254")
    network = network_at(docker, NOBODYS, tmp_path)

    network.open("image:1")

    in_it, by_their_code = docker.asked("ps")
    assert in_it == ["ps", "--all", "--quiet", "--filter", f"network={network.name}"]
    assert by_their_code == ["ps", "--all", "--quiet", "--filter", f"volume={tmp_path / 'build' / 'IntakeFunction'}"]
    assert docker.asked("rm") == [["rm", "--force", "abc", "def", "ghi"]]
    assert docker.asked("network")[:2] == [["network", "rm", network.name], ["network", "create", network.name]]


def test_stacks_in_other_folders_have_networks_of_their_own() -> None:
    engine = Engine("unix:///docker.sock", "x86_64")
    names = {ContainerNetwork(engine, Path(folder)).name for folder in ("/one", "/two", "/two")}

    assert len(names) == 2
