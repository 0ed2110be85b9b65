"""System events: whose they are, that each raise and resolve is logged and counted, and that what is undone is not."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from devstack.post_office import PostOffice
from tests.integration.test_lanes import QUOTA, SUSPENDED
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import issue_key, providers
from tocsin.access.audit import Actor
from tocsin.access.issue_key import Rights
from tocsin.delivery.circuit_breaker import wake_reopened
from tocsin.foundation import settings
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import admin_system_events, lanes
from tocsin.store.admin_system_events import SystemEventFilters

Told = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


@pytest.fixture
def told(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """What was printed for CloudWatch since this was last asked, as (metric, type, severity)."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Tocsin/test")
    settings.settings.cache_clear()

    def read() -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
        return [line for line in lines if "_aws" in line]

    return read


def _raise(world: World, subject: str = "x", *, tenant: UUID | None = None, severity: str = "high") -> None:
    admin_system_events.raise_once(
        world.worker,
        event_type="lane_stopped",
        severity=severity,
        subject=subject,
        description="d",
        details={},
        tenant_id=tenant,
    )


def _seen_by(world: World, tenant: UUID) -> list[str]:
    with tenant_transaction(world.app, tenant):
        rows = admin_system_events.list_page(world.app, tenant, SystemEventFilters(), limit=50, after=None)
    return [row.subject for row in rows]


def _use_own_sendgrid(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """The lane of a tenant's own provider."""
    make_data_key(monkeypatch)
    world.add_user()
    return f"sendgrid:{add_provider(world, 'sendgrid', api_key='SG.key').id}"


def test_trouble_with_a_tenants_own_provider_is_that_tenants_alone(
    world: World, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_tenant()
    lane = _use_own_sendgrid(world, monkeypatch)
    office.fail("email", "suspend", times=1)
    world.accept()

    deliver_by(world, ways_of(world, office.url))

    ((row, owner),) = [(row["lane"], row["tenant_id"]) for row in world.rows("SELECT * FROM lanes")]
    assert (row, owner) == (lane, TENANT)
    assert (_seen_by(world, TENANT), _seen_by(world, OTHER_TENANT)) == ([lane], [])


def test_a_breaker_of_a_tenants_own_provider_is_that_tenants_alone(
    world: World, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_tenant()
    lane = _use_own_sendgrid(world, monkeypatch)
    office.fail("email", "unavailable", times=20)
    for _ in range(5):
        world.accept()

    deliver_by(world, ways_of(world, office.url))

    assert [(row["event_type"], row["tenant_id"]) for row in world.system_events()] == [("breaker_opened", TENANT)]
    assert (_seen_by(world, TENANT), _seen_by(world, OTHER_TENANT)) == ([lane], [])


def test_what_older_code_writes_of_a_tenants_lane_without_saying_whose_it_is_is_seen_by_nobody(world: World) -> None:
    _raise(world, f"sendgrid:{uuid7()}")
    world.worker.execute(
        """INSERT INTO lanes (lane, state, reason, resume_at, updated_at)
           VALUES ('sendgrid:' || tocsin_uuid7(), 'stopped', 'x', tocsin_now(), tocsin_now())"""
    )

    assert _seen_by(world, TENANT) == []
    with tenant_transaction(world.app, TENANT):
        assert world.app.execute("SELECT count(*) FROM lanes").fetchone() == (0,)


def test_a_lane_that_older_code_closed_is_its_tenants_once_newer_code_writes_it(world: World) -> None:
    lane = f"sendgrid:{uuid7()}"
    world.worker.execute(
        """INSERT INTO lanes (lane, state, reason, resume_at, updated_at)
           VALUES (%s, 'stopped', 'x', tocsin_now() - interval '1 minute', tocsin_now())""",
        [lane],
    )
    told = {"state": "stopped", "trouble": "quota", "reason": "y", "pause": timedelta(minutes=1), "longest": timedelta(hours=1)}

    lanes.close(world.worker, lane, owner=lanes.owner_of(lane, TENANT), **told)  # type: ignore[arg-type]

    assert world.one("SELECT tenant_id FROM lanes") == TENANT


def test_writing_a_lane_again_is_a_hot_update(world: World) -> None:
    """Whose it is stands in an index, and does not change."""
    told = {"state": "failing", "trouble": "quota", "reason": "y", "pause": timedelta(0), "longest": timedelta(0)}
    lanes.close(world.worker, "ses:email", owner=None, **told)  # type: ignore[arg-type]
    world.worker.execute("SELECT pg_stat_force_next_flush()")  # what it has counted so far, before it is forgotten
    world.admin.execute("SELECT pg_stat_reset_single_table_counters('lanes'::regclass)")

    for _ in range(3):
        lanes.close(world.worker, "ses:email", owner=None, **told)  # type: ignore[arg-type]

    world.worker.execute("SELECT pg_stat_force_next_flush()")
    (row,) = world.rows("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'lanes'")
    assert row["n_tup_upd"] == row["n_tup_hot_upd"] == 3


def test_trouble_of_the_installation_is_everyones_to_see(world: World) -> None:
    world.add_tenant()
    world.add_user()
    world.email.answers.append(SUSPENDED)
    world.accept()
    world.dispatch()

    assert (_seen_by(world, TENANT), _seen_by(world, OTHER_TENANT)) == (["ses:email"], ["ses:email"])


def test_a_provider_that_is_removed_takes_its_trouble_along(
    world: World, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = _use_own_sendgrid(world, monkeypatch)
    office.fail("email", "suspend", times=1)
    world.accept()
    deliver_by(world, ways_of(world, office.url))

    providers.remove(world.app, Actor(TENANT, "key:test"), UUID(lane.partition(":")[2]))

    assert world.count("lanes") == 0
    assert [row["is_resolved"] for row in world.system_events()] == [True]


@pytest.mark.parametrize(("failure", "event_type"), [(SUSPENDED, "lane_stopped"), (QUOTA, "quota_reached")])
def test_a_stopped_lane_is_told_once_and_resolved_when_it_recovers(
    world: World, told: Told, failure: Any, event_type: str
) -> None:
    world.add_user()
    world.email.answers.append(failure)
    world.accept()
    world.dispatch()

    assert [(one["SystemEvents"], one["type"], one["severity"]) for one in told()] == [(1, event_type, "critical")]

    world.admin.execute("DELETE FROM lanes")
    wake_reopened(world.worker)
    assert [(one["SystemEventsResolved"], one["type"]) for one in told()] == [(1, event_type)]


def test_what_is_counted_has_the_dimensions_that_alarms_watch(world: World, told: Told) -> None:
    _raise(world)

    (one,) = told()
    (metric,) = one["_aws"]["CloudWatchMetrics"]
    assert metric["Namespace"] == "Tocsin/test"
    assert metric["Dimensions"] == [["type", "severity"], ["severity"]]


def test_the_alarm_is_for_the_installation_and_its_own_tenant(world: World, told: Told) -> None:
    """The trouble of another tenant's endpoints wakes that tenant, not whoever runs the installation."""
    for tenant in (None, TENANT, OTHER_TENANT):
        _raise(world, tenant=tenant)

    dimensions = [one["_aws"]["CloudWatchMetrics"][0]["Dimensions"] for one in told()]
    assert [["severity"] in one for one in dimensions] == [True, True, False]


def test_a_condition_that_is_raised_again_is_told_once(world: World, told: Told) -> None:
    for _ in range(3):
        _raise(world)

    assert len(told()) == 1


def test_what_is_undone_is_never_told(world: World, told: Told) -> None:
    with pytest.raises(ZeroDivisionError), world.worker.transaction():
        _raise(world)
        raise ZeroDivisionError
    assert told() == []

    with world.worker.transaction():
        _raise(world)
        assert told() == [], "nor before it is committed"
    assert len(told()) == 1


def test_the_log_names_the_event_and_none_of_its_words(world: World, caplog: pytest.LogCaptureFixture) -> None:
    admin_system_events.raise_once(
        world.worker,
        event_type="incident_opened",
        severity="critical",
        subject="s",
        description="the words of a person",
        details={"mail": "alice@example.com"},
        tenant_id=TENANT,
    )

    (said,) = [str(record.__dict__) for record in caplog.records if record.getMessage() == "system event raised"]
    for part in ("incident_opened", "critical", str(TENANT)):
        assert part in said
    for part in ("words", "alice"):
        assert part not in said


def test_what_people_raise_is_one_type_among_the_metrics(world: World, told: Told) -> None:
    """Each name would be one more to pay for."""
    with tenant_transaction(world.app, TENANT):
        admin_system_events.insert_unless_open(
            world.app,
            TENANT,
            event_type="flood_in_the_cellar",
            severity="high",
            subject="",
            description="d",
            details=None,
            user_id=None,
            created_by=uuid7(),
        )

    (one,) = told()
    assert one["type"] == "manual"
    assert one["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["type", "severity"]], "and wakes nobody"


def test_keys_that_are_made_rotated_and_revoked_are_told_and_ask_for_nothing(world: World) -> None:
    actor = Actor(TENANT, "key:test")
    first = issue_key.issue(world.app, actor, Rights("shop", "shop", ["send"]))
    second = issue_key.rotate(world.app, actor, first.key.id, overlap=timedelta(hours=1))
    assert second is not None
    for _ in range(2):
        issue_key.revoke(world.app, actor, second.new.key.id)

    told = [(row["event_type"], row["severity"], row["is_resolved"], row["tenant_id"]) for row in world.system_events()]
    assert told == [(f"api_key_{what}", "low", True, TENANT) for what in ("created", "rotated", "created", "revoked")]
    assert first.plain not in str(world.system_events())


def test_details_are_bounded_whoever_writes_them(world: World) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        world.worker.execute(
            "INSERT INTO admin_system_events (event_type, severity, description, details) VALUES ('e', 'low', 'd', %s)",
            [json.dumps({"x": "y" * 8_200})],
        )
