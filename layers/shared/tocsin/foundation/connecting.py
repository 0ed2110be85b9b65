"""Connecting: a new connection to Postgres before the deadline, or the reason why there is none."""

import json
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.foundation import deadlines, notices, outages, secrets
from tocsin.foundation.deadlines import BoundedConnection
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.foundation.settings import Settings

RDS_CERTIFICATES = Path(__file__).with_name("rds-certificates.pem")
# Seconds until the server ends a connection that nobody uses: a function that has new code leaves its old environments frozen,
# each with one. More than database._STALE_AFTER, so that whoever may find theirs gone looks first.
IDLE_SECONDS = 300
OWN_CERTIFICATES = Path(__file__).with_name("own-certificates.pem")  # there where whoever deploys has put it

log = Logger(child=True)


def connect(config: Settings) -> Connection[Any]:
    """A new connection. Never inside a transaction of its own (autocommit): transactions are opened by name."""
    if config.tocsin_database_url:
        return _connect(config, {})
    where = address(config, config.database_secret_arn)
    try:
        return _connect(config, where)
    except psycopg.OperationalError as error:
        before = _password_before(config, error)
        if before is None:
            raise
    log.warning("the database still has the password of before: run the migration, which gives it the new one")
    return _connect(config, where | {"password": before})


def _connect(config: Settings, where: dict[str, Any]) -> Connection[Any]:
    conn = BoundedConnection.connect(
        config.tocsin_database_url or "",
        **where,
        connect_timeout=3,
        tcp_user_timeout=5000,  # milliseconds until packets that nobody acknowledges end the connection
        application_name="tocsin",
        autocommit=True,
        prepare_threshold=2 if config.database_prepared else None,
    )
    notices.listen(conn)
    return conn


def address(config: Settings, secret_arn: str) -> dict[str, Any]:
    """Where the database is, and how to come in as the role that this secret is of."""
    username, password = _read_secret(secret_arn)
    authorities = OWN_CERTIFICATES if config.database_certificates == "own" else RDS_CERTIFICATES
    return {
        "host": config.database_host,
        "port": config.database_port,
        "dbname": config.database_name,
        "user": username,
        "password": password,
        "sslmode": config.database_sslmode,
        # Behind the proxy the connection is not ours to end, and an option would pin it.
        "options": f"-c idle_session_timeout={IDLE_SECONDS}s" if config.database_prepared else None,
        "sslrootcert": str(authorities) if config.database_sslmode.startswith("verify-") else None,
    }


def connect_in_time(config: Settings) -> Connection[Any]:
    """The same before the deadline. A thread waits for it and may be left behind: neither a name server nor the store of secrets
    knows our deadline, and each address of the server has a time limit of its own."""
    made: Future[Connection[Any]] = Future()
    Thread(target=_offer, args=(made, config), daemon=True).start()
    try:
        return made.result(max(0.0, min(deadlines.LONGEST_WAIT, deadlines.time_left())))
    except TimeoutError as error:
        if not made.cancel():
            return made.result()  # it came in the last moment
        raise DatabaseUnavailable(OutageReason.TIMEOUT) from error
    except psycopg.Error as error:
        raise DatabaseUnavailable(reason_of(error) or OutageReason.LOST) from error


def reason_of(error: psycopg.Error) -> OutageReason | None:
    """Why the database is unavailable; None when it is not, and the statement was at fault."""
    if error.sqlstate:
        return outages.by_state(error.sqlstate)
    return outages.by_words(str(error)) if isinstance(error, psycopg.OperationalError) else None


def _password_before(config: Settings, error: psycopg.OperationalError) -> str | None:
    """The one that the secret had before, if that may be wanted: a new value is in the secret before it is in Postgres."""
    if reason_of(error) is not OutageReason.PASSWORD:
        return None
    try:
        text = secrets.previous(config.database_secret_arn)
        return str(json.loads(text)["password"]) if text else None
    except (SecretUnavailable, ValueError, TypeError, KeyError):
        return None


def _offer(made: Future[Connection[Any]], config: Settings) -> None:
    try:
        conn = connect(config)
    except Exception as error:
        with suppress(InvalidStateError):  # nobody waits for it any more
            made.set_exception(error)
        return
    try:
        made.set_result(conn)
    except InvalidStateError:
        conn.close()


def _read_secret(arn: str) -> tuple[str, str]:
    # Read at each connect, so that a rotated password is found by the next connection.
    try:
        secret = json.loads(secrets.read(arn))
        return str(secret["username"]), str(secret["password"])
    except SecretUnavailable as error:  # what keeps the password from us keeps the database from us
        raise DatabaseUnavailable(OutageReason.SECRET) from error.__cause__
    except (ValueError, TypeError, KeyError) as error:
        raise DatabaseUnavailable(OutageReason.SECRET) from error
