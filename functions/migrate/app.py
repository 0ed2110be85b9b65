"""The door of the deployment: roles, schema, passwords and the first key, before anything else may run."""

import json
import os
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin import aws, bootstrap, deadlines, migrate
from tocsin.connecting import RDS_CERTIFICATES

log = Logger()

SPARE_SECONDS = 20  # for the answer to CloudFormation
ROLE_SECRETS = ("APP_SECRET_ARN", "WORKER_SECRET_ARN", "RETENTION_SECRET_ARN")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """A CloudFormation custom resource. Its answer goes to the ResponseURL; without one (the local stack) it is returned."""
    try:
        with deadlines.within(context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS):
            data = {} if event["RequestType"] == "Delete" else _migrate()
    except Exception as error:
        log.exception("migration failed")
        if not event.get("ResponseURL"):
            raise
        return _answer(event, "FAILED", {}, reason=f"{type(error).__name__}; see log stream {context.log_stream_name}")
    return _answer(event, "SUCCESS", data) if event.get("ResponseURL") else data


def _migrate() -> dict[str, Any]:
    """All of it under one lock, so that two deployments at once take turns."""
    with migrate.alone(_admin_url()) as conn:
        applied = migrate.bring_up_to_date(conn, Path(os.environ["MIGRATIONS_FOLDER"]))
        for name in ROLE_SECRETS:
            secret = _secret(os.environ[name])
            migrate.set_password(conn, secret["username"], secret["password"])
        _make_first_key(conn)
    log.info("migrated", extra={"applied": applied})
    return {"Applied": len(applied)}


def _make_first_key(conn: Connection[Any]) -> None:
    """The first key, once: it goes to its secret and nowhere else."""
    arn, tenant_id = os.environ["ADMIN_KEY_SECRET_ARN"], UUID(os.environ["DEFAULT_TENANT_ID"])
    migrate.act_as_worker(conn)
    bootstrap.make_tenant(conn, tenant_id)
    if aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"].startswith("tcn_"):
        return
    key = bootstrap.make_key(conn, tenant_id=tenant_id, name="first admin key", producer="admin", scopes=["admin", "manage"])
    aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=key)


def _admin_url() -> str:
    env = os.environ
    secret = _secret(env["DATABASE_ADMIN_SECRET_ARN"])
    sslmode = env.get("DATABASE_SSLMODE", "verify-full")
    options = {"sslmode": sslmode} | ({"sslrootcert": str(RDS_CERTIFICATES)} if sslmode == "verify-full" else {})
    user, password = quote(secret["username"], safe=""), quote(secret["password"], safe="")
    host, port, name = env["DATABASE_HOST"], env["DATABASE_PORT"], env["DATABASE_NAME"]
    return f"postgresql://{user}:{password}@{host}:{port}/{name}?{urlencode(options)}"


def _secret(arn: str) -> dict[str, str]:
    secret: dict[str, str] = json.loads(aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])
    return secret


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
