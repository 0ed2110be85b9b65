"""One call shows all that is known of a notification: what was asked, by whom and when; each route, its tries and its end."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.functions.doors import Api, intent
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass

RETRY = {"max_attempts": 3, "backoff": "constant", "base_ms": 1000}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "down for lunch")
PAUSE = timedelta(hours=2)


def _is_about(text: str | None, moment: datetime) -> bool:
    return text is not None and abs(datetime.fromisoformat(text) - moment) < timedelta(minutes=5)


def _detail(api: Api, notification_id: Any) -> dict[str, Any]:
    shown: dict[str, Any] = api.get(f"/v1/notifications/{notification_id}").json
    return shown


def test_a_record_is_shown_as_it_was_asked(world: World, api: Api) -> None:
    world.add_user()
    now = datetime.now(UTC)
    asked = intent(occurred_at="2026-01-02T03:04:05Z", send_at=(now + PAUSE).isoformat(), payload={"title": "T"})
    made = api.send(
        asked, idempotency_key="k-1", request_id="req-1", headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    ).json

    detail = _detail(api, made["notification_id"])

    assert (detail["type"], detail["payload"]) == ("order.shipped", {"title": "T"})
    assert detail["audience"] == {"kind": "users", "user_ids": ["alice"]}
    assert (detail["producer"], detail["idempotency_key"]) == ("shop", "k-1")
    assert (detail["request_id"], detail["trace_id"]) == ("req-1", TRACE)
    assert detail["occurred_at"] == "2026-01-02T03:04:05Z"
    assert _is_about(detail["send_at"], now + PAUSE)
    assert _is_about(detail["accepted_at"], now)


def test_a_route_that_was_published_tells_its_whole_way(world: World, api: Api) -> None:
    world.add_user()
    now = datetime.now(UTC)
    world.email.answers.append(DOWN)
    asked = world.accept(retry=RETRY)
    world.dispatch()

    (waiting,) = _detail(api, asked.notification_id)["routes"]
    world.pass_time(PAUSE)
    world.dispatch()
    (route,) = _detail(api, asked.notification_id)["routes"]

    assert (waiting["status"], waiting["attempt_count"], waiting["max_attempts"]) == ("failed", 1, 3)
    assert _is_about(waiting["next_attempt_at"], now)
    assert waiting["last_error"] == {
        "classification": "transient",
        "message": "ServiceUnavailable: down for lunch",
        "at": waiting["last_error"]["at"],
    }
    assert _is_about(waiting["last_error"]["at"], now)
    assert (route["recipient"], route["channel"], route["status"]) == ("user:alice", "email", "published")
    assert (route["provider"], route["provider_message_id"], route["attempt_count"]) == ("ses", "m-1", 2)
    assert _is_about(route["created_at"], now)
    assert [_is_about(route[name], now + PAUSE) for name in ("published_at", "updated_at")] == [True, True]
    first, second = route["attempts"]
    assert (first["outcome"], second["outcome"]) == ("transient", "accepted")
    assert _is_about(first["started_at"], now)
    assert _is_about(second["started_at"], now + PAUSE)
    assert first["error_message"] == "ServiceUnavailable: down for lunch"


def test_routes_that_ended_otherwise_say_when(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob", email=None)
    now = datetime.now(UTC)
    world.email.answers.append(Failure(FailureClass.PERMANENT, "MessageRejected", "no"))
    asked = world.accept(audience={"kind": "users", "user_ids": ["alice", "bob"]})
    world.dispatch()

    alice, bob = sorted(_detail(api, asked.notification_id)["routes"], key=lambda route: route["recipient"])

    assert (alice["status"], bob["status"]) == ("dead_letter", "skipped")
    assert _is_about(alice["dead_lettered_at"], now)
    assert _is_about(bob["skipped_at"], now)
    assert (alice["skipped_at"], bob["dead_lettered_at"]) == (None, None)
