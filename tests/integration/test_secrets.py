"""Secrets of the installation: kept for a while, found again when they rotate, and one word for when they cannot be read."""

import pytest

from tests.work_queue import WorkQueue
from tocsin.foundation import aws, secrets
from tocsin.foundation.secrets import SecretUnavailable


@pytest.fixture
def arn(work_queue: WorkQueue) -> str:
    secrets.forget()
    return str(aws.client("secretsmanager").create_secret(Name="signing", SecretString="old")["ARN"])


def _rotate(arn: str, value: str = "new") -> None:
    aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=value)


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


def test_while_it_rotates_the_new_value_and_the_one_before_are_accepted(arn: str) -> None:
    _rotate(arn)

    assert list(secrets.accepted(arn)) == [b"new", b"old"]


def test_a_value_that_others_heard_of_before_us_is_accepted_too(arn: str) -> None:
    secrets.known(arn)
    _rotate(arn)

    assert list(secrets.accepted(arn)) == [b"old", b"new"]


def test_after_a_second_value_the_first_is_over(arn: str) -> None:
    _rotate(arn)
    _rotate(arn, "newer")

    assert list(secrets.accepted(arn)) == [b"newer", b"new"]


def test_where_it_never_changed_there_is_one_value(arn: str) -> None:
    assert secrets.previous(arn) is None
    assert list(secrets.accepted(arn)) == [b"old"]


def test_what_the_known_value_signed_asks_for_no_other(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets.known(arn)
    monkeypatch.setattr(secrets, "_read", lambda arn, stage: pytest.fail("asked for another"))

    assert next(secrets.accepted(arn)) == b"old"


def test_whoever_shows_forgeries_does_not_make_us_ask_each_time(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    list(secrets.accepted(arn))
    monkeypatch.setattr(secrets, "_read", lambda arn, stage: pytest.fail("asked again at once"))

    assert list(secrets.accepted(arn)) == [b"old"]


def test_while_the_other_value_cannot_be_read_nobody_is_called_a_forger(arn: str) -> None:
    secrets.known(arn)
    _lose(arn)

    with pytest.raises(SecretUnavailable):
        list(secrets.accepted(arn))


def test_nor_does_each_forgery_wait_for_a_try_that_fails(arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets.known(arn)
    _lose(arn)
    with pytest.raises(SecretUnavailable):
        list(secrets.accepted(arn))
    monkeypatch.setattr(secrets, "_read", lambda arn, stage: pytest.fail("asked again at once"))

    with pytest.raises(SecretUnavailable, match=r"^ResourceNotFoundException$"):
        list(secrets.accepted(arn))
