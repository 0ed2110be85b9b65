"""The ways out: a tenant's own providers by priority, failover past those in trouble, and the breaker that passes them over."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from devstack.post_office import PostOffice
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.unit.claims import DEVICE, a_claim
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels import installation
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.database import tenant_transaction
from tocsin.store import provider_configs

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
SUSPENDED = Failure(FailureClass.CONFIGURATION, "AccountSuspendedException", "the account is suspended")


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    return make_data_key(monkeypatch)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


def _send(world: World, office: PostOffice, count: int = 1, channel: str = "email") -> list[str]:
    """Send so many and say which provider each of them went by."""
    before = {"ses": len(world.email.accepted), "sns": len(world.sms.accepted), "others": len(office.ledger())}
    for _ in range(count):
        world.accept(channels=[channel])
    deliver_by(world, ways_of(world, office.url))
    default = ["ses"] * (len(world.email.accepted) - before["ses"]) + ["sns"] * (len(world.sms.accepted) - before["sns"])
    return [row["provider"] for row in office.ledger()[before["others"] :]] + default


def _lanes(world: World) -> dict[str, str]:
    return {row["lane"]: row["state"] for row in world.rows("SELECT lane, state FROM lanes")}


def test_a_tenants_own_provider_comes_before_the_default_one(world: World, office: PostOffice) -> None:
    world.add_user(phone="+14155550100")
    add_provider(world, "sendgrid", api_key="SG.key")
    add_provider(world, "twilio", api_key="AC1", api_secret="token")

    assert _send(world, office) == ["sendgrid"]
    assert _send(world, office, channel="sms") == ["twilio"]
    assert {route["provider"] for route in world.routes()} == {"sendgrid", "twilio"}
    assert {attempt["provider"] for attempt in world.attempts()} == {"sendgrid", "twilio"}


@pytest.mark.parametrize(("priority", "first"), [(5, "sendgrid"), (1, "sendgrid"), (-1, "ses")])
def test_the_default_provider_has_the_priority_nought(world: World, office: PostOffice, priority: int, first: str) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", priority=priority)

    assert _send(world, office) == [first]


def test_a_row_for_the_default_provider_gives_it_another_priority(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", priority=10)
    add_provider(world, "ses", priority=20)

    assert _send(world, office) == ["ses"]


def test_an_inactive_row_switches_the_default_provider_off(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", priority=-10)
    add_provider(world, "ses", is_active=False)

    assert _send(world, office) == ["sendgrid"]


def test_an_inactive_provider_is_not_used(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key", is_active=False)

    assert _send(world, office) == ["ses"]


def test_a_tenants_provider_serves_nobody_else(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", tenant=world.add_tenant(), api_key="SG.theirs")

    assert _send(world, office) == ["ses"]


def test_a_change_is_noticed_by_a_running_worker(world: World, office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "KNOWN_SECONDS", 0.0)
    world.add_user()
    row = add_provider(world, "sendgrid", api_key="SG.key")
    ways = ways_of(world, office.url)
    world.accept()
    deliver_by(world, ways)

    with tenant_transaction(world.app, TENANT):
        provider_configs.update(world.app, TENANT, row.id, is_active=False, priority=None, rate_limit=None, timeout_seconds=None)
    world.accept()
    deliver_by(world, ways)

    assert (len(office.ledger()), len(world.email.accepted)) == (1, 1)


def test_with_every_provider_switched_off_messages_wait_and_nobody_else_is_held_up(world: World, office: PostOffice) -> None:
    world.add_user()
    world.add_user(tenant=world.add_tenant(), email="theirs@example.com")
    add_provider(world, "ses", is_active=False)
    world.accept()
    world.accept(tenant=OTHER_TENANT)

    deliver_by(world, ways_of(world, office.url))

    ours, theirs = (world.rows("SELECT * FROM routes WHERE tenant_id = %(t)s", t=tenant) for tenant in (TENANT, OTHER_TENANT))
    assert [(route["status"], route["attempt_count"]) for route in ours] == [("pending", 0)]
    assert [route["status"] for route in theirs] == ["published"]
    assert [route["reason"] for route in ours] == ["lane_stopped: no active provider"]


def test_when_there_is_a_way_again_what_waited_goes_out_and_the_trouble_is_over(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "ses", is_active=False)
    world.accept()
    deliver_by(world, ways_of(world, office.url))

    add_provider(world, "sendgrid", api_key="SG.key")
    world.pass_time(timedelta(hours=1))
    deliver_by(world, ways_of(world, office.url))

    assert (world.route()["status"], world.route()["provider"]) == ("published", "sendgrid")
    assert world.rows("SELECT * FROM lanes") == []


def test_a_push_goes_by_a_provider_that_knows_the_device(world: World, office: PostOffice) -> None:
    add_provider(world, "fcm", api_key="{}")
    ways = ways_of(world, office.url)
    ways.prepare(world.worker, {TENANT})

    def chosen(platform: str) -> str:
        delivery = a_claim(tenant_id=TENANT, channel="push", device=DEVICE._replace(platform=platform))
        return ways.serving(delivery)[0].channel.provider

    assert (chosen("fcm"), chosen("apns")) == ("fcm", "sns")


def test_a_test_key_reaches_no_provider_of_the_tenants_own_either(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")

    world.accept(mode="test")
    deliver_by(world, ways_of(world, office.url))

    assert (office.ledger(), world.email.calls, world.route()["provider"]) == ([], 0, "sandbox")


def test_past_a_stopped_provider_the_next_one_is_used(world: World, office: PostOffice) -> None:
    world.add_user()
    row = add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "suspend", times=1)

    assert _send(world, office) == []  # it stops the lane
    assert _lanes(world) == {f"sendgrid:{row.id}": "stopped"}
    assert _send(world, office, 3) == ["ses"] * 3


def test_the_rest_of_the_batch_that_a_provider_stopped_in_goes_by_the_next_one(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "suspend", times=1)
    _send(world, office, 4)

    world.pass_time(timedelta(seconds=5))
    deliver_by(world, ways_of(world, office.url))

    assert (len(world.email.accepted), world.one("SELECT count(*) FROM routes WHERE status = 'pending'")) == (3, 1)
    assert {route["attempt_count"] for route in world.routes()} == {0, 1}


def test_when_all_are_stopped_a_message_waits_for_the_first_that_opens_again(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "suspend", times=1)
    world.email.answers.append(SUSPENDED)
    _send(world, office)
    world.pass_time(timedelta(minutes=2))
    _send(world, office)

    late = world.accept()
    deliver_by(world, ways_of(world, office.url))

    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=late.notification_id)
    assert (route["status"], route["attempt_count"], route["deferred_reason"][:12]) == ("pending", 0, "lane_stopped")
    assert 170 <= (route["next_attempt_at"] - route["deferred_at"]).total_seconds() <= 200


@pytest.mark.parametrize("batches", [[5], [2, 3], [1, 1, 1, 1, 1]])
def test_five_failures_in_a_row_open_the_breaker_and_are_told_once(world: World, office: PostOffice, batches: list[int]) -> None:
    world.add_user()
    row = add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "unavailable", times=5)

    for count in batches:
        assert _send(world, office, count) == []

    assert _lanes(world) == {f"sendgrid:{row.id}": "broken"}
    (event,) = world.system_events()
    assert (event["event_type"], event["severity"], event["is_resolved"]) == ("breaker_opened", "high", False)
    assert event["subject"] == f"sendgrid:{row.id}"


def test_four_failures_and_a_success_do_not(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")

    for _ in range(3):
        office.fail("email", "unavailable", times=4)
        assert _send(world, office, 4) == []
        assert _send(world, office) == ["sendgrid"]

    assert (_lanes(world), world.system_events()) == ({}, [])


def test_a_broken_provider_is_passed_over_until_its_pause_ends_and_is_well_when_a_message_goes_through(
    world: World, office: PostOffice
) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "unavailable", times=5)
    _send(world, office, 5)
    world.admin.execute("UPDATE outbox SET due_at = due_at + interval '1 day'")  # the retries are not what this is about

    assert _send(world, office, 2) == ["ses", "ses"]
    world.pass_time(timedelta(seconds=31))
    assert _send(world, office) == ["sendgrid"]

    assert _lanes(world) == {}
    assert [event["is_resolved"] for event in world.system_events()] == [True]


def test_a_provider_that_keeps_failing_rests_longer_each_time_and_is_told_of_once(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "unavailable")
    rests = []
    for _ in range(7):
        _send(world, office, 5)
        rests.append(world.one("SELECT extract(epoch FROM resume_at - updated_at)::integer FROM lanes"))
        world.admin.execute("DELETE FROM outbox")
        world.pass_time(timedelta(minutes=11))

    assert rests == [30, 60, 120, 240, 480, 600, 600]
    assert [event["is_resolved"] for event in world.system_events()] == [False]


def test_failures_past_an_open_breaker_are_lost_answers_too(world: World, office: PostOffice) -> None:
    world.add_user()
    row = add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "error_before", times=5)  # SendGrid's 500: it may have been accepted

    _send(world, office, 5)

    assert _lanes(world) == {f"sendgrid:{row.id}": "broken"}
    assert {attempt["outcome"] for attempt in world.attempts()} == {"unknown"}


def test_a_refused_recipient_is_no_failure_of_the_provider(world: World, office: PostOffice) -> None:
    world.add_user()
    add_provider(world, "sendgrid", api_key="SG.key")
    office.fail("email", "refuse", times=6)

    _send(world, office, 6)

    assert (_lanes(world), len(world.dead_letters())) == ({}, 6)


def test_a_broken_provider_that_is_the_only_one_is_still_used(world: World, office: PostOffice) -> None:
    world.add_user()
    world.email.answers.extend([TRANSIENT] * 5)
    _send(world, office, 5)
    assert _lanes(world) == {"ses:email": "broken"}

    assert _send(world, office) == ["ses"]

    assert _lanes(world) == {}
    assert [event["is_resolved"] for event in world.system_events()] == [True]


def test_one_tenants_trouble_with_a_provider_stops_nobody_else(world: World, office: PostOffice) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant, email=f"{tenant.hex}@example.com")
        add_provider(world, "sendgrid", tenant=tenant, api_key="SG.key")
    office.fail("email", "suspend", match=TENANT.hex)

    for tenant in (TENANT, OTHER_TENANT):
        world.accept(tenant=tenant)
    deliver_by(world, ways_of(world, office.url))

    assert [row["to"] for row in office.ledger()] == [[f"{OTHER_TENANT.hex}@example.com"]]
    assert len(_lanes(world)) == 1
