"""Test keys never reach a provider; the sandbox's magic addresses play out each ending, and for live keys they are nobody's."""

from typing import Any

import pytest

from tests.ses_events import heard
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.feedback.apply import apply_events

DOMAIN = "sandbox.tocsin.example"
# status, reason, feedback, and the suppression that each ending leaves behind
ENDINGS = {
    "success": ("published", "", "delivered", None),
    "bounce": ("published", "", "hard_bounced", "hard_bounce"),
    "complaint": ("published", "", "complained", "complaint"),
    "suppressed": ("skipped", "suppressed: sandbox", "none", None),
}


def send(world: World, address: str, *, mode: str = "test", **intent: Any) -> dict[str, Any]:
    asked = world.accept(audience={"kind": "address", "email": address}, mode=mode, **intent)
    world.dispatch()
    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=asked.notification_id)
    return route


def calls(world: World) -> int:
    return world.email.calls + world.sms.calls + world.push.calls


@pytest.mark.parametrize("tag", ["", "+order-7"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_magic_address_plays_out_its_ending(ending: str, tag: str, world: World) -> None:
    address = f"{ending}{tag}@{DOMAIN}"

    route = send(world, address)

    status, reason, feedback, suppression = ENDINGS[ending]
    assert (route["status"], route["reason"], route["feedback"]) == (status, reason, feedback)
    rows = world.rows("SELECT tenant_id, channel, address, reason FROM suppressions")
    expected = {"tenant_id": TENANT, "channel": "email", "address": address, "reason": suppression}
    assert rows == ([expected] if suppression else [])
    assert (calls(world), world.count("outbox"), world.count("dead_letters")) == (0, 0, 0)


@pytest.mark.parametrize("ending", ["success", "bounce", "complaint"])
def test_an_ending_is_told_as_an_event_of_its_attempt(ending: str, world: World) -> None:
    route = send(world, f"{ending}@{DOMAIN}")

    (attempt,), (event,) = world.attempts(), world.rows("SELECT * FROM provider_events")
    assert (route["provider"], attempt["provider"], attempt["outcome"]) == ("sandbox", "sandbox", "accepted")
    names = ("tenant_id", "notification_id", "route_id", "generation", "attempt_no", "provider", "provider_message_id")
    assert [event[name] for name in names] == [attempt[name] for name in names]


def test_nothing_is_attempted_for_the_suppressed_address(world: World) -> None:
    send(world, f"suppressed@{DOMAIN}")

    assert (world.count("attempts"), world.count("provider_events")) == (0, 0)


def test_a_bounce_in_the_sandbox_is_heeded_like_any_other(world: World) -> None:
    """The address is suppressed from then on; with a tag of its own, each test has an address of its own."""
    send(world, f"bounce@{DOMAIN}")

    again, tagged = send(world, f"bounce@{DOMAIN}"), send(world, f"bounce+2@{DOMAIN}")

    assert (again["status"], again["reason"]) == ("skipped", "suppressed: hard_bounce")
    assert (tagged["status"], tagged["feedback"]) == ("published", "hard_bounced")


def test_what_one_tenant_plays_out_is_not_heard_by_another(world: World) -> None:
    world.add_tenant()
    send(world, f"complaint@{DOMAIN}")

    other = send(world, f"complaint@{DOMAIN}", tenant=OTHER_TENANT)

    assert (other["status"], other["feedback"]) == ("published", "complained")
    assert world.count("suppressions") == 2


@pytest.mark.parametrize(
    "address", ["alice@example.com", f"alice@{DOMAIN}", "bounce@example.com", f"bounce@mail.{DOMAIN}", f"bouncer@{DOMAIN}"]
)
def test_any_other_address_with_a_test_key_is_published_by_the_sandbox(address: str, world: World) -> None:
    route = send(world, address)

    assert (route["status"], route["provider"], route["feedback"]) == ("published", "sandbox", "none")
    assert route["provider_message_id"].startswith("sandbox-")
    assert (calls(world), world.count("provider_events"), world.count("suppressions")) == (0, 0, 0)


def test_a_test_key_reaches_no_provider_on_any_channel(world: World) -> None:
    world.add_device(world.add_user(phone="+14155550100"))
    world.accept(channels=["email", "sms", "push", "in_app"], mode="test")

    world.dispatch()

    ends = {row["channel"]: (row["status"], row["provider"]) for row in world.routes()}
    assert ends == dict.fromkeys(("email", "sms", "push"), ("published", "sandbox")) | {"in_app": ("published", "inbox")}
    assert calls(world) == 0


def test_an_intent_that_is_a_test_is_one_whoever_sends_it_and_no_test_key_sends_another(world: World) -> None:
    world.add_device(world.add_user(phone="+14155550100"))
    every = ["email", "sms", "push"]
    world.try_accept(world.asked(channels=every, mode="test"), mode="live")
    world.try_accept(world.asked(channels=every, mode="live"), mode="test")

    world.dispatch()

    assert [(row["status"], row["provider"]) for row in world.routes()] == [("published", "sandbox")] * 6
    assert calls(world) == 0


def test_a_test_key_is_not_held_up_by_a_closed_lane(world: World) -> None:
    world.admin.execute(
        """INSERT INTO lanes (lane, state, reason, resume_at, updated_at)
           SELECT lane, 'stopped', 'x', tocsin_now() + interval '1 hour', tocsin_now()
           FROM unnest(ARRAY['ses:email', 'sandbox']) AS closed (lane)"""
    )

    assert send(world, f"success@{DOMAIN}")["status"] == "published"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_live_key_to_a_magic_address_goes_to_the_real_provider(ending: str, world: World) -> None:
    route = send(world, f"{ending}@{DOMAIN}", mode="live")

    assert (route["status"], route["provider"], route["feedback"]) == ("published", "ses", "none")
    assert [message.email for message in world.email.accepted] == [f"{ending}@{DOMAIN}"]
    assert (world.count("provider_events"), world.count("suppressions")) == (0, 0)


def test_live_and_test_messages_in_one_batch_go_their_own_ways(world: World) -> None:
    for n in range(4):
        world.accept(audience={"kind": "address", "email": f"bounce+{n}@{DOMAIN}"}, mode="test" if n % 2 else "live")

    world.dispatch()

    assert sorted(message.email for message in world.email.accepted) == [f"bounce+{n}@{DOMAIN}" for n in (0, 2)]
    ends = {row["resolved_email"][7]: (row["provider"], row["feedback"]) for row in world.routes()}
    assert ends == {str(n): (("sandbox", "hard_bounced") if n % 2 else ("ses", "none")) for n in range(4)}


def test_real_feedback_about_a_live_message_to_a_magic_address_counts(world: World) -> None:
    send(world, f"success@{DOMAIN}", mode="live")
    (attempt,) = world.attempts()

    apply_events(world.worker, [heard("hard bounce", attempt)])

    assert world.route()["feedback"] == "hard_bounced"
