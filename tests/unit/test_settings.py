"""Settings: what names a resource has no default, and what is missing is said when it is read."""

from contextlib import suppress

import pytest

from tocsin.foundation.settings import MissingSetting, Settings, settings


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
