"""Secrets of the installation: kept for a while, found again when they rotate, and one word for when they cannot be read."""

import pytest

from tests.work_queue import WorkQueue
from tocsin.foundation import aws, secrets
from tocsin.foundation.secrets import SecretUnavailable


@pytest.fixture
def arn(work_queue: WorkQueue) -> str:
    secrets.forget()
    return str(aws.client("secretsmanager").create_secret(Name="signing", SecretString="old")["ARN"])


def _rotate(arn: str) -> None:
    aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString="new")


def _lose(arn: str) -> None:
    aws.client("secretsmanager").delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


def test_a_secret_that_was_read_is_kept(arn: str) -> None:
    assert secrets.known(arn) == b"old"
    _rotate(arn)

    assert secrets.known(arn) == b"old"
    assert secrets.read(arn) == "new"


def test_a_rotated_secret_is_found_once_the_old_one_was_kept_long_enough(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "KEPT_SECONDS", 0.0)
    assert secrets.known(arn) == b"old"
    _rotate(arn)

    assert secrets.known(arn) == b"new"


def test_what_is_known_serves_on_while_it_cannot_be_read_again(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "KEPT_SECONDS", 0.0)
    assert secrets.known(arn) == b"old"
    _lose(arn)

    assert secrets.known(arn) == b"old"


def test_while_it_cannot_be_read_again_not_everyone_waits_for_another_try(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "KEPT_SECONDS", 0.0)
    secrets.known(arn)
    _lose(arn)
    secrets.known(arn)
    monkeypatch.setattr(secrets, "read", lambda arn: pytest.fail("asked again at once"))

    assert secrets.known(arn) == b"old"


@pytest.mark.parametrize("reader", [secrets.read, secrets.known], ids=["read", "known"])
def test_a_secret_that_cannot_be_read_is_unavailable_and_says_why_in_one_word(arn: str, reader: object) -> None:
    _lose(arn)

    with pytest.raises(SecretUnavailable, match=r"^ResourceNotFoundException$"):
        reader(arn)  # type: ignore[operator]


def test_a_secret_is_asked_for_again_after_a_failure(arn: str) -> None:
    with pytest.raises(SecretUnavailable):
        secrets.known(f"{arn}-gone")

    made = aws.client("secretsmanager").create_secret(Name="gone", SecretString="found")["ARN"]

    assert secrets.known(made) == b"found"
