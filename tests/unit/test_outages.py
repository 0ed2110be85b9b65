"""Why the database cannot be used: what servers, proxies and libpq say, each in one word of ours."""

import pytest

from tests.unit.source import ROOT
from tocsin import outages
from tocsin.outages import DatabaseUnavailable, Reason

AT = 'connection failed: connection to server at "10.0.0.7", port 5432 failed: '
SAID = [
    ("failed to resolve host 'db.example': [Errno -2] Name or service not known", Reason.NAME_RESOLUTION),
    ('could not translate host name "db.example" to address: Temporary failure', Reason.NAME_RESOLUTION),
    (f"{AT}Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?", Reason.REFUSED),
    (f"{AT}No route to host", Reason.UNREACHABLE),
    (f"{AT}Network is unreachable", Reason.UNREACHABLE),
    (f"{AT}Connection timed out", Reason.TIMEOUT),
    ("connection timeout expired", Reason.TIMEOUT),
    (f"{AT}server does not support SSL, but SSL was required", Reason.TLS),
    (f"{AT}SSL error: certificate verify failed", Reason.TLS),
    (f'{AT}server certificate for "other" (and 1 other name) does not match host name "db.example"', Reason.TLS),
    (f'{AT}root certificate file "/opt/x.pem" does not exist', Reason.TLS),
    (f"{AT}SSL error: tlsv1 alert protocol version", Reason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", no encryption', Reason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", SSL off', Reason.TLS),
    (f'{AT}FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "a", database "b", SSL encryption', Reason.NOT_ALLOWED),
    (f'{AT}FATAL:  role "tocsin_app" is not permitted to log in', Reason.NOT_ALLOWED),
    (f'{AT}FATAL:  role "tocsin_app" does not exist', Reason.NOT_ALLOWED),
    (f'{AT}FATAL:  password authentication failed for user "tocsin_app"', Reason.PASSWORD),
    (f"{AT}fe_sendauth: no password supplied", Reason.PASSWORD),
    (f"{AT}FATAL:  This RDS proxy has no credentials for the role tocsin_app. Check the credentials", Reason.PASSWORD),
    (f'{AT}FATAL:  database "tocsin" does not exist', Reason.NO_DATABASE),
    (f"{AT}FATAL:  sorry, too many clients already", Reason.TOO_MANY_CONNECTIONS),
    (f'{AT}FATAL:  too many connections for role "tocsin_app"', Reason.TOO_MANY_CONNECTIONS),
    (f'{AT}FATAL:  too many connections for database "tocsin"', Reason.TOO_MANY_CONNECTIONS),
    (f"{AT}FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", Reason.TOO_MANY_CONNECTIONS),
    (f"{AT}FATAL:  Timed-out waiting to acquire database connection", Reason.TOO_MANY_CONNECTIONS),
    (f"{AT}FATAL:  the database system is starting up", Reason.STARTING_UP),
    (f"{AT}FATAL:  the database system is not yet accepting connections", Reason.STARTING_UP),
    (f"{AT}FATAL:  the database system is in recovery mode", Reason.STARTING_UP),
    (f"{AT}FATAL:  the database system is shutting down", Reason.SHUTTING_DOWN),
    ("consuming input failed: server closed the connection unexpectedly", Reason.LOST),
    ("consuming input failed: SSL SYSCALL error: EOF detected", Reason.LOST),
    ("consuming input failed: SSL connection has been closed unexpectedly", Reason.LOST),
    ("consuming input failed: could not receive data from server: Connection timed out", Reason.TIMEOUT),
    ("the connection is closed", Reason.LOST),
    ("", Reason.LOST),
]


@pytest.mark.parametrize(("said", "reason"), SAID, ids=[said[-40:] for said, _ in SAID])
def test_without_a_state_the_words_decide(said: str, reason: Reason) -> None:
    assert outages.by_words(said) is reason


@pytest.mark.parametrize(
    ("sqlstate", "reason"),
    [
        ("08006", Reason.LOST), ("25006", Reason.READ_ONLY), ("25P03", Reason.LOST), ("28P01", Reason.PASSWORD),
        ("28000", Reason.NOT_ALLOWED), ("3D000", Reason.NO_DATABASE), ("40P01", Reason.LOCKED), ("53100", Reason.DISK_FULL),
        ("53200", Reason.OUT_OF_RESOURCES), ("53300", Reason.TOO_MANY_CONNECTIONS), ("55P03", Reason.LOCKED),
        ("57014", Reason.TIMEOUT), ("57P01", Reason.SHUTTING_DOWN), ("57P02", Reason.LOST), ("57P03", Reason.STARTING_UP),
        ("58030", Reason.STORAGE),
    ],
)  # fmt: skip
def test_a_state_of_the_server_is_its_own_reason(sqlstate: str, reason: Reason) -> None:
    assert outages.by_state(sqlstate) is reason


@pytest.mark.parametrize("sqlstate", ["23505", "22P02", "42P01", "54000", "25P02", "XX000", "P0001", "55000"])
def test_a_mistake_of_ours_is_not_called_an_outage(sqlstate: str) -> None:
    assert outages.by_state(sqlstate) is None


def test_what_is_logged_is_the_reason_and_the_kind_of_error_but_not_its_words() -> None:
    error = DatabaseUnavailable(Reason.PASSWORD)
    error.__cause__ = ValueError("hunter2")

    assert error.said == {"reason": "password", "error": "ValueError"}


def test_the_operators_page_says_what_to_do_about_every_reason() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()

    assert [reason for reason in Reason if f"`{reason}`" not in page] == []
