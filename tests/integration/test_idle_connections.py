"""Connections that nobody uses any more, such as those of environments that a deployment has replaced: the server ends them."""

import json

import pytest

from devstack.postgres import Postgres
from tests.work_queue import WorkQueue
from tests.world import World
from tocsin.foundation import aws, connecting, database
from tocsin.foundation.database import run
from tocsin.foundation.settings import Settings


@pytest.mark.parametrize(("prepared", "ends_after"), [(True, "5min"), (False, "0")])
def test_the_server_is_told_to_end_them_unless_they_are_the_proxys(
    server: Postgres, work_queue: WorkQueue, prepared: bool, ends_after: str
) -> None:
    secret = aws.client("secretsmanager").create_secret(
        Name="role", SecretString=json.dumps({"username": "postgres", "password": "x"})
    )
    place = {"database_host": "127.0.0.1", "database_port": server.port, "database_name": "postgres"}
    how = {"database_secret_arn": secret["ARN"], "database_sslmode": "disable", "database_prepared": prepared}

    with connecting.connect(Settings.model_validate({**place, **how})) as conn:
        assert conn.execute("SHOW idle_session_timeout").fetchone() == (ends_after,)


def test_a_connection_that_the_server_may_have_ended_is_tried_before_it_is_used() -> None:
    assert database._STALE_AFTER < connecting.IDLE_SECONDS


def test_one_that_the_server_has_ended_is_replaced_unnoticed(world: World) -> None:
    def be_idle(conn: object) -> int:
        conn.execute("SET idle_session_timeout = '10ms'")  # type: ignore[attr-defined]
        return int(conn.info.backend_pid)  # type: ignore[attr-defined]

    before = run(be_idle)
    while world.rows(f"SELECT 1 FROM pg_stat_activity WHERE pid = {before}"):
        pass

    assert run(lambda conn: conn.execute("SELECT pg_backend_pid()").fetchone()) != (before,)
