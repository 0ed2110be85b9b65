"""AWS clients never repeat a request by themselves and never wait for long."""

import ast
from collections.abc import Iterator

import pytest

from tests.unit.claims import a_claim
from tests.unit.source import calls, modules
from tocsin.channels.installation import ways_out
from tocsin.channels.ways import PROVIDER_TIMEOUT
from tocsin.foundation import aws
from tocsin.foundation.settings import Settings

SENDING = ["sesv2", "sns"]


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    aws.client.cache_clear()
    yield
    aws.client.cache_clear()


def services_in_use() -> list[str]:
    """Every service that the code asks for a client of."""
    names = {
        argument.value
        for module in modules()
        for call, name in calls(module)
        if name == "client" and call.args
        for argument in call.args[:1]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }
    return sorted(names)


def test_the_code_uses_the_services_we_know_of() -> None:
    assert services_in_use() == ["kms", "lambda", "s3", "secretsmanager", "sesv2", "sns", "sqs"]


@pytest.mark.parametrize("service", services_in_use())
def test_no_client_repeats_a_request(service: str) -> None:
    retries = aws.client(service).meta.config.retries

    assert retries["total_max_attempts"] == 1
    assert retries["mode"] == "standard"


@pytest.mark.parametrize("service", SENDING)
def test_a_sending_client_gives_up_after_three_and_ten_seconds(service: str) -> None:
    config = aws.client(service).meta.config

    assert (config.connect_timeout, config.read_timeout) == (3, 10)
    assert config.connect_timeout + config.read_timeout <= PROVIDER_TIMEOUT.total_seconds()


def test_a_nudge_that_is_not_taken_costs_the_producer_less_than_a_second() -> None:
    config = aws.client("sqs").meta.config

    assert config.connect_timeout + config.read_timeout <= 0.6


@pytest.mark.parametrize("service", ["secretsmanager", "kms"])
def test_a_secret_is_read_within_seven_seconds(service: str) -> None:
    config = aws.client(service).meta.config

    assert config.connect_timeout + config.read_timeout <= 7


@pytest.mark.parametrize("service", SENDING)
def test_a_batch_sent_at_once_finds_a_connection_for_each(service: str) -> None:
    assert aws.client(service).meta.config.max_pool_connections >= Settings().send_concurrency


def test_a_client_is_made_once() -> None:
    assert aws.client("sns") is aws.client("sns")


def test_every_channel_has_its_way_out_and_test_keys_have_the_sandbox_only() -> None:
    ways = ways_out(Settings(email_from="notify@example.com", email_configuration_set="events"))

    live = {channel: ways.serving(a_claim(channel=channel)) for channel in ("email", "sms", "push")}
    test = [ways.serving(a_claim(channel=channel, mode="test")) for channel in ("email", "sms", "push")]

    assert {channel: [way.channel.lane for way in found] for channel, found in live.items()} == {
        "email": ["ses:email"],
        "sms": ["sns:sms"],
        "push": ["sns:push"],
    }
    assert [[way.channel.provider for way in found] for found in test] == [["sandbox"]] * 3
