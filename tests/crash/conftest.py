"""The ground of the crash tests: one template database with people in it, SQS, and a post office for each test."""

import os
import sys
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path

import boto3
import psycopg
import pytest
from moto.server import ThreadedMotoServer
from psycopg import sql

from devstack.post_office import PostOffice
from devstack.postgres import Postgres
from tests.crash.site import Ground, Site, new_site
from tests.crash.traffic import PEOPLE
from tests.world import World


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture(scope="session")
def fork_server() -> None:
    """The process that has imported everything and from which children are forked. It finds modules where we do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()


@pytest.fixture(scope="session")
def ground(server: Postgres, template: str, aws_url: str, fork_server: None) -> Ground:
    name = "crash_template"
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    world = World(lambda role: server.dsn(name, role))
    for person, phone in PEOPLE.items():
        world.add_user(person, phone=phone)
    key = world.add_key("send")
    world.close()
    sqs = boto3.client(
        "sqs", endpoint_url=aws_url, region_name="eu-central-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    return Ground(server, name, key, aws_url, sqs)


@pytest.fixture
def requests() -> list[str]:
    """The channel of every HTTP request that reached the post office, in order."""
    return []


@pytest.fixture
def office(tmp_path: Path, requests: list[str]) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite3", on_request=requests.append) as office:
        office.events.steer("drop")
        yield office


@pytest.fixture(scope="session")
def kept_site(ground: Ground) -> Iterator[Site]:
    with new_site(ground) as site:
        yield site


@pytest.fixture
def site(kept_site: Site, office: PostOffice, tmp_path: Path) -> Site:
    """A place as on the first day, with this test's own post office."""
    kept_site.office, kept_site.log = office, tmp_path / "children.log"
    kept_site.renew()
    return kept_site
