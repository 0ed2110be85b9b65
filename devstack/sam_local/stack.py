"""The local stack with its functions in SAM's containers: servers, pollers and schedules are ours, Lambda and HTTP are SAM's."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from devstack.declared import Declared
from devstack.gateway import Gateway
from devstack.reach import Reach
from devstack.sam_local.container_network import ContainerNetwork
from devstack.sam_local.pool import SamPool
from devstack.sam_local.servers import SamServers, Server
from devstack.stack import Stack
from devstack.state import State
from devstack.watch import Watched


class SamStack(Stack):
    """Its gateway has the local pages only: SAM's own routes are what is to be tried."""

    def __init__(
        self,
        root: Path,
        state: State,
        *,
        parameters: Mapping[str, str],
        say: Callable[[str], None],
        reach: Reach,
        sam: SamServers,
        network: ContainerNetwork,
        image: str,
    ) -> None:
        super().__init__(root, state, parameters=parameters, say=say, make_pool=partial(SamPool, sam=sam), reach=reach)
        self._sam = sam
        self._network = network
        self._image = image

    def _make_pools(self, declared: Declared) -> None:
        self._say(f"A container's way to this machine ({self._reach.seen_as})")
        urls = (self._aws.url, self._providers.url)
        ports = [self._postgres.port, *(int(url.rpartition(":")[2]) for url in urls)]
        self._network.try_out(self._image, self._reach, ports)
        super()._make_pools(declared)
        self._cleanup.callback(self._sam.stop)
        self._say("sam local start-lambda, sam local start-api")
        self._sam.start({name: pool.variables for name, pool in self._pools.items() if isinstance(pool, SamPool)})
        self._give_up_if_asked()

    def force_stop(self) -> None:
        """Containers are no children of ours and would outlive us."""
        super().force_stop()
        self._sam.kill()

    def _log_of(self, function: str) -> Path:
        """Sam writes what all of them say into one."""
        return self._sam.functions.log

    def _watched(self) -> tuple[Watched, ...]:
        return (*super()._watched(), _watched(self._sam.functions), _watched(self._sam.api))

    def _api_url(self, gateway: Gateway) -> str:
        return self._sam.api_url

    def _route(self, declared: Declared, gateway: Gateway) -> None:
        """Nothing: SAM does."""


def _watched(server: Server) -> Watched:
    return Watched(f"sam local {server.command}", lambda: server.is_alive, server.start)
