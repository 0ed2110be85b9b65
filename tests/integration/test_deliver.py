"""Delivering: what goes out, to whom, under which name, and what is recorded of it."""

from datetime import timedelta

import pytest

from tests.world import OTHER_TENANT, World
from tocsin.channels.outcomes import Accepted
from tocsin.outbox.dispatch import dispatch


def test_an_accepted_send_ends_the_route_the_attempt_and_the_work(world: World) -> None:
    world.add_user()
    asked = world.accept()

    world.dispatch()

    route, (attempt,) = world.route(), world.attempts()
    assert (route["status"], route["reason"], route["provider"], route["provider_message_id"]) == ("published", "", "ses", "m-1")
    assert (route["attempt_count"], route["next_attempt_at"], route["duplicate_suspected"]) == (1, None, False)
    assert (attempt["outcome"], attempt["attempt_no"], attempt["provider_message_id"]) == ("accepted", 1, "m-1")
    assert attempt["notification_id"] == asked.notification_id
    assert attempt["started_at"] <= attempt["finished_at"]
    assert world.count("outbox") == 0


def test_a_message_carries_the_words_the_address_and_the_names_of_route_and_attempt(world: World) -> None:
    world.add_user(email="alice@example.com")
    asked = world.accept(payload={"title": "Shipped", "message": "It is <b>on</b> its way."})

    world.dispatch()

    (message,) = world.email.accepted
    assert (message.email, message.content.title, message.content.text) == (
        "alice@example.com",
        "Shipped",
        "It is <b>on</b> its way.",
    )
    assert "<b>on</b>" not in message.content.html
    assert message.tags == {
        "tocsin_route": f"{asked.notification_id}_{world.route()['route_id']}",
        "tocsin_attempt": "1-1",
    }


def test_the_attempt_is_committed_before_the_provider_is_called_and_no_transaction_is_open_meanwhile(world: World) -> None:
    world.add_user()
    world.accept()
    seen: list[object] = []

    def look(message: object) -> Accepted:
        seen.append(world.attempts()[0]["outcome"])
        seen.append(
            world.one("SELECT count(*) FROM pg_stat_activity WHERE usename = 'tocsin_worker' AND state LIKE '%%transaction%%'")
        )
        return Accepted("m-1")

    world.email.answers.append(look)
    world.dispatch()

    assert seen == [None, 0]
    assert world.route()["status"] == "published"


def test_each_channel_goes_its_own_way(world: World) -> None:
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice, token="device-1", platform="fcm")
    world.accept(channels=["email", "sms", "push", "in_app"])

    world.dispatch()

    assert [message.phone for message in world.sms.accepted] == ["+14155550100"]
    assert [(message.device_token, message.device_platform) for message in world.push.accepted] == [("device-1", "fcm")]
    assert len(world.email.accepted) == 1
    assert {(route["channel"], route["provider"], route["status"]) for route in world.routes()} == {
        ("email", "ses", "published"),
        ("sms", "sns", "published"),
        ("push", "sns", "published"),
        ("in_app", "inbox", "published"),
    }


def test_a_push_endpoint_made_on_the_way_is_kept_for_the_next_message(world: World) -> None:
    world.add_device(world.add_user())
    world.push.answers.append(Accepted("m-1", endpoint_arn="arn:aws:sns:endpoint/1"))
    world.accept(channels=["push"])
    world.dispatch()

    world.accept(channels=["push"])
    world.dispatch()

    assert [message.device_endpoint_arn for message in world.push.accepted] == ["", "arn:aws:sns:endpoint/1"]


def test_a_message_of_a_test_key_ends_published_and_reaches_no_provider(world: World) -> None:
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)
    world.accept(mode="test", channels=["email", "sms", "push"])

    world.dispatch()

    assert {(route["status"], route["provider"]) for route in world.routes()} == {("published", "sandbox")}
    assert (world.email.calls, world.sms.calls, world.push.calls) == (0, 0, 0)


def test_a_batch_of_many_notifications_goes_out_whole(world: World) -> None:
    world.add_user()
    for _ in range(25):
        world.accept()

    world.dispatch(batch_size=10)

    assert {route["status"] for route in world.routes()} == {"published"}
    assert len({message.tags["tocsin_route"] for message in world.email.accepted}) == 25
    assert world.count("outbox") == 0


def test_the_work_of_two_tenants_in_one_batch_stays_apart(world: World) -> None:
    world.add_tenant()
    world.add_user(email="alice@ours.example")
    world.add_user(email="alice@theirs.example", tenant=OTHER_TENANT)
    world.accept()
    world.accept(tenant=OTHER_TENANT)

    world.dispatch()

    rows = world.rows(
        """SELECT records.tenant_id AS asked, routes.tenant_id AS sent, resolved_email
           FROM records JOIN routes USING (notification_id)"""
    )
    assert all(row["asked"] == row["sent"] for row in rows)
    assert {row["resolved_email"] for row in rows if row["asked"] == OTHER_TENANT} == {"alice@theirs.example"}
    assert {row["tenant_id"] for row in world.attempts()} == {row["asked"] for row in rows}


def test_a_payload_that_cannot_be_rendered_is_a_dead_letter_and_its_neighbour_goes_out(world: World) -> None:
    world.add_user()
    world.accept(payload={"message": "x" * 20_001})
    world.accept()

    world.dispatch()

    assert sorted(route["status"] for route in world.routes()) == ["dead_letter", "published"]
    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("unrenderable", 0)
    assert "20001" in letter["failure_message"]
    assert letter["recovery_hint"]


def test_work_that_is_leased_by_another_is_left_alone(world: World) -> None:
    world.add_user()
    world.accept()
    ids = world.due()
    world.admin.execute("UPDATE outbox SET leased_until = tocsin_now() + interval '1 minute', lease_token = gen_random_uuid()")

    assert world.dispatch() == 0
    assert world.due() == ids
    assert world.email.calls == 0


def test_an_nudged_id_that_is_unknown_or_done_is_nothing_to_do(world: World) -> None:
    world.add_user()
    asked = world.accept()
    world.dispatch()

    assert dispatch(world.worker, [asked.notification_id, asked.notification_id], world.worker_policy()) == 0
    assert world.email.calls == 1


@pytest.mark.parametrize("late", [timedelta(seconds=91), timedelta(minutes=10)])
def test_work_of_a_worker_that_died_before_sending_is_due_again_when_its_lease_ends(world: World, late: timedelta) -> None:
    world.add_user()
    world.accept()
    world.admin.execute(
        "UPDATE outbox SET leased_until = tocsin_now() + interval '90 seconds', lease_token = gen_random_uuid(), claim_count = 1"
    )
    world.pass_time(late)

    world.dispatch()
    world.dispatch()  # the plan was a suspect, so its deliveries were nudged and not taken along

    assert world.route()["status"] == "published"
    assert len(world.email.accepted) == 1
