"""Why the database cannot be used: what servers, proxies and libpq say, each in one word of ours."""

import pytest

from tests.unit.source import ROOT
from tocsin.foundation import outages
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason

AT = 'connection failed: connection to server at "10.0.0.7", port 5432 failed: '
SAID = [
    ("failed to resolve host 'db.example': [Errno -2] Name or service not known", OutageReason.NAME_RESOLUTION),
    ('could not translate host name "db.example" to address: Temporary failure', OutageReason.NAME_RESOLUTION),
    (f"{AT}Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?", OutageReason.REFUSED),
    (f"{AT}No route to host", OutageReason.UNREACHABLE),
    (f"{AT}Network is unreachable", OutageReason.UNREACHABLE),
    (f"{AT}Connection timed out", OutageReason.TIMEOUT),
    ("connection timeout expired", OutageReason.TIMEOUT),
    (f"{AT}server does not support SSL, but SSL was required", OutageReason.TLS),
    (f"{AT}SSL error: certificate verify failed", OutageReason.TLS),
    (f'{AT}server certificate for "other" (and 1 other name) does not match host name "db.example"', OutageReason.TLS),
    (f'{AT}root certificate file "/opt/x.pem" does not exist', OutageReason.TLS),
    (f"{AT}SSL error: tlsv1 alert protocol version", OutageReason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", no encryption', OutageReason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", SSL off', OutageReason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", SSL encryption', OutageReason.NOT_ALLOWED),
    (f'{AT}FATAL:  role "tocsin_app" is not permitted to log in', OutageReason.NOT_ALLOWED),
    (f'{AT}FATAL:  role "tocsin_app" does not exist', OutageReason.NOT_ALLOWED),
    (f'{AT}FATAL:  password authentication failed for user "tocsin_app"', OutageReason.PASSWORD),
    (f"{AT}fe_sendauth: no password supplied", OutageReason.PASSWORD),
    (f"{AT}FATAL:  This RDS proxy has no credentials for the role tocsin_app. Check the credentials", OutageReason.PASSWORD),
    (f'{AT}FATAL:  database "tocsin" does not exist', OutageReason.NO_DATABASE),
    (f"{AT}FATAL:  sorry, too many clients already", OutageReason.TOO_MANY_CONNECTIONS),
    (f'{AT}FATAL:  too many connections for role "tocsin_app"', OutageReason.TOO_MANY_CONNECTIONS),
    (f'{AT}FATAL:  too many connections for database "tocsin"', OutageReason.TOO_MANY_CONNECTIONS),
    (
        f"{AT}FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
        OutageReason.TOO_MANY_CONNECTIONS,
    ),
    (f"{AT}FATAL:  Timed-out waiting to acquire database connection", OutageReason.TOO_MANY_CONNECTIONS),
    (f"{AT}FATAL:  the database system is starting up", OutageReason.STARTING_UP),
    (f"{AT}FATAL:  the database system is not yet accepting connections", OutageReason.STARTING_UP),
    (f"{AT}FATAL:  the database system is in recovery mode", OutageReason.STARTING_UP),
    (f"{AT}FATAL:  the database system is shutting down", OutageReason.SHUTTING_DOWN),
    ("consuming input failed: server closed the connection unexpectedly", OutageReason.LOST),
    ("consuming input failed: SSL SYSCALL error: EOF detected", OutageReason.LOST),
    ("consuming input failed: SSL connection has been closed unexpectedly", OutageReason.LOST),
    ("consuming input failed: could not receive data from server: Connection timed out", OutageReason.TIMEOUT),
    ("the connection is closed", OutageReason.LOST),
    ("", OutageReason.LOST),
]


@pytest.mark.parametrize(("said", "reason"), SAID, ids=[said[-40:] for said, _ in SAID])
def test_without_a_state_the_words_decide(said: str, reason: OutageReason) -> None:
    assert outages.by_words(said) is reason


@pytest.mark.parametrize(
    ("sqlstate", "reason"),
    [
        ("08006", OutageReason.LOST),
        ("25006", OutageReason.READ_ONLY),
        ("25P03", OutageReason.LOST),
        ("28P01", OutageReason.PASSWORD),
        ("28000", OutageReason.NOT_ALLOWED),
        ("3D000", OutageReason.NO_DATABASE),
        ("40P01", OutageReason.LOCKED),
        ("53100", OutageReason.DISK_FULL),
        ("53200", OutageReason.OUT_OF_RESOURCES),
        ("53300", OutageReason.TOO_MANY_CONNECTIONS),
        ("55P03", OutageReason.LOCKED),
        ("57014", OutageReason.TIMEOUT),
        ("57P01", OutageReason.SHUTTING_DOWN),
        ("57P02", OutageReason.LOST),
        ("57P03", OutageReason.STARTING_UP),
        ("58030", OutageReason.STORAGE),
    ],
)
def test_a_state_of_the_server_is_its_own_reason(sqlstate: str, reason: OutageReason) -> None:
    assert outages.by_state(sqlstate) is reason


@pytest.mark.parametrize("sqlstate", ["23505", "22P02", "42P01", "54000", "25P02", "XX000", "P0001", "55000"])
def test_a_mistake_of_ours_is_not_called_an_outage(sqlstate: str) -> None:
    assert outages.by_state(sqlstate) is None


def test_what_is_logged_is_the_reason_and_the_kind_of_error_but_not_its_words() -> None:
    error = DatabaseUnavailable(OutageReason.PASSWORD)
    error.__cause__ = ValueError("hunter2")

    assert error.said == {"reason": "password", "error": "ValueError"}


def test_the_operators_page_says_what_to_do_about_every_reason() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()

    assert [reason for reason in OutageReason if f"`{reason}`" not in page] == []
