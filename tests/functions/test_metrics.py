"""Metrics, stuck notifications and the books by HTTP."""

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api, Context, handler_of, module_of, sqs_event
from tests.functions.readers import arrive
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.upkeep.balance import balance
from tocsin.upkeep.roll_up import roll_up

Later = Callable[[timedelta], None]


def _count(world: World) -> None:
    roll_up(world.retention, has_time=lambda: True)


def _today(world: World) -> date:
    today: date = world.one("SELECT (tocsin_now() AT TIME ZONE 'UTC')::date")
    return today


def _fail(world: World, how: FailureClass = FailureClass.PERMANENT) -> None:
    world.email.answers.append(Failure(how, "x", "x"))
    world.accept()
    world.dispatch()


@pytest.fixture
def counted(world: World) -> World:
    """Two emails went out and one failed, one went to an inbox, and a test key sent one."""
    world.add_user()
    _fail(world)
    for intent in ({}, {}, {"channels": ["in_app"]}, {"mode": "test"}):
        world.accept(**intent)
    world.dispatch()
    _count(world)
    return world


def test_a_day_is_shown_with_its_totals(counted: World, api: Api) -> None:
    answer = api.get("/v1/metrics").json

    today = _today(counted).isoformat()
    assert (answer["to"], answer["by"], answer["mode"]) == (today, "day", "live")
    rows = {(row["date"], row["hour"], row["channel"], row["provider"]): row for row in answer["data"]}
    assert rows.keys() == {(today, None, "email", "ses"), (today, None, "in_app", "inbox")}
    assert answer["totals"] | {"avg_delivery_ms": 0} == {
        "total_sent": 3,
        "total_failed": 1,
        "total_skipped": 0,
        "total_pending": 0,
        "avg_delivery_ms": 0,
    }
    assert 0 <= answer["totals"]["avg_delivery_ms"] < 60_000


def test_a_row_keeps_its_id_and_its_birth_while_its_numbers_change(counted: World, api: Api) -> None:
    def rows() -> dict[str, Any]:
        return {row["channel"]: row for row in api.get("/v1/metrics").json["data"]}

    born = counted.one("SELECT tocsin_now()")
    first = rows()
    counted.pass_time(timedelta(seconds=2))
    counted.accept()
    counted.dispatch()
    _count(counted)
    second = rows()

    assert len({row["id"] for row in first.values()}) == 2
    assert abs(datetime.fromisoformat(first["email"]["created_at"]) - born) < timedelta(minutes=1)
    kept = ("id", "created_at")
    assert [second["email"][name] for name in kept] == [first["email"][name] for name in kept]
    assert second["email"]["total_sent"] == first["email"]["total_sent"] + 1
    assert second["email"]["updated_at"] > first["email"]["updated_at"]
    assert second["in_app"] == first["in_app"]


def test_hours_channels_providers_and_test_keys_can_be_asked_for(counted: World, api: Api) -> None:
    def sent(query: str) -> int:
        return int(api.get("/v1/metrics", query=query).json["totals"]["total_sent"])

    assert sent("by=hour") == 3
    assert all(row["hour"] is not None for row in api.get("/v1/metrics", query="by=hour").json["data"])
    assert (sent("channel=in_app"), sent("provider=ses"), sent("provider=nobody")) == (1, 2, 0)
    assert sent("mode=test") == 1
    yesterday = _today(counted) - timedelta(days=1)
    assert sent(f"from={yesterday}&to={yesterday}") == 0


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-13-01",
        "from=20261101",
        "to=2026-11-17T00:00:00Z",
        "from=2026-11-02&to=2026-11-01",
        "from=2026-01-01&to=2026-03-01&by=hour",
        "from=2024-01-01&to=2026-03-01",
        "by=week",
        "mode=both",
        "channel=pigeon",
        "from=0001-01-01&to=9999-12-31",
        "from=9999-12-31",
    ],
)
def test_what_is_no_range_of_days_is_refused(query: str, api: Api) -> None:
    assert api.get("/v1/metrics", query=query).status == 422


def test_the_ends_of_the_calendar_are_days_too(api: Api) -> None:
    for query in ("to=0001-01-01&from=0001-01-01", "from=9999-12-31&to=9999-12-31"):
        assert api.get("/v1/metrics", query=query).json["data"] == []


def test_another_tenants_numbers_are_not_shown(counted: World, api: Api) -> None:
    counted.add_tenant()
    theirs = counted.add_key("operate", tenant=OTHER_TENANT)

    assert api.get("/v1/metrics", key=theirs).json["totals"]["total_sent"] == 0
    assert api.get("/v1/metrics/summary", key=theirs).json["statuses"] == {}
    assert api.get("/v1/metrics/recent", key=theirs).json["by"] == []
    assert sum(api.get("/v1/metrics/recent", key=theirs).json["accepted"]) == 0
    assert api.get("/v1/stuck-notifications", query="older_than=0", key=theirs).json["data"] == []


@pytest.mark.parametrize(
    "path", ["/v1/metrics", "/v1/metrics/summary", "/v1/metrics/recent", "/v1/stuck-notifications", "/v1/books"]
)
def test_only_operators_look(world: World, api: Api, path: str) -> None:
    assert api.get(path, key=world.add_key("send", "read", "manage")).status == 403


def test_the_summary_tells_the_statuses_and_how_each_provider_does(world: World, api: Api, later: Later) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    later(timedelta(hours=2))
    _fail(world)
    _fail(world, FailureClass.TRANSIENT)
    world.accept(mode="test")
    world.dispatch()
    world.accept()

    day, hour = (api.get("/v1/metrics/summary", query=query).json for query in ("", "window=3600"))

    assert day["statuses"] == {"published": 1, "dead_letter": 1, "failed": 1}
    assert hour["statuses"] == {"dead_letter": 1, "failed": 1}
    assert (hour["unplanned"], hour["window"]) == (1, 3600)
    assert day["providers"] == [
        {"channel": "email", "provider": "ses", "total": 3, "sent": 1, "failed": 1, "retrying": 1},
    ]


@pytest.mark.parametrize("query", ["window=59", "window=86401", "window=x", "window=-1", "window=%D9%A1%D9%A2%D9%A3"])
def test_a_window_is_a_minute_to_a_day(query: str, api: Api) -> None:
    assert api.get("/v1/metrics/summary", query=query).status == 422


def _told(series: list[int]) -> dict[int, int]:
    """What is not zero, by how many minutes ago it was."""
    return {len(series) - 1 - place: count for place, count in enumerate(series) if count}


def test_the_last_minutes_are_told_one_by_one(world: World, api: Api, later: Later) -> None:
    world.add_user()
    world.add_user("unreachable", email=None)
    second = world.one("SELECT extract(second FROM tocsin_now())::float8")
    later(timedelta(seconds=70 - second))  # not at the end of a minute
    world.accept()
    world.dispatch()
    later(timedelta(minutes=3))
    for broken in (FailureClass.PERMANENT, FailureClass.TRANSIENT):
        _fail(world, broken)
    world.accept(audience={"kind": "users", "user_ids": ["unreachable"]})
    world.accept(channels=["in_app"])
    world.accept(mode="test")
    world.dispatch()
    later(timedelta(minutes=1))
    world.accept()

    answer = api.get("/v1/metrics/recent", query="minutes=5").json

    minutes = [datetime.fromisoformat(one) for one in answer["minutes"]]
    assert answer["from"] == answer["minutes"][0]
    assert minutes == [minutes[0] + n * timedelta(minutes=1) for n in range(5)]
    assert minutes[-1] <= datetime.fromisoformat(answer["to"]) < minutes[-1] + timedelta(minutes=1)
    assert (answer["step_seconds"], answer["mode"]) == (60, "live")
    told = {name: _told(answer[name]) for name in ("accepted", "published", "dead_lettered", "skipped")}
    assert told == {"accepted": {4: 1, 1: 4, 0: 1}, "published": {4: 1, 1: 1}, "dead_lettered": {1: 1}, "skipped": {1: 1}}
    by = {(one["channel"], one["provider"]): one for one in answer["by"]}
    assert by.keys() == {("email", "ses"), ("in_app", "inbox")}
    ways = {way: {name: _told(of[name]) for name in ("published", "failed_attempts", "dead_lettered")} for way, of in by.items()}
    assert ways == {
        ("email", "ses"): {"published": {4: 1}, "failed_attempts": {1: 2}, "dead_lettered": {1: 1}},
        ("in_app", "inbox"): {"published": {1: 1}, "failed_attempts": {}, "dead_lettered": {}},
    }


def test_what_is_longer_ago_is_not_told_and_test_keys_have_charts_of_their_own(world: World, api: Api, later: Later) -> None:
    world.add_user()
    world.accept()
    world.accept(mode="test")
    world.dispatch()

    test = api.get("/v1/metrics/recent", query="mode=test").json
    later(timedelta(minutes=6))
    short, long = (api.get("/v1/metrics/recent", query=f"minutes={minutes}").json for minutes in (5, 180))

    assert len(test["minutes"]) == 60
    assert (test["mode"], sum(test["accepted"]), [one["provider"] for one in test["by"]]) == ("test", 1, ["sandbox"])
    assert (len(short["published"]), sum(short["published"]), short["by"]) == (5, 0, [])
    assert (len(long["published"]), sum(long["published"])) == (180, 1)


@pytest.mark.parametrize(
    "query", ["minutes=4", "minutes=181", "minutes=x", "minutes=-5", "minutes=", "mode=both", "minutes=%D9%A6"]
)
def test_charts_are_of_five_minutes_to_three_hours(query: str, api: Api) -> None:
    assert api.get("/v1/metrics/recent", query=query).status == 422


def test_what_has_waited_for_an_hour_is_listed_with_what_it_waits_for(world: World, api: Api, later: Later) -> None:
    world.add_user()
    _fail(world, FailureClass.TRANSIENT)
    stuck = world.one("SELECT notification_id FROM records")
    world.accept(send_at=(world.one("SELECT tocsin_now()") + timedelta(days=2)).isoformat())
    assert api.get("/v1/stuck-notifications").json["data"] == []

    later(timedelta(hours=2))
    world.accept()

    (row,) = api.get("/v1/stuck-notifications").json["data"]
    assert (row["notification_id"], row["kind"], row["channel"], row["recipient"]) == (
        str(stuck), "deliver", "email", "user:alice",
    )  # fmt: skip
    assert (row["status"], row["attempt_count"]) == ("failed", 1)
    assert "id" not in row


def test_a_plan_that_nobody_makes_is_stuck(world: World, api: Api, later: Later) -> None:
    world.add_user()
    world.accept()

    later(timedelta(hours=2))

    (row,) = api.get("/v1/stuck-notifications").json["data"]
    assert (row["kind"], row["status"], row["route_id"]) == ("plan", "accepted", None)


def test_stuck_notifications_are_listed_page_by_page_the_oldest_first(world: World, api: Api, later: Later) -> None:
    world.add_user()
    for _ in range(5):
        world.accept()
        later(timedelta(hours=1))

    pages: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = api.get("/v1/stuck-notifications", query=f"limit=2&older_than=60&cursor={cursor}").json
        pages.append([row["waiting_since"] for row in page["data"]])
        cursor = page["next_cursor"]

    assert [len(page) for page in pages] == [2, 2, 1]
    times = [one for page in pages for one in page]
    assert times == sorted(set(times))


def test_the_books_of_a_sound_tenant_balance(counted: World, api: Api) -> None:
    answer = api.get("/v1/books").json

    assert (answer["balance"], answer["is_complete"]) == (True, True)
    assert {check["count"] for check in answer["checks"]} == {0}
    assert answer["last_run"] is None


def test_a_breach_is_shown_to_the_tenant_whose_it_is(counted: World, api: Api) -> None:
    counted.add_tenant()
    theirs = counted.add_key("operate", tenant=OTHER_TENANT)
    counted.admin.execute("DELETE FROM attempts WHERE outcome = 'accepted'")
    balance(counted.retention, has_time=lambda: True)

    answer = api.get("/v1/books", query="hours=24").json

    (breach,) = [check for check in answer["checks"] if check["count"]]
    assert (answer["balance"], breach["check"], breach["count"]) == (False, "published_without_acceptance", 3)
    assert len(breach["ids"]) == 3
    assert api.get("/v1/books", key=theirs).json["balance"] is True
    assert {one["tenant_id"] for one in counted.system_events()} == {TENANT}


@pytest.mark.parametrize("query", ["hours=0", "hours=25", "hours=x"])
def test_the_books_are_looked_at_for_a_day_at_most(query: str, api: Api) -> None:
    assert api.get("/v1/books", query=query).status == 422


def _written(capsys: pytest.CaptureFixture[str], name: str) -> list[dict[str, Any]]:
    """The lines that CloudWatch makes this metric of."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    return [line for line in lines if name in line]


def test_what_readers_do_is_counted(world: World, api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    world.add_user()
    for title in ("one", "two"):
        arrive(world, title)
    rows = [str(row["id"]) for row in world.inbox()]

    api.patch(f"/v1/inbox/{rows[0]}", {"read": True, "done": False}, query="user_id=alice")
    api.delete(f"/v1/inbox/{rows[1]}", query="user_id=alice")

    assert [(line["action"], line["InboxActions"]) for line in _written(capsys, "InboxActions")] == [
        ("read", [1.0]),
        ("hidden", [1.0]),
    ]


def test_a_worker_writes_one_line_for_each_outcome_and_names_nobody(
    world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_user()
    for _ in range(3):
        world.accept()
    world.email.answers.append(Failure(FailureClass.PERMANENT, "x", "x"))
    run_as("tocsin_worker")
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)
    assert world.work_queue is not None

    handler_of("dispatch")(sqs_event(*world.work_queue.bodies()), Context())

    lines = _written(capsys, "Routes")
    assert {(line["channel"], line["provider"], line["outcome"]): line["Routes"] for line in lines} == {
        ("email", "ses", "published"): [2.0],
        ("email", "ses", "dead_letter"): [1.0],
    }
    assert not any(word in str(lines) for word in ("alice", str(TENANT)))
