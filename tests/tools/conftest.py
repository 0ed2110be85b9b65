"""An account for what `make deploy` asks: moto, and a CloudFormation of our own, since moto's needs packages by the dozen."""

import os
from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

from tests.tools.cloudformation import CloudFormation, running
from tools import deploy_checks


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudFormation]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    monkeypatch.setattr(deploy_checks, "look_at_ipv6", lambda *_: None)  # it asks a real name server
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with running() as service:
        given = {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "CONFIG_FILE": os.devnull, "SHARED_CREDENTIALS_FILE": os.devnull}
        urls = {"ENDPOINT_URL": f"http://localhost:{server.get_host_and_port()[1]}", "ENDPOINT_URL_CLOUDFORMATION": service.url}
        for name, value in {**given, **urls}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield service
    server.stop()
