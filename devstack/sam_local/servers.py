"""`sam local start-api` and `start-lambda`: HTTP goes to the one, queues and schedules invoke by the other."""

import json
import os
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from devstack.children import Child, ChildError
from devstack.sam_local.container_network import ContainerNetwork

START_SECONDS = 60.0
STOP_SECONDS = 8.0  # for sam to remove its containers, one after the other; what is left then, we remove
Variables = Mapping[str, Mapping[str, str]]  # of each function


class Server:
    """One of the two; it comes back at the same port."""

    def __init__(self, command: str, port: int, options: list[str], log: Path) -> None:
        self.command = command
        self.port = port
        self._arguments = ["local", command, "--host", "127.0.0.1", "--port", str(port), *options]
        self.log = log
        self._child: Child | None = None

    @property
    def is_alive(self) -> bool:
        return self._child is not None and self._child.returncode is None

    def start(self) -> None:
        self._child = Child.module("samcli", *self._arguments, log=self.log)
        deadline = time.monotonic() + START_SECONDS
        while not _answers(self.port):
            if not self.is_alive or time.monotonic() > deadline:
                raise ChildError(f"sam local {self.command} did not start:\n{self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """By SIGTERM, upon which sam removes its containers."""
        if self._child:
            self._child.stop(STOP_SECONDS)

    def kill(self) -> None:
        if self._child:
            self._child.kill()


class SamServers:
    """Both, on one set of variables and in one network. A function has one container in each that stays once it is there."""

    def __init__(self, template: Path, network: ContainerNetwork, *, port: int, folder: Path, logs: Path) -> None:
        self._network = network
        self._stopping = threading.Lock()
        self.is_stopping = False
        self._variables = folder / "env.json"
        options = [
            *("--template", str(template), "--env-vars", str(self._variables), "--docker-network", network.name),
            *("--warm-containers", "LAZY", "--skip-pull-image", "--no-watch"),
        ]
        self.api = Server("start-api", port, options, logs / "sam-api.log")
        self.functions = Server("start-lambda", free_port(), options, logs / "sam-lambda.log")

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.api.port}"

    @property
    def lambda_url(self) -> str:
        return f"http://127.0.0.1:{self.functions.port}"

    def start(self, variables: Variables) -> None:
        with os.fdopen(os.open(self._variables, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(variables, file, indent=2)
        for server in (self.functions, self.api):
            server.start()

    def stop(self) -> None:
        """End both, and whatever container is left; every pool asks for it."""
        with self._stopping:
            if not self.is_stopping:
                self.is_stopping = True
                with ThreadPoolExecutor(max_workers=2) as both:
                    list(both.map(Server.stop, (self.api, self.functions)))
                self._network.close()

    def kill(self) -> None:
        """End both at once, and remove the containers ourselves."""
        for server in (self.api, self.functions):
            server.kill()
        self._network.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
