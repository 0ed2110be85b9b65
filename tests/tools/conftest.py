"""An AWS of our own for what `make deploy` asks, on a loopback port."""

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://localhost:{server.get_host_and_port()[1]}"
    server.stop()
