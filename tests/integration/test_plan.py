"""Planning: an audience becomes routes, one per recipient and channel, each with its reason."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass


def _routes(world: World) -> set[tuple[str, str, str, str]]:
    return {(route["channel"], route["recipient_ref"], route["status"], route["reason"]) for route in world.routes()}


def test_listed_users_get_a_route_for_each_channel(world: World) -> None:
    world.add_user("alice", phone="+14155550100")
    world.add_user("bob", phone="+14155550101")
    world.accept(audience={"kind": "users", "user_ids": ["alice", "bob"]}, channels=["email", "sms", "in_app"])

    world.dispatch()

    assert _routes(world) == {
        (channel, f"user:{user}", "published", "") for channel in ("email", "sms", "in_app") for user in ("alice", "bob")
    }
    assert world.count("outbox") == 0


def test_a_channel_without_an_address_is_skipped_with_its_reason(world: World) -> None:
    world.add_user("bob", email=None)
    world.accept(audience={"kind": "users", "user_ids": ["bob"]}, channels=["email", "sms", "push", "in_app"])

    world.dispatch()

    assert _routes(world) == {
        ("email", "user:bob", "skipped", "no_address"),
        ("sms", "user:bob", "skipped", "no_address"),
        ("push", "user:bob", "skipped", "no_address"),
        ("in_app", "user:bob", "published", ""),
    }


def test_a_user_who_is_gone_by_the_time_of_planning_is_skipped(world: World) -> None:
    world.add_user("alice")
    world.add_user("bob")
    world.accept(audience={"kind": "users", "user_ids": ["alice", "bob"]}, channels=["email", "in_app"])
    world.admin.execute("DELETE FROM users WHERE external_id = 'bob'")

    world.dispatch()

    assert {route for route in _routes(world) if route[1] == "user:bob"} == {
        ("email", "user:bob", "skipped", "unknown_user"),
        ("in_app", "user:bob", "skipped", "unknown_user"),
    }
    assert len(world.email.accepted) == 1


def test_a_user_of_another_tenant_with_the_same_id_gets_nothing(world: World) -> None:
    world.add_tenant()
    world.add_user("alice", email="ours@example.com")
    world.add_user("alice", email="theirs@example.com", tenant=OTHER_TENANT)
    world.accept(channels=["email", "in_app"])

    world.dispatch()

    assert [message.email for message in world.email.accepted] == ["ours@example.com"]
    assert {row["tenant_id"] for row in world.inbox()} == {TENANT}


@pytest.mark.parametrize(
    ("audience", "channels", "routes"),
    [
        ({"email": "x@example.com"}, None, {("email", "address", "published", "")}),
        ({"phone": "+14155550100"}, None, {("sms", "address", "published", "")}),
        (
            {"email": "x@example.com", "phone": "+14155550100"},
            None,
            {("email", "address", "published", ""), ("sms", "address", "published", "")},
        ),
        (
            {"email": "x@example.com"},
            ["email", "sms", "push", "in_app"],
            {
                ("email", "address", "published", ""),
                ("sms", "address", "skipped", "no_address"),
                ("push", "address", "skipped", "no_address"),
                ("in_app", "address", "skipped", "no_address"),
            },
        ),
    ],
)
def test_an_address_is_reached_where_it_can_be(
    world: World, audience: dict[str, str], channels: list[str] | None, routes: set[tuple[str, str, str, str]]
) -> None:
    world.accept(audience={"kind": "address"} | audience, channels=None)
    world.admin.execute("UPDATE records SET channels = %s", [channels])  # as its type says; an intent that says so is refused

    world.dispatch()

    assert _routes(world) == routes
    assert {message.email for message in world.email.accepted} <= {"x@example.com"}


def test_without_channels_a_user_gets_email_and_inbox(world: World) -> None:
    world.add_user()
    world.accept(channels=None)

    world.dispatch()

    assert {route["channel"] for route in world.routes()} == {"email", "in_app"}


def test_a_push_goes_to_each_device_that_is_on(world: World) -> None:
    alice = world.add_user()
    for token in ("phone", "tablet", "lost"):
        world.add_device(alice, token=token)
    world.admin.execute("UPDATE devices SET enabled = false WHERE token = 'lost'")
    world.accept(channels=["push"])

    world.dispatch()

    assert {message.device_token for message in world.push.accepted} == {"phone", "tablet"}
    assert len(world.routes()) == 2


def test_what_was_cancelled_before_planning_is_planned_as_cancelled(world: World) -> None:
    world.add_user()
    world.accept(channels=["email", "in_app"])
    world.admin.execute("UPDATE records SET cancelled_at = tocsin_now()")

    world.dispatch()

    assert {(route["status"], route["reason"]) for route in world.routes()} == {("cancelled", "cancelled")}
    assert (world.count("outbox"), world.count("notifications"), world.email.calls) == (0, 0, 0)


def test_what_expired_before_planning_is_skipped_as_expired(world: World) -> None:
    world.add_user("alice", email=None)
    world.accept(channels=["email", "in_app"], expires_at=(datetime.now(UTC) + timedelta(minutes=1)).isoformat())
    world.pass_time(timedelta(minutes=2))

    world.dispatch()

    assert {(route["status"], route["reason"]) for route in world.routes()} == {("skipped", "expired")}
    assert world.count("notifications") == 0


def test_a_route_keeps_the_address_it_was_planned_with(world: World) -> None:
    world.add_user("alice", email="old@example.com")
    world.accept()
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", ""))
    world.dispatch()
    world.admin.execute("UPDATE users SET email = 'new@example.com'")
    world.pass_time(timedelta(minutes=1))

    world.dispatch()

    assert [message.email for message in world.email.accepted] == ["old@example.com"]


def test_events_of_one_thread_fold_into_one_inbox_row_also_within_one_batch(world: World) -> None:
    world.add_user("alice")
    world.add_user("bob")
    both: dict[str, Any] = {"kind": "users", "user_ids": ["alice", "bob"]}
    for n in range(3):
        world.accept(audience=both, channels=["in_app"], thread={"kind": "order", "id": "7"}, payload={"title": f"update {n}"})
    world.accept(channels=["in_app"], thread={"kind": "order", "id": "8"})

    world.dispatch()

    rows = {(row["user_id"], row["thread_id"]): row for row in world.inbox()}
    assert len(rows) == 3
    assert sorted(row["event_count"] for row in rows.values()) == [1, 3, 3]
    assert {row["title"] for row in rows.values() if row["thread_id"] == "7"} == {"update 2"}


def test_later_events_of_a_thread_count_up_and_make_it_unread_again(world: World) -> None:
    world.add_user()
    world.accept(channels=["in_app"], thread={"kind": "order", "id": "7"}, payload={"title": "first"})
    world.dispatch()
    world.admin.execute("UPDATE notifications SET unread = false, read_at = tocsin_now()")
    world.pass_time(timedelta(hours=1))

    second = world.accept(
        channels=["in_app"], type="order.late", thread={"kind": "order", "id": "7"}, payload={"title": "second"}
    )
    world.dispatch()

    (row,) = world.inbox()
    assert (row["title"], row["kind"], row["event_count"], row["unread"], row["read_at"]) == (
        "second",
        "order.late",
        2,
        True,
        None,
    )
    assert row["source_notification_id"] == second.notification_id
    assert row["last_event_at"] - row["created_at"] >= timedelta(hours=1)


def test_events_without_a_thread_get_a_row_each(world: World) -> None:
    world.add_user()
    for _ in range(3):
        world.accept(channels=["in_app"])

    world.dispatch()

    assert [row["event_count"] for row in world.inbox()] == [1, 1, 1]


def test_threads_whose_names_run_together_stay_apart(world: World) -> None:
    world.add_user()
    world.accept(channels=["in_app"], thread={"kind": "a", "id": "bc"})
    world.accept(channels=["in_app"], thread={"kind": "ab", "id": "c"})

    world.dispatch()

    assert len(world.inbox()) == 2


def test_an_inbox_row_for_an_unrenderable_payload_says_so(world: World) -> None:
    world.add_user()
    world.accept(channels=["in_app"], payload={"message": "x" * 20_001})

    world.dispatch()

    (row,) = world.inbox()
    assert "cannot be shown" in row["message"]
