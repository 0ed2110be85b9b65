"""The functions speak to the database that they mean, by TLS and with their passwords, or to none."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from devstack.certificates import Authority
from devstack.children import Child
from devstack.emulation import BUNDLE, HOST
from devstack.launch import RunningStack
from tests.e2e.client import Client
from tests.lambda_runtime.functions import another, layer_of, linked


@contextmanager
def relay(stack: RunningStack, folder: Path, authority: Authority, name: str) -> Iterator[str]:
    """Another way to the stack's database, which calls itself by this name; yields its port."""
    authority.certify(name, folder / "server.pem")
    port = str(urlsplit(stack.dev["database_url"]).port)
    arguments = ("--certificate", str(folder / "server.pem"), "--to", port)
    child = Child.module("devstack.tls_relay", *arguments, log=folder / "relay.log", stdout=subprocess.PIPE)
    try:
        yield child.first_line()
    finally:
        child.kill()


def layer_that_trusts(authority: Authority, stack: RunningStack, folder: Path) -> Path:
    """The functions' layer by links, with a bundle of certificates that has this authority too."""
    layer = layer_of(stack, "SweepFunction")
    linked(layer, folder, but=BUNDLE)
    (folder / BUNDLE).write_bytes((layer / BUNDLE).read_bytes() + b"\n" + authority.pem)
    return folder


@pytest.mark.parametrize(
    ("is_trusted", "name", "said"),
    [
        (True, HOST, None),
        (False, HOST, "certificate verify failed"),
        (True, "db.example.com", 'does not match host name "localhost"'),
    ],
    ids=["the right one", "another authority", "another name"],
)
def test_a_server_is_believed_by_its_authority_and_its_name(
    running_stack: RunningStack, tmp_path: Path, is_trusted: bool, name: str, said: str | None
) -> None:
    authority = Authority.make("Of this test")
    layer = layer_that_trusts(authority if is_trusted else Authority.make("Somebody else"), running_stack, tmp_path / "layer")

    with relay(running_stack, tmp_path, authority, name) as port:
        with another(running_stack, "SweepFunction", tmp_path / "sweep.log", layer=layer, DATABASE_PORT=port) as sweep:
            swept = sweep.invoke({})
        with another(running_stack, "MigrateFunction", tmp_path / "log", layer=layer, DATABASE_PORT=port) as migrate:
            migrated = migrate.invoke({"RequestType": "Update"})

    if said is None:
        assert (swept.error, migrated.error, migrated.result) == (None, None, {"Applied": 0})
    else:
        assert swept.error
        assert migrated.error
        assert (swept.error["errorType"], migrated.error["errorType"]) == ("DatabaseUnavailable", "OperationalError")
        assert said in migrated.error["errorMessage"]


def test_nobody_gets_in_without_tls(running_stack: RunningStack, tmp_path: Path) -> None:
    with another(running_stack, "MigrateFunction", tmp_path / "log", DATABASE_SSLMODE="disable") as migrate:
        outcome = migrate.invoke({"RequestType": "Update"})

    assert outcome.error
    assert "no encryption" in outcome.error["errorMessage"]


def test_nobody_gets_in_with_another_password(running_stack: RunningStack, tmp_path: Path) -> None:
    client = Client.of(running_stack)
    login = json.dumps({"username": "tocsin_owner", "password": "another"})
    secret = client.aws("secretsmanager").create_secret(Name=uuid4().hex, SecretString=login)["ARN"]

    told = {"DATABASE_ADMIN_SECRET_ARN": secret}
    with another(running_stack, "MigrateFunction", tmp_path / "log", **told) as migrate:
        by_its_role = migrate.invoke({"RequestType": "Update"})
    with another(running_stack, "MigrateFunction", tmp_path / "log", **told, AWS_ACCESS_KEY_ID="test") as migrate:
        by_whoever_may_read_it = migrate.invoke({"RequestType": "Update"})

    assert by_its_role.error
    assert by_its_role.error["errorType"] == "DatabaseUnavailable", "the role may read the owner's secret, and not this one"
    assert by_whoever_may_read_it.error
    assert "password authentication failed" in by_whoever_may_read_it.error["errorMessage"]
