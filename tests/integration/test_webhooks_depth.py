"""A status webhook brings the depth of what it tells of, so that whatever its receiver sends in turn goes deeper."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from tests.links import TOKEN_SECRET
from tests.webhooks import Receiver, add_hook, call_hooks, delivery, tell
from tests.world import TENANT, World
from tocsin.access import depth_tokens
from tocsin.foundation import secrets


@pytest.mark.parametrize("depth", [0, 3])
def test_what_a_hook_hears_of_a_notification_is_one_deeper_than_the_notification(
    depth: int, world: World, receiver: Receiver
) -> None:
    add_hook(world, receiver.url)
    tell(world)
    world.admin.execute("UPDATE outbox SET trigger_depth = %s", [depth])

    call_hooks(world)

    token = receiver.heard[0]["headers"][depth_tokens.HEADER.lower()]
    assert depth_tokens.verify(token, TENANT, [TOKEN_SECRET.encode()]) == depth + 1


def test_while_the_secret_of_depth_cannot_be_read_a_hook_waits_and_no_try_is_used(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    tell(world)

    with patch.object(secrets, "known", side_effect=secrets.SecretUnavailable("TimeoutError")):
        call_hooks(world)
    assert (receiver.heard, delivery(world)["status"], delivery(world)["attempt_count"]) == ([], "pending", 0)
    world.pass_time(timedelta(seconds=31))
    call_hooks(world)

    assert (len(receiver.heard), delivery(world)["status"]) == (1, "delivered")
