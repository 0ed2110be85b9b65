"""The deployment's own door: roles, schema, passwords, the first key; and the answer CloudFormation waits for."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from devstack.postgres import Postgres
from tests.functions.cloud_formation import CREATE, MIGRATIONS, ROLES, CloudFormation, request
from tests.functions.doors import Context, handler_of
from tests.world import TENANT
from tocsin.access import key_format
from tocsin.foundation import aws
from tocsin.foundation.settings import settings
from tocsin.upkeep import migrate


def _first_key() -> str:
    value: str = aws.client("secretsmanager").get_secret_value(SecretId="first-key")["SecretString"]
    return value


def _one(server: Postgres, query: str) -> Any:
    with psycopg.connect(server.dsn("installation")) as conn:
        row = conn.execute(query).fetchone()  # type: ignore[call-overload]
        assert row is not None
        return row[0]


def test_the_first_run_makes_schema_passwords_tenant_and_key(server: Postgres, installation: str) -> None:
    answer = handler_of("migrate")(CREATE, Context(600_000))

    assert answer["Applied"] == len(list(MIGRATIONS.glob("0*.sql"))) - len(list(MIGRATIONS.glob("0*.rollback.sql")))
    assert _one(server, "SELECT id FROM tenants") == TENANT
    for role in ROLES:
        assert _one(server, f"SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'tocsin_{role}'")
    key = _first_key()
    assert key_format.is_well_formed(key)
    assert _one(server, "SELECT key_hash FROM api_keys") == key_format.digest(key)
    assert {"admin", "manage"} <= set(_one(server, "SELECT scopes FROM api_keys"))
    assert _one(server, "SELECT (actor, action, resource_id::uuid = api_keys.id)::text FROM audit_logs, api_keys") == (
        "(deployment,create,t)"
    )


def test_the_second_run_changes_nothing(server: Postgres, installation: str) -> None:
    handler_of("migrate")(CREATE, Context(600_000))
    key = _first_key()

    answer = handler_of("migrate")({"RequestType": "Update", "ResponseURL": None}, Context(600_000))

    assert answer["Applied"] == 0
    assert _first_key() == key
    assert (_one(server, "SELECT count(*) FROM api_keys"), _one(server, "SELECT count(*) FROM tenants")) == (1, 1)


def test_after_a_restore_the_door_brings_the_events_in_order_as_often_as_it_is_asked(server: Postgres, installation: str) -> None:
    """Transaction ids of the old server are ahead of this one's: an event with such a number would wait for ever."""
    handler_of("migrate")(CREATE, Context(600_000))
    with psycopg.connect(server.dsn("installation"), autocommit=True) as conn:
        conn.execute(
            """INSERT INTO domain_events (
                   tenant_id, txid, notification_id, event_id, source, type, data, occurred_at, recorded_at, outcome)
               SELECT %s, '999999999', gen_random_uuid(), outcome, '/', 't', '{}', now(), now(), outcome
               FROM unnest('{notified,waiting}'::text[]) AS outcome""",
            [TENANT],
        )

    answers = [handler_of("migrate")({"RequestType": "AfterRestore"}, Context(600_000)) for _ in range(2)]

    assert answers == [{"Applied": 0, "told_events": 1, "waiting_events": 1}] * 2
    assert _one(server, "SELECT array_agg(event_id ORDER BY txid) FROM domain_events") == ["notified", "waiting"]
    assert _one(server, "SELECT max(txid) < pg_snapshot_xmin(pg_current_snapshot()) FROM domain_events")


def test_the_key_is_neither_in_the_answer_nor_in_the_log(
    installation: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answer = handler_of("migrate")(CREATE, Context(600_000))

    told = json.dumps(answer) + capsys.readouterr().out + caplog.text
    assert _first_key() not in told
    assert "own" not in told


def test_cloudformation_is_told_of_success(installation: str, cloud_formation: CloudFormation) -> None:

    handler_of("migrate")(request(cloud_formation.url), Context(600_000))

    (told,) = cloud_formation.answers
    assert (told["Status"], told["StackId"], told["RequestId"], told["LogicalResourceId"]) == (
        "SUCCESS",
        "stack",
        "request",
        "Migration",
    )
    assert told["PhysicalResourceId"]


def test_cloudformation_is_told_of_failure_without_a_secret(
    installation: str, cloud_formation: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PORT", "1")
    settings.cache_clear()

    handler_of("migrate")(request(cloud_formation.url), Context(600_000))

    (told,) = cloud_formation.answers
    assert told["Status"] == "FAILED"
    assert "stream" in told["Reason"]
    assert "password" not in json.dumps(told)


def test_taking_the_stack_down_keeps_the_data(server: Postgres, installation: str, cloud_formation: CloudFormation) -> None:
    handler_of("migrate")(CREATE, Context(600_000))

    handler_of("migrate")(request(cloud_formation.url, "Delete"), Context(600_000))

    assert cloud_formation.answers[0]["Status"] == "SUCCESS"
    assert _one(server, "SELECT count(*) FROM tenants") == 1


def test_without_anyone_waiting_a_failure_is_an_error(installation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PORT", "1")
    settings.cache_clear()

    with pytest.raises(psycopg.OperationalError):
        handler_of("migrate")(CREATE, Context(600_000))


def test_two_deployments_at_once_take_turns(server: Postgres, installation: str) -> None:
    ends: list[Any] = []
    run: Callable[[], None] = lambda: ends.append(handler_of("migrate")(CREATE, Context(600_000))["Applied"])  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(ends)[0] == 0
    assert len(ends) == 2
    assert (_one(server, "SELECT count(*) FROM tenants"), _one(server, "SELECT count(*) FROM api_keys")) == (1, 1)


def test_a_deployment_that_finds_another_one_under_way_for_too_long_fails_and_says_so(
    server: Postgres,
    installation: str,
    cloud_formation: CloudFormation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(migrate, "PATIENCE", timedelta(0))

    with migrate.alone(server.dsn("installation")):
        handler_of("migrate")(request(cloud_formation.url), Context(600_000))

    assert cloud_formation.answers[0]["Status"] == "FAILED"
    assert cloud_formation.answers[0]["Reason"].startswith("MigrationUnderWay")
