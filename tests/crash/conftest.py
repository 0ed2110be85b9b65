"""The ground of the crash tests: one template database with people in it, SQS, and a post office for each test."""

import os
import sys
import threading
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path

import boto3
import psycopg
import pytest
from psycopg import sql
from werkzeug.exceptions import NotFound
from werkzeug.serving import WSGIRequestHandler, make_server

from devstack.post_office import PostOffice
from devstack.postgres import Postgres
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.queues import Queues
from devstack.sqs.wire import SqsWire
from tests.crash.site import Ground, Site, new_site
from tests.crash.traffic import PEOPLE
from tests.world import World


@pytest.fixture(scope="session")
def aws_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The local stack's SQS and nothing else of AWS: nine in ten of what is asked here is whether a queue is empty."""
    file = QueueFile(tmp_path_factory.mktemp("sqs") / "sqs.sqlite3")
    server = make_server("127.0.0.1", 0, SqsWire(Queues(file), NotFound()), threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
    file.close()


class _Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_: object) -> None:
        pass


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
