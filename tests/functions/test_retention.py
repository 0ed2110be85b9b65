"""Retention by HTTP: the rules with a tenant's own numbers, the runs, and what was archived."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.functions.doors import Api, Context, handler_of
from tests.integration.forgetting import RULES_OF_ALL
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.store import archives


@pytest.fixture
def api(world: World) -> Api:
    return Api(world.add_key("operate"))


@pytest.fixture
def run_retention(world: World, run_as: Callable[[str], None]) -> Callable[[], None]:
    def run() -> None:
        run_as("tocsin_retention")
        handler_of("retention")({}, Context(300_000))
        run_as("tocsin_app")

    return run


def _rules(api: Api, key: str | None = None) -> dict[str, dict[str, object]]:
    return {rule["name"]: rule for rule in (api.get("/v1/retention", key=key) if key else api.get("/v1/retention")).json["rules"]}


def test_every_rule_is_shown_with_what_it_says(api: Api) -> None:
    shown = _rules(api)

    assert list(shown) == [rule.name for rule in RULES_OF_ALL]
    assert shown["records"] | {"says": ""} == {
        "name": "records",
        "says": "",
        "days": 90,
        "default_days": 90,
        "setting": "RECORD_RETENTION_DAYS",
        "tenant_setting": "records_days",
        "least_days": 7,
        "forgotten_in_last_run": None,
    }
    assert shown["kv_entries"]["days"] is None


def test_a_tenant_sees_its_own_numbers_and_no_other_does(world: World, api: Api) -> None:
    world.add_tenant()
    other = world.add_key("operate", tenant=OTHER_TENANT)
    world.admin.execute(
        "UPDATE tenants SET settings = %s WHERE id = %s",
        [Jsonb({"retention": {"records_days": 30, "audit_logs_days": 3, "kv_entries_days": 14}}), OTHER_TENANT],
    )

    theirs, ours = _rules(api, other), _rules(api)

    assert [theirs[name]["days"] for name in ("records", "audit_logs", "kv_entries", "dead_letters")] == [30, 30, 14, 90]
    assert [ours[name]["days"] for name in ("records", "audit_logs", "kv_entries")] == [90, 365, None]


def test_a_run_is_shown_with_what_it_forgot(world: World, api: Api, run_retention: Callable[[], None]) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.pass_time(timedelta(days=91))

    run_retention()

    shown = api.get("/v1/retention").json
    assert shown["last_run"]["outcome"] == "complete"
    assert {rule["name"]: rule["forgotten_in_last_run"] for rule in shown["rules"]}["records"] == 1
    (run,) = api.get("/v1/retention/runs").json["data"]
    assert (run["outcome"], run["forgotten"]["records"], run["held_up"]) == ("complete", 1, {})


def test_the_counts_of_all_tenants_are_for_the_installations_own_keys_alone(
    world: World, api: Api, run_retention: Callable[[], None]
) -> None:
    world.add_tenant()
    other = world.add_key("operate", tenant=OTHER_TENANT)
    run_retention()

    (run,) = api.get("/v1/retention/runs", key=other).json["data"]

    assert set(run) == {"id", "outcome", "started_at", "finished_at"}
    assert {rule["forgotten_in_last_run"] for rule in _rules(api, other).values()} == {None}


def test_runs_are_listed_page_by_page_newest_first(api: Api, run_retention: Callable[[], None]) -> None:
    for _ in range(3):
        run_retention()

    first = api.get("/v1/retention/runs", query={"limit": "2"}).json
    second = api.get("/v1/retention/runs", query={"limit": "2", "cursor": first["next_cursor"]}).json

    seen = [run["started_at"] for run in first["data"] + second["data"]]
    assert (len(seen), seen, second["next_cursor"]) == (3, sorted(seen, reverse=True), None)


def test_a_tenant_sees_its_own_archives_and_no_other_does(world: World, api: Api) -> None:
    world.add_tenant()
    for tenant, records in ((TENANT, 1), (OTHER_TENANT, 2)):
        archives.insert(
            world.retention, archive_id=uuid4(), tenant_id=tenant, object_key="k", records=records, size=10, sha256=bytes(32)
        )

    (ours,) = api.get("/v1/retention/archives").json["data"]
    (theirs,) = api.get("/v1/retention/archives", key=world.add_key("operate", tenant=OTHER_TENANT)).json["data"]

    assert (ours["records"], theirs["records"]) == (1, 2)
    assert (ours["object_key"], ours["bytes"], ours["sha256"]) == ("k", 10, "00" * 32)


def test_a_key_without_the_scope_sees_nothing(world: World, api: Api) -> None:
    key = world.add_key("send", "read", "manage")

    for path in ("/v1/retention", "/v1/retention/runs", "/v1/retention/archives"):
        assert api.get(path, key=key).status == 403
