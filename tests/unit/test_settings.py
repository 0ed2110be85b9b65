"""Settings: what names a resource has no default, what is missing is said when it is read, what is out of bounds at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.unit.source import ROOT
from tocsin.foundation.settings import InvalidSetting, MissingSetting, Settings, settings


def test_reading_what_was_not_given_names_the_variable_and_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "tocsin-intake")

    with pytest.raises(MissingSetting, match=r"^PLAN_QUEUE_URL is not set in the environment of tocsin-intake$"):
        _ = Settings().plan_queue_url


def test_what_is_missing_keeps_nobody_from_reading_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAN_QUEUE_URL", "https://sqs.example/plan")
    monkeypatch.delenv("EMAIL_QUEUE_URL", raising=False)
    settings.cache_clear()

    config = settings()
    settings.cache_clear()

    assert config.queue_url("plan") == "https://sqs.example/plan"
    with pytest.raises(MissingSetting, match="EMAIL_QUEUE_URL"):
        config.queue_url("email")


def test_an_empty_variable_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_FROM", "")
    monkeypatch.setenv("SMS_SENDER_ID", "")
    settings.cache_clear()

    config = settings()
    settings.cache_clear()

    assert config.sms_sender_id is None
    with pytest.raises(MissingSetting, match="EMAIL_FROM"):
        _ = config.email_from


NAMES_OF_RESOURCES = ("_arn", "_url", "_host", "_name", "_folder", "_from", "_set")


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name.endswith(NAMES_OF_RESOURCES)])
def test_no_name_of_a_resource_has_a_default(name: str) -> None:
    with suppress(MissingSetting):
        assert getattr(Settings(), name) is None, "absent, as its type says"


def test_what_is_no_setting_is_a_mistake_of_the_code() -> None:
    with pytest.raises(AttributeError):
        _ = Settings().no_such_thing  # type: ignore[attr-defined]


def test_the_default_tenant_may_be_absent_but_not_for_whoever_makes_it() -> None:
    assert Settings().default_tenant_id is None
    with pytest.raises(MissingSetting, match="DEFAULT_TENANT_ID"):
        _ = Settings().first_tenant_id


@pytest.fixture
def _read_anew() -> Iterator[None]:
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.usefixtures("_read_anew")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("MAX_TRIGGER_DEPTH", value) for value in ("0", "33", "eight", "8.5")),
        *(("TRIGGER_RETRY_MAX_ATTEMPTS", value) for value in ("0", "21")),
        *(("TRIGGER_RETRY_BACKOFF", value) for value in ("quadratic", "Exponential")),
        *(("TRIGGER_RETRY_BASE_MS", value) for value in ("99", "3600001")),
        *(("DEAD_LETTER_RETENTION_DAYS", value) for value in ("0", "3651", "-1")),
        *(("RESOLVED_DEAD_LETTER_RETENTION_DAYS", value) for value in ("0", "3651")),
        *(("ABANDONED_EXECUTIONS_RETENTION_DAYS", value) for value in ("0", "366")),
        *(("WEBHOOK_DELIVERY_RETENTION_DAYS", value) for value in ("0", "366")),
        *(("KV_ENTRIES_PER_TENANT", value) for value in ("0", "1000001")),
        *(("TRIGGERS_PER_TENANT", value) for value in ("0", "1001")),
        *(("WEBHOOKS_PER_TENANT", value) for value in ("0", "101")),
        *(("API_CALLS_PER_MINUTE", value) for value in ("9", "1000001")),
        *(("USER_CALLS_PER_MINUTE", value) for value in ("9", "1000001")),
        *(("DAMPENER_WINDOW_SECONDS", value) for value in ("59", "901")),
        *(("EMAILS_PER_USER_PER_HOUR", value) for value in ("0", "10001")),
        *(("OVER_SENDING_LIMIT", value) for value in ("0", "10001")),
        *(("OVER_SENDING_WINDOW_SECONDS", value) for value in ("59", "86401")),
        *(("SOFT_BOUNCE_LIMIT", value) for value in ("0", "101")),
        *(("SOFT_BOUNCE_WINDOW_DAYS", value) for value in ("0", "91")),
        *(("SOFT_BOUNCE_SUPPRESSION_DAYS", value) for value in ("0", "366")),
        *(("ALLOW_PRIVATE_DESTINATIONS", value) for value in ("perhaps", "2")),
        *(("INTERNET_EGRESS", value) for value in ("maybe", "1")),
        ("DATABASE_PORT", "postgres"),
        ("DEFAULT_TENANT_ID", "nobody"),
    ],
)
def test_what_cannot_be_used_is_said_by_the_name_of_its_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "tocsin-data")
    monkeypatch.setenv(variable, value)

    with pytest.raises(InvalidSetting, match=rf"^the environment of tocsin-data cannot be used: {variable}: \S.+$"):
        settings()


@pytest.mark.usefixtures("_read_anew")
def test_everything_that_cannot_be_used_is_said_at_once_and_what_it_holds_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_TRIGGER_DEPTH", "hunter2")
    monkeypatch.setenv("KV_ENTRIES_PER_TENANT", "hunter2")

    with pytest.raises(InvalidSetting, match=r"MAX_TRIGGER_DEPTH: .+; KV_ENTRIES_PER_TENANT: ") as caught:
        settings()

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__, "pydantic's own words quote it"


@pytest.mark.usefixtures("_read_anew")
@pytest.mark.parametrize(("given", "read"), [("", []), ("a", ["a"]), ("a,b", ["a", "b"]), (" a , b,", ["a", "b"])], ids=repr)
def test_the_functions_that_triggers_may_invoke_are_a_list(given: str, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIGGER_FUNCTION_ARNS", given)

    assert settings().trigger_function_arns == frozenset(read)


def test_nothing_private_is_called_unless_somebody_says_so() -> None:
    assert Settings().allow_private_destinations is False


@pytest.mark.parametrize("door", ["data", "dispatch", "retention", "triggers", "wait", "webhooks"])
def test_a_function_with_a_value_that_cannot_be_used_does_not_start(door: str) -> None:
    folders = [ROOT / "functions" / door, ROOT / "layers" / "shared"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "MAX_TRIGGER_DEPTH": "99"}

    started = subprocess.run([sys.executable, "-c", "import app"], env=environment, capture_output=True, text=True, check=False)

    assert started.returncode != 0
    assert "MAX_TRIGGER_DEPTH: Input should be less than or equal to 32" in started.stderr.splitlines()[-1]
