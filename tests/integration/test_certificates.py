"""Whose word is taken for a server: with a wire that speaks TLS, and the certificates that the settings name."""

import json
from pathlib import Path

import pytest

from tests.tls_wire import encrypted
from tests.work_queue import WorkQueue
from tocsin.foundation import aws, connecting
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.foundation.settings import Settings

TRUSTED = OutageReason.STARTING_UP  # what the wire says to whom the handshake was good enough


@pytest.mark.parametrize(
    ("sslmode", "certificates", "host", "reason"),
    [
        ("verify-full", "own", "localhost", TRUSTED),
        ("verify-full", "own", "127.0.0.1", OutageReason.TLS),  # the name is not the certificate's
        ("verify-full", "rds", "localhost", OutageReason.TLS),
        ("verify-ca", "own", "127.0.0.1", TRUSTED),
        ("verify-ca", "rds", "127.0.0.1", OutageReason.TLS),
        ("require", "rds", "127.0.0.1", TRUSTED),
    ],
)
def test_a_server_is_checked_as_far_as_the_mode_says(
    work_queue: WorkQueue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sslmode: str,
    certificates: str,
    host: str,
    reason: OutageReason,
) -> None:
    role = json.dumps({"username": "tocsin_app", "password": "x"})
    secret = aws.client("secretsmanager").create_secret(Name="app", SecretString=role)["ARN"]

    with encrypted(tmp_path) as (port, certificate), pytest.raises(DatabaseUnavailable) as refused:
        monkeypatch.setattr(connecting, "OWN_CERTIFICATES", certificate)
        given = {"database_host": host, "database_port": port, "database_name": "postgres", "database_secret_arn": secret}
        config = Settings.model_validate({**given, "database_sslmode": sslmode, "database_certificates": certificates})
        connecting.connect_in_time(config)

    assert refused.value.reason is reason


def test_own_certificates_that_nobody_brought_are_missed(work_queue: WorkQueue, tmp_path: Path) -> None:
    role = json.dumps({"username": "tocsin_app", "password": "x"})
    secret = aws.client("secretsmanager").create_secret(Name="app", SecretString=role)["ARN"]

    with encrypted(tmp_path) as (port, _), pytest.raises(DatabaseUnavailable) as refused:
        given = {"database_host": "localhost", "database_port": port, "database_name": "postgres", "database_secret_arn": secret}
        connecting.connect_in_time(Settings.model_validate({**given, "database_certificates": "own"}))

    assert refused.value.reason is OutageReason.TLS
