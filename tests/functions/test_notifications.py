"""GET /v1/notifications: lists that hold still while rows arrive, and one call that answers why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.letters import bury_plan
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass


def _ids(api: Api, **query: str) -> list[str]:
    answer = api.get("/v1/notifications", query=query)
    assert answer.status == 200, answer.text
    return [one["notification_id"] for one in answer.json["data"]]


@pytest.fixture
def many(world: World) -> dict[str, str]:
    """One notification of each kind that the filters tell apart."""
    world.add_user("alice")
    world.add_user("bob", email=None)
    made: dict[str, Any] = {
        "other type": world.accept(type="invoice.due"),
        "in app": world.accept(channels=["in_app"]),
        "skipped": world.accept(audience={"kind": "users", "user_ids": ["bob"]}),
    }
    world.dispatch()
    made["other producer"] = world.asked()
    world.try_accept(made["other producer"], producer="billing")
    return {name: str(asked.notification_id) for name, asked in made.items()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"other type", "in app", "skipped", "other producer"}),
        ({"type": "invoice.due"}, {"other type"}),
        ({"type": "nothing"}, set()),
        ({"producer": "billing"}, {"other producer"}),
        ({"status": "skipped"}, {"skipped"}),
        ({"status": "published"}, {"other type", "in app"}),
        ({"status": "dead_letter"}, set()),
        ({"status": "accepted"}, {"other producer"}),
        ({"status": "in_progress"}, set()),
        ({"status": "finished"}, {"other type", "in app", "skipped"}),
        ({"status": "finished", "user_id": "bob"}, {"skipped"}),
        ({"status": "finished", "channel": "in_app"}, {"in app"}),
        ({"status": "accepted", "channel": "email"}, set()),
        ({"channel": "in_app"}, {"in app"}),
        ({"channel": "email"}, {"other type", "skipped"}),
        ({"user_id": "bob"}, {"skipped"}),
        ({"user_id": "bob", "status": "published"}, set()),
        ({"since": "2000-01-01T00:00:00Z"}, {"other type", "in app", "skipped", "other producer"}),
        ({"since": "2100-01-01T00:00:00Z"}, set()),
        ({"until": "2000-01-01T00:00:00Z"}, set()),
        ({"since": "2000-01-01T00:00:00Z", "type": "invoice.due", "channel": "email"}, {"other type"}),
    ],
)
def test_each_filter_finds_what_it_says(api: Api, many: dict[str, str], query: dict[str, str], found: set[str]) -> None:
    assert set(_ids(api, **query)) == {many[name] for name in found}


def test_since_is_inclusive_and_until_is_not(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    moment = world.one("SELECT accepted_at FROM records").isoformat()

    assert _ids(api, since=moment) == [str(asked.notification_id)]
    assert _ids(api, until=moment) == []


@pytest.mark.parametrize("query", ["status=open", "channel=fax", "since=now", "limit=999", "until=2026-11-15"])
def test_a_filter_that_means_nothing_is_422(api: Api, query: str) -> None:
    assert api.get("/v1/notifications", query=query).status == 422


def test_a_cursor_that_was_not_given_out_is_400(api: Api) -> None:
    answer = api.get("/v1/notifications", query="cursor=abc")

    assert (answer.status, answer.json["type"]) == (400, "/errors#invalid-cursor")


def test_pages_neither_repeat_nor_skip_while_new_rows_arrive(world: World, api: Api) -> None:
    world.add_user()
    before = [str(world.accept().notification_id) for _ in range(7)]

    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get("/v1/notifications", query=f"limit=3&cursor={cursor}").json
        seen += [one["notification_id"] for one in page["data"]]
        cursor = page["next_cursor"]
        world.accept()

    assert seen == list(reversed(before))


def test_rows_of_one_moment_are_all_shown(world: World, api: Api) -> None:
    world.add_user()
    world.try_accept(*[world.asked() for _ in range(5)])
    assert world.one("SELECT count(DISTINCT accepted_at) FROM records") == 1

    first = api.get("/v1/notifications", query="limit=2").json
    second = api.get("/v1/notifications", query=f"limit=200&cursor={first['next_cursor']}").json

    assert len({one["notification_id"] for one in first["data"] + second["data"]}) == 5


def test_a_list_row_says_what_it_was_and_how_its_routes_stand(world: World, api: Api) -> None:
    world.add_user()
    world.accept(channels=["email", "in_app"], thread={"kind": "order", "id": "7"})
    waiting = api.get("/v1/notifications").json["data"][0]
    world.dispatch()
    (one,) = api.get("/v1/notifications").json["data"]

    assert (waiting["status"], waiting["route_counts"]) == ("accepted", {})
    assert (one["status"], one["route_counts"]) == ("finished", {"published": 2})
    assert (one["type"], one["thread"], one["producer"]) == ("order.shipped", {"kind": "order", "id": "7"}, "shop")
    assert "payload" not in one


def test_what_died_unplanned_is_not_accepted_again_when_its_letter_is_forgotten(world: World, api: Api) -> None:
    world.add_user()
    bury_plan(world)
    dead = api.get("/v1/notifications").json["data"][0]
    world.admin.execute("DELETE FROM dead_letters")
    (one,) = api.get("/v1/notifications").json["data"]
    detail = api.get(f"/v1/notifications/{one['notification_id']}").json

    assert (dead["status"], one["status"], detail["status"]) == ("dead_letter", "finished", "finished")
    assert (_ids(api, status="accepted"), _ids(api, status="finished")) == ([], [one["notification_id"]])


def test_one_call_answers_why_it_was_not_sent(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob", email=None)
    asked = world.accept(
        audience={"kind": "users", "user_ids": ["alice", "bob"]},
        retry={"max_attempts": 2, "backoff": "constant", "base_ms": 1000},
    )
    world.email.answers.extend([Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "down for lunch")] * 2)
    world.dispatch()
    world.pass_time(timedelta(seconds=5))
    world.dispatch()

    detail = api.get(f"/v1/notifications/{asked.notification_id}").json

    alice, bob = sorted(detail["routes"], key=lambda route: route["recipient"])
    assert (bob["recipient"], bob["status"], bob["reason"]) == ("user:bob", "skipped", "no_address")
    assert (alice["status"], alice["reason"], alice["attempt_count"]) == ("dead_letter", "exhausted", 2)
    assert [attempt["outcome"] for attempt in alice["attempts"]] == ["transient", "transient"]
    assert alice["last_error"]["message"] == "ServiceUnavailable: down for lunch"
    assert "replay" in alice["dead_letter"]["recovery_hint"]
    assert detail["status"] == "finished"
    story = [(entry["what"], entry["route_id"]) for entry in detail["timeline"]]
    assert story[0] == ("accepted", None)
    assert [what for what, route in story if route == alice["route_id"]] == [
        "planned",
        "attempt_opened",
        "attempt_transient",
        "attempt_opened",
        "attempt_transient",
        "dead_letter",
    ]
    assert ("skipped", bob["route_id"]) in story
    times = [entry["at"] for entry in detail["timeline"]]
    assert times == sorted(times)
    reasons = " ".join(entry["reason"] for entry in detail["timeline"])
    assert "down for lunch" in reasons
    assert "no_address" in reasons


def test_what_waits_says_for_what_and_until_when(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    world.email.answers.append(Failure(FailureClass.CONFIGURATION, "AccountSuspendedException", "suspended"))
    world.dispatch()

    detail = api.get(f"/v1/notifications/{asked.notification_id}").json

    (route,) = detail["routes"]
    assert detail["status"] == "in_progress"
    assert datetime.fromisoformat(route["next_attempt_at"]) > datetime.now(UTC)
    waiting = detail["timeline"][-1]
    assert waiting["what"] == "waiting"
    assert "AccountSuspendedException" in waiting["reason"]


def test_a_scheduled_and_cancelled_one_tells_both(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    world.admin.execute("UPDATE records SET cancelled_at = tocsin_now()")
    world.pass_time(timedelta(hours=2))
    world.dispatch()

    timeline = api.get(f"/v1/notifications/{asked.notification_id}").json["timeline"]

    assert [entry["what"] for entry in timeline] == ["accepted", "scheduled", "cancel_asked", "planned", "cancelled"]


def test_a_notification_says_when_it_was_last_changed(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    before = api.get(f"/v1/notifications/{asked.notification_id}").json
    world.pass_time(timedelta(minutes=5))

    api.post(f"/v1/notifications/{asked.notification_id}/cancel")

    (listed,) = api.get("/v1/notifications").json["data"]
    assert before["updated_at"] == before["accepted_at"]
    assert listed["updated_at"] == listed["cancelled_at"] > before["updated_at"]


def test_an_unknown_or_unreadable_id_is_404(world: World, api: Api) -> None:
    for unknown in ("nonsense", "00000000-0000-7000-8000-00000000000f"):
        assert api.get(f"/v1/notifications/{unknown}").status == 404


def test_the_words_of_the_record_are_shown_to_who_may_read(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(key="k-1", payload={"title": "T", "nested": {"a": [1, None, "é"]}}, priority="low")

    detail = api.get(f"/v1/notifications/{asked.notification_id}").json

    assert detail["payload"] == {"title": "T", "nested": {"a": [1, None, "é"]}}
    assert (detail["idempotency_key"], detail["priority"], detail["audience"]) == (
        "k-1",
        "low",
        {"kind": "users", "user_ids": ["alice"]},
    )
