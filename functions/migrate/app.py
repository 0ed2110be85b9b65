"""The door of the deployment: roles, schema, passwords and the first key, before anything else may run."""

import json
import urllib.request
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from tocsin.foundation import aws, connecting, deadlines, secrets
from tocsin.foundation.settings import settings
from tocsin.upkeep import after_restore, bootstrap, migrate, migration_failures

log = Logger()

SPARE_SECONDS = 20  # for the answer to CloudFormation


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """A CloudFormation custom resource. Its answer goes to the ResponseURL; without one (the local stack) it is returned."""
    try:
        with deadlines.within(context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS):
            data = _WORK[event["RequestType"]]()
    except Exception as error:
        log.exception("migration failed")
        if not event.get("ResponseURL"):
            raise
        log_is_at = f"log group {context.log_group_name}, stream {context.log_stream_name}"
        return _answer(event, "FAILED", {}, reason=f"{migration_failures.in_one_line(error)}; see {log_is_at}")
    return _answer(event, "SUCCESS", data) if event.get("ResponseURL") else data


def _migrate() -> dict[str, Any]:
    """All of it under one lock, so that two deployments at once take turns."""
    config = settings()
    with migrate.alone(_admin_url()) as conn:
        applied = migrate.bring_up_to_date(conn, Path(config.migrations_folder))
        for arn in (config.app_secret_arn, config.worker_secret_arn, config.retention_secret_arn):
            secret = _secret(arn)
            migrate.set_password(conn, secret["username"], secret["password"])
        _make_first_key(conn)
    log.info("migrated", extra={"applied": applied})
    return {"Applied": len(applied)}


def _after_restore() -> dict[str, Any]:
    """Called by whoever has restored a dump (docs/restoring.md), never by CloudFormation."""
    applied = _migrate()
    with migrate.alone(_admin_url()) as conn:
        restored = after_restore.bring_in_order(conn)
    log.info("brought in order after a restore", extra=asdict(restored))
    return applied | asdict(restored)


def _make_first_key(conn: Connection[Any]) -> None:
    """The first key, once: it goes to its secret and nowhere else."""
    config = settings()
    arn, tenant_id = config.admin_key_secret_arn, config.first_tenant_id
    migrate.act_as_worker(conn)
    bootstrap.make_tenant(conn, tenant_id)
    if secrets.read(arn).startswith("tcn_"):
        return
    key = bootstrap.make_key(conn, tenant_id=tenant_id, name="first admin key", producer="admin", scopes=["admin", "manage"])
    aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=key)


def _admin_url() -> str:
    config = settings()
    return make_conninfo(**connecting.address(config, config.database_admin_secret_arn))


def _secret(arn: str) -> dict[str, str]:
    secret: dict[str, str] = json.loads(secrets.read(arn))
    return secret


_WORK: dict[str, Callable[[], dict[str, Any]]] = {
    "Create": _migrate,
    "Update": _migrate,
    "Delete": dict,
    "AfterRestore": _after_restore,
}


def _answer(event: dict[str, Any], status: str, data: dict[str, Any], *, reason: str = "") -> dict[str, Any]:
    body = {
        "Status": status,
        "Reason": reason or "done",
        "PhysicalResourceId": event.get("PhysicalResourceId", "tocsin-schema"),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": data,
    }
    request = urllib.request.Request(  # noqa: S310 - CloudFormation's own presigned URL
        event["ResponseURL"], data=json.dumps(body).encode(), method="PUT", headers={"Content-Type": ""}
    )
    urllib.request.urlopen(request, timeout=10).close()  # noqa: S310
    return body
