"""/v1/inbox/preferences and /v1/inbox/threads: what a person wants to hear, on which channel, and of which thread."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.events import fan_out_all, happen, reasons, route
from tests.functions.doors import Answer, Api
from tests.functions.readers import Reader, arrive
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.people import preferences

PATH = "/v1/inbox/preferences"
THREAD = "/v1/inbox/threads/issue/7"
DEFAULT: dict[str, Any] = {
    "notification_type": None,
    "enabled": True,
    "frequency_cap": None,
    "quiet_hours_start": None,
    "quiet_hours_end": None,
    "timezone": "UTC",
    "created_at": None,
    "updated_at": None,
}


@pytest.fixture
def alice(world: World, browser_of: Callable[[str], Reader]) -> Api:
    """Her browser."""
    world.add_user("alice")
    return browser_of("alice").api


def _put(api: Api, channel: str, body: Any, notification_type: str = "") -> Answer:
    return api.put(f"{PATH}/{channel}", body, query={"type": notification_type} if notification_type else "")


def _without_time(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name not in ("created_at", "updated_at")}


def test_who_chose_nothing_has_every_channel_on_without_limits(alice: Api) -> None:
    answer = alice.get(PATH)

    assert answer.json["data"] == [DEFAULT | {"channel": channel} for channel in ("email", "sms", "push", "in_app")]
    assert alice.get(f"{PATH}/sms").json == {"channel": "sms"} | DEFAULT


def test_a_finer_rule_leaves_to_the_channels_what_it_does_not_say(alice: Api) -> None:
    unset = alice.get(f"{PATH}/sms", query="type=news").json
    assert unset == {"channel": "sms"} | DEFAULT | {"notification_type": "news", "enabled": None}

    assert _put(alice, "sms", {"frequency_cap": 3}, "news").json["enabled"] is None
    assert _put(alice, "sms", {"enabled": True}, "news").json["enabled"] is True
    assert _put(alice, "sms", {"frequency_cap": 3}).json["enabled"] is True


def test_a_rule_is_set_shown_replaced_and_reset(world: World, alice: Api) -> None:
    rule = {
        "enabled": True,
        "frequency_cap": 5,
        "quiet_hours_start": "22:00",
        "quiet_hours_end": "07:30",
        "timezone": "Europe/Lisbon",
    }

    first = _put(alice, "email", rule)

    assert first.status == 200
    assert _without_time(first.json) == {"channel": "email", "notification_type": None} | rule
    assert alice.get(f"{PATH}/email").json == first.json
    assert alice.get(PATH).json["data"][0] == first.json
    second = _put(alice, "email", {"enabled": False})
    assert _without_time(second.json) == {"channel": "email"} | _without_time(DEFAULT) | {"enabled": False}
    assert second.json["updated_at"] > first.json["updated_at"] == first.json["created_at"] == second.json["created_at"]
    assert alice.delete(f"{PATH}/email").status == 204
    assert alice.delete(f"{PATH}/email").status == 204
    assert alice.get(f"{PATH}/email").json == {"channel": "email"} | DEFAULT
    assert world.count("preferences") == 0


def test_finer_rules_for_a_type_stand_beside_the_plain_ones(world: World, alice: Api) -> None:
    _put(alice, "in_app", {"enabled": False}, "news")
    _put(alice, "email", {"enabled": False}, "news")
    _put(alice, "email", {"frequency_cap": 0}, "alerts")
    _put(alice, "email", {"frequency_cap": 9})

    rules = [(one["channel"], one["notification_type"]) for one in alice.get(PATH).json["data"]]

    assert rules == [
        ("email", None), ("sms", None), ("push", None), ("in_app", None),
        ("email", "alerts"), ("email", "news"), ("in_app", "news"),
    ]  # fmt: skip
    assert alice.get(f"{PATH}/email", query="type=alerts").json["frequency_cap"] == 0
    alice.delete(f"{PATH}/email", query="type=news")
    assert alice.get(f"{PATH}/email", query="type=news").json["enabled"] is None
    assert alice.get(f"{PATH}/email").json["frequency_cap"] == 9
    assert alice.get(f"{PATH}/in_app", query="type=news").json["enabled"] is False


def test_a_rule_without_a_time_zone_is_in_the_users_own(world: World, api: Api, alice: Api) -> None:
    api.put("/v1/users/alice", {"timezone": "Asia/Tokyo"})

    assert {one["timezone"] for one in alice.get(PATH).json["data"]} == {"Asia/Tokyo"}
    assert _put(alice, "email", {"quiet_hours_start": "22:00", "quiet_hours_end": "07:00"}).json["timezone"] == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"enabled": "no"}, "/enabled"),
        ({"enabled": 0}, "/enabled"),
        ({"frequency_cap": -1}, "/frequency_cap"),
        ({"frequency_cap": 10_001}, "/frequency_cap"),
        ({"frequency_cap": "5"}, "/frequency_cap"),
        ({"frequency_cap": 1.5}, "/frequency_cap"),
        ({"frequency_cap": True}, "/frequency_cap"),
        ({"quiet_hours_start": "22:00"}, "/quiet_hours_end"),
        ({"quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "22:00", "quiet_hours_end": None}, "/quiet_hours_end"),
        ({"quiet_hours_start": "07:00", "quiet_hours_end": "07:00"}, "/quiet_hours_end"),
        ({"quiet_hours_start": "24:00", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "22:60", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "7:00", "quiet_hours_end": "09:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "22:00:00", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "T22:0", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "22+01", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "2200Z", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "T2200", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": "٢٢:00", "quiet_hours_end": "07:00"}, "/quiet_hours_start"),
        ({"quiet_hours_start": 22, "quiet_hours_end": 7}, "/quiet_hours_start"),
        ({"timezone": "Mars/Olympus"}, "/timezone"),
        ({"timezone": "../../etc/passwd"}, "/timezone"),
        ({"timezone": "+02:00"}, "/timezone"),
        ({"timezone": 7}, "/timezone"),
        ({"channel": "sms"}, "/channel"),
        ({"notification_type": "news"}, "/notification_type"),
        ([], ""),
    ],
    ids=str,
)
def test_a_rule_of_another_shape_is_422_and_says_where(world: World, alice: Api, body: Any, pointer: str) -> None:
    problem = assert_problem(_put(alice, "email", body), 422, "invalid-request")

    assert pointer in {error["pointer"] for error in problem["errors"]}
    assert world.count("preferences") == 0


@pytest.mark.parametrize(
    "body",
    [
        {"frequency_cap": 5},
        {"quiet_hours_start": "22:00", "quiet_hours_end": "07:00"},
        {"timezone": "Europe/Lisbon"},
        {"enabled": False, "frequency_cap": 0},
    ],
    ids=str,
)
def test_the_inbox_can_only_be_switched_on_and_off(world: World, alice: Api, body: dict[str, Any]) -> None:
    assert_problem(_put(alice, "in_app", body), 422, "invalid-request")
    assert world.count("preferences") == 0
    assert _put(alice, "in_app", {"enabled": False}).json["enabled"] is False


@pytest.mark.parametrize("channel", ["webhook", "pigeon", "EMAIL", "x"])
def test_a_channel_that_does_not_exist_is_404(alice: Api, channel: str) -> None:
    for answer in (alice.get(f"{PATH}/{channel}"), _put(alice, channel, {}), alice.delete(f"{PATH}/{channel}")):
        assert_problem(answer, 404, "not-found")


def test_a_type_has_at_most_a_hundred_characters(world: World, alice: Api) -> None:
    assert _put(alice, "email", {}, "x" * 100).status == 200
    assert_problem(_put(alice, "email", {}, "x" * 101), 422, "invalid-request")


def test_an_empty_type_is_a_slip_and_not_the_whole_channel(world: World, alice: Api) -> None:
    answer = alice.put(f"{PATH}/email", {"enabled": False}, query={"type": ""})

    assert (answer.status, answer.json["errors"][0]["pointer"], world.count("preferences")) == (422, "?type", 0)


def test_a_rule_is_found_however_many_there_are(world: World, alice: Api) -> None:
    world.admin.execute(
        """INSERT INTO preferences (id, tenant_id, user_id, channel, notification_type, enabled)
           SELECT gen_random_uuid(), tenant_id, id, 'email', 'a' || n, true FROM users, generate_series(1, %s) AS n""",
        [preferences.MOST_PREFERENCES],
    )

    answer = _put(alice, "email", {"enabled": False}, "zebra")

    if answer.status == 200:
        assert alice.get(f"{PATH}/email", query="type=zebra").json["enabled"] is False
    else:
        assert answer.status in (409, 422)


def test_preferences_and_threads_are_each_persons_own(world: World, api: Api, alice: Api) -> None:
    world.add_tenant()
    world.add_user("bob")
    world.add_user("alice", tenant=OTHER_TENANT)
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    _put(alice, "email", {"enabled": False})
    alice.put(THREAD, {"subscribed": True})

    for other, user in ((api, "bob"), (theirs, "alice")):
        query = {"user_id": user}
        assert other.get(f"{PATH}/email", query=query).json["enabled"] is True
        assert other.get(THREAD, query=query).json["subscribed"] is None
        assert other.delete(f"{PATH}/email", query=query).status == 204
        assert other.delete(THREAD, query=query).status == 204
    assert (alice.get(f"{PATH}/email").json["enabled"], alice.get(THREAD).json["subscribed"]) == (False, True)


def test_an_inbox_that_is_switched_off_gets_nothing_more_and_keeps_what_it_has(world: World, alice: Api) -> None:
    arrive(world, "before")
    _put(alice, "in_app", {"enabled": False}, "order.shipped")
    arrive(world, "while off")
    arrive(world, "another type", type="order.paid")
    alice.delete(f"{PATH}/in_app", query="type=order.shipped")
    arrive(world, "after")

    assert Reader(alice).titles() == ["after", "another type", "before"]


def test_a_thread_is_subscribed_muted_and_left_to_its_default(world: World, alice: Api) -> None:
    nothing = {"thread": {"kind": "issue", "id": "7"}, "subscribed": None, "reason": None, "updated_at": None}
    assert alice.get(THREAD).json == nothing

    for choice in (True, False, True):
        answer = alice.put(THREAD, {"subscribed": choice})
        assert (answer.status, answer.json["subscribed"], answer.json["reason"]) == (200, choice, "manual")
        assert alice.get(THREAD).json == answer.json
    assert alice.delete(THREAD).status == 204
    assert alice.delete(THREAD).status == 204
    assert (alice.get(THREAD).json, world.count("notification_threads")) == (nothing, 0)


def test_who_took_part_is_subscribed_and_says_why_until_they_say_otherwise(world: World, alice: Api) -> None:
    route(world)
    happen(world, mentions=["alice"], thread={"kind": "issue", "id": "7"})
    fan_out_all(world)
    assert (alice.get(THREAD).json["subscribed"], alice.get(THREAD).json["reason"]) == (True, "mention")

    alice.put(THREAD, {"subscribed": False})
    happen(world, assignees=["alice"], thread={"kind": "issue", "id": "7"})
    fan_out_all(world)

    assert (reasons(world), Reader(alice).rows()[0]["event_count"]) == ({"alice": "mention"}, 1)
    assert (alice.get(THREAD).json["subscribed"], alice.get(THREAD).json["reason"]) == (False, "manual")


@pytest.mark.parametrize(
    "body", [{}, {"subscribed": None}, {"subscribed": "yes"}, {"subscribed": 1}, {"subscribed": True, "reason": "x"}, []], ids=str
)
def test_a_choice_of_another_shape_is_422(world: World, alice: Api, body: Any) -> None:
    assert_problem(alice.put(THREAD, body), 422, "invalid-request")
    assert world.count("notification_threads") == 0


@pytest.mark.parametrize("thread", ["x" * 65 + "/7", "issue/" + "x" * 256, "issue/a%00b", "a%00b/7"])
def test_a_thread_of_no_sense_is_422(world: World, alice: Api, thread: str) -> None:
    path = f"/v1/inbox/threads/{thread}"
    for answer in (alice.get(path), alice.put(path, {"subscribed": True}), alice.delete(path)):
        assert_problem(answer, 422, "invalid-request")


def test_a_thread_may_have_any_other_characters(world: World, alice: Api) -> None:
    path = "/v1/inbox/threads/pull%20request/org%2Frepo%237"

    assert alice.put(path, {"subscribed": True}).json["thread"] == {"kind": "pull request", "id": "org/repo#7"}
    (row,) = world.rows("SELECT tenant_id, thread_kind, thread_id FROM notification_threads")
    assert (row["tenant_id"], row["thread_kind"], row["thread_id"]) == (TENANT, "pull request", "org/repo#7")
