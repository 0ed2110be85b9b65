"""Lanes by HTTP: which ways out are in trouble, and opening one."""

from datetime import timedelta

import pytest

from tests.functions.doors import Api
from tests.integration.test_lanes import SUSPENDED
from tests.operators import close_lane
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.ids import uuid7
from tocsin.outbox.sweep import sweep

OPEN = "/v1/lanes/ses:email/open"
REASON = {"reason": "The account is no longer suspended."}


@pytest.fixture
def other(world: World) -> Api:
    world.add_tenant()
    return Api(world.add_key("operate", tenant=OTHER_TENANT))


def _stop(world: World, *, waiting: int) -> None:
    """SES says that the account is suspended; so many messages come after that and wait."""
    world.add_user()
    world.email.answers.append(SUSPENDED)
    for _ in range(waiting):
        world.accept()
    world.dispatch(concurrency=1)
    world.pass_time(timedelta(seconds=2))
    world.dispatch()
    assert world.email.accepted == []


def test_a_lane_in_trouble_is_listed_with_all_that_is_known_of_it(world: World, api: Api) -> None:
    _stop(world, waiting=3)

    (lane,) = api.get("/v1/lanes").json["data"]

    known = {"id": "ses:email", "belongs_to": {"kind": "installation"}, "state": "stopped", "trouble": "configuration"}
    known |= {"reason": "AccountSuspendedException", "strikes": 1, "is_closed": True}
    assert lane | known == lane
    assert lane["waiting"] == {"count": 3, "at_least": False}
    assert lane["resume_at"] > lane["since"]


def test_opening_a_lane_sends_what_waited_and_resolves_what_was_told_of_it(world: World, api: Api) -> None:
    _stop(world, waiting=3)
    before = len(world.nudges())

    opened = api.post(OPEN, REASON)

    assert (opened.status, opened.json["woken"], opened.json["was"]["state"]) == (200, 3, "stopped")
    assert len(world.nudges()) == before + 1
    world.dispatch()
    assert len(world.email.accepted) == 3
    assert api.get("/v1/lanes").json["data"] == []
    (event,) = api.get("/v1/system-events", query="event_type=lane_stopped").json["data"]
    assert (event["is_resolved"], event["resolution_reason"]) == (True, REASON["reason"])
    assert event["resolved_by"] == str(world.one("SELECT id FROM api_keys"))


def test_opening_is_audited_and_a_second_click_opens_nothing(world: World, api: Api) -> None:
    _stop(world, waiting=1)

    assert [api.post(OPEN, REASON).status for _ in range(2)] == [200, 404]

    (row,) = world.rows("SELECT * FROM audit_logs WHERE resource_type = 'lane'")
    assert (row["action"], row["resource_id"]) == ("open", "ses:email")
    assert row["changes"]["old"]["state"] == "stopped"
    assert row["changes"]["new"] == {"state": "open"} | REASON


def test_a_lane_that_is_opened_too_early_closes_again(world: World, api: Api) -> None:
    _stop(world, waiting=2)
    api.post(OPEN, REASON)
    world.email.answers.append(SUSPENDED)

    world.dispatch(concurrency=1)

    assert world.email.accepted == []
    assert [lane["state"] for lane in api.get("/v1/lanes").json["data"]] == ["stopped"]
    told = api.get("/v1/system-events", query="event_type=lane_stopped").json["data"]
    assert [event["is_resolved"] for event in told] == [False, True]


def test_the_work_of_other_tenants_follows_with_the_next_sweep(world: World, api: Api, other: Api) -> None:
    world.add_user(tenant=OTHER_TENANT)
    _stop(world, waiting=1)
    world.accept(tenant=OTHER_TENANT)
    world.dispatch()

    assert api.post(OPEN, REASON).json["woken"] == 1
    sweep(world.worker)
    world.dispatch()

    assert len(world.email.accepted) == 2


def test_the_installations_lane_is_everyones_to_see_and_its_own_tenants_to_open(world: World, api: Api, other: Api) -> None:
    _stop(world, waiting=1)

    (seen,) = other.get("/v1/lanes").json["data"]
    assert (seen["id"], seen["waiting"]["count"]) == ("ses:email", 0), "of the work only their own"
    assert other.post(OPEN, REASON).json["type"] == "/errors#of-the-installation"
    assert api.post(OPEN, REASON).status == 200


def test_a_tenants_own_lane_is_theirs_to_see_and_to_open(world: World, api: Api, other: Api) -> None:
    """The installation's tenant has no more right to it than anybody else."""
    hook = close_lane(world, f"webhook:{uuid7()}", tenant=OTHER_TENANT)

    assert api.get("/v1/lanes").json["data"] == []
    assert api.post(f"/v1/lanes/{hook}/open", REASON).status == 404
    (lane,) = other.get("/v1/lanes").json["data"]
    assert lane["belongs_to"] == {"kind": "webhook", "id": hook.partition(":")[2]}
    assert other.post(f"/v1/lanes/{hook}/open", REASON).status == 200


def test_row_level_security_lets_nobody_delete_the_installations_lane(world: World, other: Api) -> None:
    close_lane(world, "ses:email", tenant=None)
    world.app.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(OTHER_TENANT)])

    assert world.app.execute("DELETE FROM lanes").rowcount == 0


def test_pages_follow_each_other_by_name(world: World, api: Api) -> None:
    names = sorted(close_lane(world, f"{what}:{uuid7()}") for what in ("webhook", "handler", "sendgrid"))

    first = api.get("/v1/lanes", query="limit=2").json
    second = api.get("/v1/lanes", query=f"limit=2&cursor={first['next_cursor']}").json

    assert [lane["id"] for lane in first["data"] + second["data"]] == names
    assert second["next_cursor"] is None


def test_much_that_waits_is_counted_so_far(world: World, api: Api) -> None:
    close_lane(world, "ses:email", tenant=None)
    world.admin.execute(
        """INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, waits_for)
           SELECT tocsin_uuid7(), %s, 'deliver', 'email', tocsin_now() + interval '1 hour', 5, 'linear', 1, 'ses:email'
           FROM generate_series(1, 1500)""",
        [TENANT],
    )

    (lane,) = api.get("/v1/lanes").json["data"]
    assert lane["waiting"] == {"count": 1000, "at_least": True}


def test_a_worker_that_still_believed_the_lane_closed_delays_nobody_for_long(world: World, api: Api) -> None:
    """It puts off what it holds until the lane would have resumed; the sweep finds that it waits for nothing."""
    _stop(world, waiting=1)
    api.post(OPEN, REASON)
    world.admin.execute("UPDATE outbox SET due_at = tocsin_now() + interval '10 minutes', waits_for = 'ses:email'")

    world.pass_time(timedelta(minutes=1))
    sweep(world.worker)
    world.dispatch()

    assert len(world.email.accepted) == 1
