"""A secret that signs is given another value: what was signed before goes on for a while, and nothing is refused meanwhile."""

from collections.abc import Callable

import pytest

from tests.content import add_type
from tests.functions.doors import Api, intent
from tests.functions.readers import Reader
from tests.world import TENANT, World
from tocsin.access import depth_tokens
from tocsin.feedback.unsubscribe_tokens import Subject, address_hash, sign
from tocsin.foundation import aws, secrets, settings


def _give(arn: str, *values: str) -> None:
    for value in values:
        aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=value)


def test_a_browser_with_a_token_of_before_stays_signed_in(
    world: World, browser_of: Callable[[str], Reader], token_secret: bytes
) -> None:
    world.add_user("alice")
    before = browser_of("alice")
    _give(settings.settings().user_token_secret_arn, "the next one")
    secrets.forget()

    after = browser_of("alice")

    assert [before.api.get("/v1/inbox").status, after.api.get("/v1/inbox").status] == [200, 200]


def test_a_function_that_has_not_heard_of_the_new_value_takes_its_tokens_all_the_same(
    world: World, browser_of: Callable[[str], Reader], token_secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user("alice")
    browser_of("alice")
    arn = settings.settings().user_token_secret_arn
    _give(arn, "the next one")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(secrets, "_kept", {})
        new = browser_of("alice")

    assert secrets.known(arn) == token_secret, "as it was"
    assert new.api.get("/v1/inbox").status == 200


def test_two_new_values_end_every_token(world: World, browser_of: Callable[[str], Reader], token_secret: bytes) -> None:
    world.add_user("alice")
    before = browser_of("alice")

    _give(settings.settings().user_token_secret_arn, "the next one", "the one after")
    secrets.forget()

    assert before.api.get("/v1/inbox").status == 401


def test_a_handler_that_brings_back_a_depth_of_before_is_understood(world: World, api: Api, token_secret: bytes) -> None:
    token = depth_tokens.sign(1, TENANT, token_secret)
    _give(settings.settings().user_token_secret_arn, "the next one")
    secrets.forget()

    answer = api.call("PUT", "/v1/kv/shelf/A-17", {"value": 1}, headers={depth_tokens.HEADER.lower(): token})

    assert answer.status in (200, 201), answer.text


def test_the_link_in_a_mail_of_before_still_unsubscribes(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    made = aws.client("secretsmanager").create_secret(Name="links", SecretString="of the first mails")
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
    settings.settings.cache_clear()
    token = sign(Subject(TENANT, address_hash(TENANT, "email", "alice@example.com"), "news"), b"of the first mails")
    world.add_user(email="alice@example.com")
    add_type(world, "news", transactional=False)
    _give(made["ARN"], "of the later mails")

    api.call("POST", f"/u/{token}", "List-Unsubscribe=One-Click", key="")
    api.send(intent(type="news"))
    world.dispatch()

    assert world.route()["reason"].startswith("suppressed")
