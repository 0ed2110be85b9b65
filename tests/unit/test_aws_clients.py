"""AWS clients never repeat a request by themselves and never wait for long."""

import ast
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import EndpointConnectionError
from urllib3.util import connection

from tests.unit.claims import a_claim
from tests.unit.source import calls, modules
from tocsin.channels.installation import ways_out
from tocsin.channels.ways import PROVIDER_TIMEOUT
from tocsin.foundation import aws
from tocsin.foundation.settings import Settings, settings

SENDING = ["sesv2", "sns"]
HOSTS = {"sesv2": "email"}  # by another name than the SDK's


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


@pytest.fixture
def over_ipv6(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The network of a deployment without endpoints; what the SDK does about names is put back afterwards."""
    monkeypatch.setattr(connection, "allowed_gai_family", connection.allowed_gai_family)
    monkeypatch.setenv("AWS_OVER_IPV6", "true")
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.usefixtures("over_ipv6")
@pytest.mark.parametrize("service", services_in_use())
def test_where_only_ipv6_leads_out_every_service_is_called_by_its_dual_stack_name(service: str) -> None:
    host = urlsplit(aws.client(service).meta.endpoint_url).hostname

    assert host == (
        "s3.dualstack.us-east-1.amazonaws.com" if service == "s3" else f"{HOSTS.get(service, service)}.us-east-1.api.aws"
    )


@pytest.mark.usefixtures("over_ipv6")
def test_where_only_ipv6_leads_out_a_queue_is_reached_there_whatever_its_url_says(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[tuple[str, int]] = []

    def look_up(host: str, port: int, family: int, *_: object) -> list[object]:
        looked_up.append((host, family))
        raise OSError("nobody is called by a test")

    client = aws.client("sqs")
    monkeypatch.setattr("socket.getaddrinfo", look_up)

    with pytest.raises(EndpointConnectionError):
        client.send_message(QueueUrl="https://sqs.us-east-1.amazonaws.com/111111111111/plan", MessageBody="{}")

    assert looked_up == [("sqs.us-east-1.api.aws", socket.AF_INET6)]


@pytest.mark.parametrize("stand_in", [None, "http://127.0.0.1:5000"])
def test_elsewhere_and_with_a_stand_in_for_aws_names_are_the_usual_ones(
    monkeypatch: pytest.MonkeyPatch, stand_in: str | None
) -> None:
    if stand_in:
        monkeypatch.setenv("AWS_OVER_IPV6", "true")
        monkeypatch.setenv("AWS_ENDPOINT_URL", stand_in)
    settings.cache_clear()
    before = connection.allowed_gai_family

    url = aws.client("sqs").meta.endpoint_url
    settings.cache_clear()

    assert url == (stand_in or "https://sqs.us-east-1.amazonaws.com")
    assert connection.allowed_gai_family is before


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
