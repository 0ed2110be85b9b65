"""The secrets that sign: rotation with an overlap, and a KMS that does not answer."""

from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from tests.webhooks import Receiver, add_hook, call_hooks, delivery, nudges_within, tell
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation import encryption
from tocsin.webhooks import register, signing_secrets

ACTOR = Actor(TENANT, "key:test")


def verifies(asked: dict[str, Any], secret: str) -> bool:
    try:
        Verifier(secret).verify(asked["body"], asked["headers"])
    except WebhookVerificationError:
        return False
    return True


def rotate(world: World, hook_id: Any) -> str:
    rotated = register.rotate_secret(world.app, ACTOR, hook_id)
    assert rotated is not None
    return rotated[1]


def test_after_a_rotation_both_secrets_sign_for_a_day_and_then_the_new_one_alone(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    new = rotate(world, hook.id)

    tell(world)
    call_hooks(world)
    world.pass_time(timedelta(hours=24) - timedelta(minutes=1))
    tell(world)
    call_hooks(world)
    world.pass_time(timedelta(minutes=2))
    tell(world)
    call_hooks(world)

    assert [verifies(one, new) for one in receiver.heard] == [True, True, True]
    assert [verifies(one, hook.secret) for one in receiver.heard] == [True, True, False]
    assert [len(one["headers"]["webhook-signature"].split(" ")) for one in receiver.heard] == [2, 2, 1]


def test_a_second_rotation_ends_the_overlap_of_the_first(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    second, third = rotate(world, hook.id), rotate(world, hook.id)

    tell(world)
    call_hooks(world)

    (asked,) = receiver.heard
    assert [verifies(asked, secret) for secret in (hook.secret, second, third)] == [False, True, True]


@pytest.mark.parametrize("changed", ["body", "webhook-id", "webhook-timestamp"])
def test_whoever_changes_a_byte_is_found_out(changed: str, world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    tell(world)
    call_hooks(world)
    (asked,) = receiver.heard

    if changed == "body":
        asked["body"] = asked["body"].replace(b"published", b"delivered")
    elif changed == "webhook-id":
        asked["headers"][changed] += "0"
    else:
        asked["headers"][changed] = str(int(asked["headers"][changed]) + 1)

    assert not verifies(asked, hook.secret)


def test_while_kms_does_not_answer_nothing_is_sent_and_no_attempt_is_counted(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_hook(world, receiver.url)
    tell(world)

    def refuse(*_: Any, **__: Any) -> str:
        raise ConnectionError("KMS is not there")

    with monkeypatch.context() as broken:
        broken.setattr(encryption, "unseal", refuse)
        call_hooks(world)

    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["error"], receiver.heard) == ("pending", 0, "", [])
    assert (world.one("SELECT attempt_count FROM outbox"), world.one("SELECT claim_count FROM outbox")) == (0, 0)
    assert world.one("SELECT failing_since FROM webhooks") is None
    assert world.count("lanes") == 0
    assert nudges_within(world, 900) == [30]
    world.pass_time(timedelta(seconds=30))
    call_hooks(world)
    assert delivery(world)["status"] == "delivered"


@pytest.mark.parametrize(("kept_seconds", "times"), [(300.0, 1), (0.0, 3)])
def test_a_secret_is_opened_once_for_many_calls_as_long_as_it_is_kept(
    kept_seconds: float, times: int, world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_hook(world, receiver.url)
    monkeypatch.setattr(signing_secrets, "KEPT_SECONDS", kept_seconds)
    opened = []

    def unseal(*args: Any, unseal: Any = encryption.unseal, **options: Any) -> str:
        opened.append(args)
        return str(unseal(*args, **options))

    monkeypatch.setattr(encryption, "unseal", unseal)
    for _ in range(3):
        tell(world)
        call_hooks(world)

    assert (len(opened), len(receiver.heard)) == (times, 3)


def test_a_secret_that_was_moved_to_another_hook_or_tenant_opens_nothing(world: World, receiver: Receiver) -> None:
    world.add_tenant()
    add_hook(world, receiver.url)
    stranger = add_hook(world, receiver.url, tenant=OTHER_TENANT)
    world.admin.execute(
        "UPDATE webhooks SET secret = (SELECT secret FROM webhooks AS other WHERE other.id = %s) WHERE tenant_id = %s",
        [stranger.id, TENANT],
    )
    tell(world)

    call_hooks(world)

    assert (receiver.heard, delivery(world)["status"]) == ([], "pending")


def test_the_secret_is_in_the_database_only_as_a_ciphertext(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    rotate(world, hook.id)

    (row,) = world.rows("SELECT * FROM webhooks")
    assert hook.secret.startswith("whsec_")
    for name in ("secret", "previous_secret"):
        assert hook.secret.encode() not in row[name]
    purpose = signing_secrets.purpose_of("webhook", hook.id)
    assert encryption.unseal(row["previous_secret"], tenant_id=TENANT, purpose=purpose) == hook.secret
