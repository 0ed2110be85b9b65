"""A network of Docker's for our containers alone: by it they reach this machine, and by it they are found again."""

import hashlib
import json
import socket
from contextlib import suppress
from ipaddress import IPv4Address, ip_network
from pathlib import Path

from devstack.reach import LOOPBACK, Reach
from devstack.sam_local.docker_engine import Engine, EngineError
from devstack.state import RefusalError

DESKTOP = "host.docker.internal"  # how Docker Desktop and its like call the machine that they run on
LOOK_UP = f"import socket; print(socket.gethostbyname('{DESKTOP}'))"
CONNECT = "import socket, sys; [socket.create_connection((sys.argv[1], int(port)), 5).close() for port in sys.argv[2:]]"


class ContainerNetwork:
    """Its name follows from the state folder, so that the next stack there finds what a killed one left."""

    def __init__(self, engine: Engine, state_folder: Path) -> None:
        self._engine = engine
        self._built = state_folder / "build"
        self.name = f"tocsin-sam-local-{hashlib.sha256(str(state_folder).encode()).hexdigest()[:8]}"

    def open(self, image: str) -> Reach:
        """Make it, and find out how containers in it reach this machine."""
        self.close()
        self._engine.run("network", "create", self.name)
        gateway, subnet = self._addresses()
        if _is_of_this_machine(gateway):
            return Reach(listen=gateway, seen_as=gateway, guests=subnet)
        # The engine is in a machine of its own, which passes connections on to our loopback.
        try:
            return Reach(listen=LOOPBACK, seen_as=str(IPv4Address(self._python(image, LOOK_UP).strip())))
        except (EngineError, ValueError) as error:
            raise RefusalError(
                f"Containers have no way to this machine: {gateway} is no address of it, and they do not know {DESKTOP}.\n{error}"
            ) from error

    def try_out(self, image: str, reach: Reach, ports: list[int]) -> None:
        """Connect from a container, now: a function would only say that it timed out."""
        try:
            self._python(image, CONNECT, reach.seen_as, *map(str, ports))
        except EngineError as error:
            guests = reach.guests or "the containers"
            raise RefusalError(
                f"A container cannot connect to this machine at {reach.seen_as}, ports {', '.join(map(str, ports))}.\n"
                f"{str(error).splitlines()[-1]}\n"
                f"Most often a firewall is in the way; with ufw: sudo ufw allow from {guests} to {reach.seen_as}"
            ) from error

    def close(self) -> None:
        """Remove our containers, and the network."""
        if left := self._containers():
            with suppress(EngineError):  # one that ends in this moment
                self._engine.run("rm", "--force", *left)
        with suppress(EngineError):  # there is none
            self._engine.run("network", "rm", self.name)

    def _containers(self) -> list[str]:
        """Those in it, and those that sam has made and not yet put into it, which are known by the code that they were given."""
        mounted = [f"volume={folder}" for folder in sorted(self._built.glob("*Function"))]
        found = self._ps(f"network={self.name}") | (self._ps(*mounted) if mounted else set())
        return sorted(found)

    def _ps(self, *filters: str) -> set[str]:
        return set(self._engine.run("ps", "--all", "--quiet", *(part for each in filters for part in ("--filter", each))).split())

    def _addresses(self) -> tuple[str, str]:
        (found,) = json.loads(self._engine.run("network", "inspect", self.name))
        configured = [each for each in found["IPAM"]["Config"] if ip_network(each["Subnet"]).version == 4]
        return configured[0]["Gateway"], configured[0]["Subnet"]

    def _python(self, image: str, code: str, *arguments: str) -> str:
        inside = ("--network", self.name, "--entrypoint", "python3", image, "-c", code)
        return self._engine.run("run", "--rm", *inside, *arguments)


def _is_of_this_machine(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
