"""Servers that containers must reach listen at the address they are told, and nowhere else."""

import socket
import sys
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devstack.aws import LocalAws
from devstack.declared import Declared
from devstack.providers import Providers
from devstack.state import State

ELSEWHERE = "127.0.0.9"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 is the only address of loopback")


def listens_at(address: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


@pytest.fixture
def state(tmp_path: Path) -> State:
    state = State(tmp_path)
    state.logs.mkdir()
    return state


def test_aws_is_where_it_was_told_to_be_and_says_so_also_after_a_restart(state: State) -> None:
    aws = LocalAws(state, host=ELSEWHERE)
    aws.start()
    try:
        first = urlsplit(aws.url)
        assert (first.hostname, listens_at("127.0.0.1", first.port or 0)) == (ELSEWHERE, False)

        aws.restart()

        assert aws.url == first.geturl()
        assert aws.client("sqs").create_queue(QueueName="orders")["QueueUrl"].endswith("/orders")
    finally:
        aws.stop()


def test_so_is_the_post_office(state: State) -> None:
    providers = Providers(state, host=ELSEWHERE)
    nothing = Declared(**dict.fromkeys((each.name for each in fields(Declared)), ()))  # type: ignore[arg-type]
    providers.open(LocalAws(state), nothing)
    try:
        found = urlsplit(providers.url)
        assert (found.hostname, listens_at(ELSEWHERE, found.port or 0)) == (ELSEWHERE, True)
        assert not listens_at("127.0.0.1", found.port or 0)
    finally:
        providers.stop()
