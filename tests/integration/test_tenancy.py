"""No read or write crosses tenants, even with a forgotten WHERE."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection, Rollback

from tests.conftest import Fill
from tests.content import add_suppression, add_template, add_type
from tests.events import choose, happen, route, watch
from tests.operators import close_lane
from tests.providers import make_data_key
from tests.triggers import add_trigger, keep
from tests.webhooks import add_hook
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import key_format
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.dead_letters import replay_many
from tocsin.foundation.database import key_transaction, tenant_attempt, tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import api_keys
from tocsin.store.dead_letters import Wanted
from tocsin.webhooks import redeliver

READABLE = (
    "tenants", "users", "devices", "api_keys", "rate_limits", "records", "routes", "attempts", "dead_letters",
    "malformed_intents", "outbox", "notifications", "admin_system_events", "templates", "notification_types",
    "provider_configs", "suppressions", "provider_events", "audit_logs", "domain_events", "event_routing", "watches",
    "notification_threads", "preferences", "notification_email_log", "digests", "notification_reads",
    "inbox_visits",
    "kv_entries", "kv_usage", "trigger_handlers", "triggers", "kv_trigger_details", "dead_letter_trigger_details",
    "webhooks", "webhook_deliveries",
    "reply_inboxes", "abandoned_executions", "erasures", "lanes", "audit_heads", "jobs", "metrics", "archives",
    "brands", "layouts",
)  # fmt: skip


@pytest.fixture
def two(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two tenants with the same things in every table."""
    _fill(world, monkeypatch)
    return world


@pytest.fixture(scope="module")
def untouched(filled_world: Callable[[Fill], AbstractContextManager[World]]) -> Iterator[World]:
    """The same once for all tests that leave it as it is: to fill it takes longer than all of them."""
    with filled_world(_fill) as world:
        yield world


def _fill(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_device(world.add_user(tenant=tenant), tenant=tenant)
        world.add_key("send", tenant=tenant)
        world.accept(tenant=tenant, channels=["in_app"])
        world.email.answers.append(Failure(FailureClass.PERMANENT, "x", "x"))
        world.accept(tenant=tenant)
        world.accept(tenant=tenant, channels=["in_app"], reply_within=timedelta(0))
        world.dispatch()
        world.admin.execute(
            """INSERT INTO malformed_intents (stream_entry_id, tenant_id, failure_code, failure_message, raw_fields, recorded_at)
               VALUES (%s, %s, 'x', 'x', '{}', tocsin_now())""",
            [f"m-{tenant}", tenant],
        )
        add_template(world, tenant=tenant)
        add_type(world, "news", tenant=tenant)
        world.admin.execute("INSERT INTO brands (tenant_id, name) VALUES (%s, 'Shop')", [tenant])
        world.admin.execute(
            """INSERT INTO layouts (id, tenant_id, kind, name, version, body)
               VALUES (gen_random_uuid(), %s, 'layout', 'plain', 1, '{{ content }}')""",
            [tenant],
        )
        add_suppression(world, "bob@example.com", tenant=tenant)
        world.admin.execute(
            "INSERT INTO provider_configs (id, tenant_id, provider_name, channel) VALUES (gen_random_uuid(), %s, 'ses', 'email')",
            [tenant],
        )
        world.admin.execute(
            """INSERT INTO provider_events (event_key, tenant_id, provider, kind, feedback, occurred_at, received_at)
               VALUES (sha256(%s::text::bytea), %s, 'ses', 'delivery', 'delivered', tocsin_now(), tocsin_now())""",
            [str(tenant), tenant],
        )
        world.admin.execute(
            """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id)
               VALUES (gen_random_uuid(), %s, 'key:x', 'create', 'provider', 'x')""",
            [tenant],
        )
        world.admin.execute(
            "INSERT INTO admin_system_events (event_type, severity, description, tenant_id) VALUES ('e', 'low', 'd', %s)",
            [tenant],
        )
        world.admin.execute(
            """INSERT INTO erasures (id, tenant_id, kind, subject_hash, requested_by, finished_at)
               VALUES (gen_random_uuid(), %s, 'user', sha256('x'), 'key:x', tocsin_now())""",
            [tenant],
        )
        close_lane(world, f"sendgrid:{uuid7()}", tenant=tenant)
        world.admin.execute(
            "INSERT INTO metrics (tenant_id, mode, date, provider, channel) VALUES (%s, 'live', '2026-11-17', 'ses', 'email')",
            [tenant],
        )
        world.admin.execute(
            """INSERT INTO archives (id, tenant_id, object_key, records, bytes, sha256)
               VALUES (gen_random_uuid(), %s, 'k', 1, 1, sha256(''))""",
            [tenant],
        )
        _people(world, tenant)
        keep(world, tenant=tenant)
        for glob in ("orders", None):
            add_trigger(world, glob, tenant=tenant)
    make_data_key(monkeypatch)
    for tenant in (TENANT, OTHER_TENANT):
        world.accept(tenant=tenant)
        hook = add_hook(world, "https://hooks.example.com", tenant=tenant)
        redeliver.send_test(world.app, Actor(tenant, "key:test"), hook.id)
        replay_many.enqueue(world.app, Actor(tenant, "key:test"), uuid7(), Wanted(), by=uuid7(), past_expiry=False)


def _people(world: World, tenant: UUID) -> None:
    """What alice wants to hear, was told and did, and an event."""
    route(world, tenant=tenant)
    watch(world, "alice", tenant=tenant)
    choose(world, "alice", subscribed=True, tenant=tenant)
    happen(world, tenant=tenant)
    of_alice = {
        "preferences": "(id, tenant_id, user_id, channel) SELECT gen_random_uuid(), tenant_id, id, 'email'",
        "notification_email_log": """(tenant_id, recipient_user_id, notification_id, route_id, generation, channel,
            notification_type, sent_at) SELECT tenant_id, id, gen_random_uuid(), 'r', 1, 'email', 't', tocsin_now()""",
        "digests": """(tenant_id, user_id, thread_kind, thread_id, notification_id, outbox_id)
            SELECT tenant_id, id, 'k', '1',
                   (SELECT notification_id FROM records WHERE records.tenant_id = users.tenant_id LIMIT 1), gen_random_uuid()""",
        "notification_reads": """(notification_id, user_id, tenant_id, read_at)
            SELECT (SELECT id FROM notifications WHERE notifications.tenant_id = users.tenant_id LIMIT 1), id, tenant_id,
                   tocsin_now()""",
        "inbox_visits": "(tenant_id, user_id, seen_at) SELECT tenant_id, id, tocsin_now()",
    }
    for table, row in of_alice.items():
        world.admin.execute(f"INSERT INTO {table} {row} FROM users WHERE tenant_id = %s", [tenant])  # type: ignore[call-overload]


def test_every_table_of_a_tenant_is_looked_at_here(world: World) -> None:
    of_the_service = {"domain_events_processed", "job_runs"}
    tables = {row["tablename"] for row in world.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}

    assert {table for table in tables if "yoyo" not in table} - of_the_service == set(READABLE)


@pytest.mark.parametrize(
    "statement", ["SELECT lease_token FROM domain_events_processed", "UPDATE domain_events_processed SET last_event_id = 0"]
)
def test_the_fan_outs_lease_is_none_of_the_applications_business(world: World, statement: str) -> None:
    """How far it is may be seen."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _select(world.app, TENANT, statement)


def _select(conn: Connection[Any], tenant: Any, query: str) -> list[tuple[Any, ...]]:
    with tenant_transaction(conn, tenant):
        cursor = conn.execute(query)  # type: ignore[call-overload]
    return cursor.fetchall() if cursor.description else []


@pytest.mark.parametrize("table", READABLE)
def test_a_select_without_a_predicate_returns_only_the_tenants_own_rows(untouched: World, table: str) -> None:
    column = "id" if table == "tenants" else "tenant_id"
    everyone = {row[column] for row in untouched.rows(f"SELECT {column} FROM {table}")}

    seen = {row[0] for row in _select(untouched.app, TENANT, f"SELECT {column} FROM {table}")}

    assert everyone == {TENANT, OTHER_TENANT}
    assert seen == {TENANT}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE users SET email = NULL RETURNING tenant_id",
        "DELETE FROM devices RETURNING tenant_id",
        "UPDATE api_keys SET is_active = false RETURNING tenant_id",
        "UPDATE records SET cancelled_at = tocsin_now() RETURNING tenant_id",
        "UPDATE routes SET reason = 'x' RETURNING tenant_id",
        "DELETE FROM outbox RETURNING tenant_id",
        "UPDATE notifications SET title = 'x' RETURNING tenant_id",
        "UPDATE rate_limits SET request_count = 0 RETURNING tenant_id",
        "UPDATE templates SET is_active = false RETURNING tenant_id",
        "DELETE FROM notification_types RETURNING tenant_id",
        "UPDATE provider_configs SET priority = 5 RETURNING tenant_id",
        "DELETE FROM suppressions RETURNING tenant_id",
        "UPDATE event_routing SET subscribe_actor = false RETURNING tenant_id",
        "DELETE FROM watches RETURNING tenant_id",
        "UPDATE audit_heads SET seq = 7 RETURNING tenant_id",
        "DELETE FROM reply_inboxes RETURNING tenant_id",
        "UPDATE notification_threads SET subscribed = false RETURNING tenant_id",
        "UPDATE preferences SET enabled = false RETURNING tenant_id",
        "DELETE FROM notification_reads RETURNING tenant_id",
        "UPDATE inbox_visits SET seen_at = tocsin_now() RETURNING tenant_id",
        "UPDATE kv_entries SET version = 7 RETURNING tenant_id",
        "DELETE FROM kv_entries RETURNING tenant_id",
        "UPDATE kv_usage SET entries = 0 RETURNING tenant_id",
        "UPDATE trigger_handlers SET config = '{}' RETURNING tenant_id",
        "UPDATE triggers SET enabled = false RETURNING tenant_id",
        "DELETE FROM triggers RETURNING tenant_id",
        "UPDATE kv_trigger_details SET ops = '{}' RETURNING tenant_id",
        "UPDATE dead_letter_trigger_details SET source_filter = NULL RETURNING tenant_id",
        "UPDATE webhooks SET description = 'x' RETURNING tenant_id",
        "UPDATE webhook_deliveries SET updated_at = tocsin_now() RETURNING tenant_id",
        "UPDATE jobs SET updated_at = tocsin_now() RETURNING tenant_id",
        "UPDATE dead_letters SET resolution = 'ignored', resolved_at = tocsin_now() RETURNING tenant_id",
        "UPDATE domain_events SET outcome = 'waiting' RETURNING tenant_id",
        "UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now() RETURNING tenant_id",
        "UPDATE malformed_intents SET resolution = 'ignored', resolved_at = tocsin_now() RETURNING tenant_id",
        "DELETE FROM lanes RETURNING tenant_id",
    ],
)
def test_a_write_without_a_predicate_touches_only_the_tenants_own_rows(untouched: World, statement: str) -> None:
    with tenant_attempt(untouched.app, TENANT):
        touched = {row[0] for row in untouched.app.execute(statement)}  # type: ignore[call-overload]
        raise Rollback

    assert touched == {TENANT}


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO users (id, tenant_id, external_id) VALUES (gen_random_uuid(), '{other}', 'spy')",
        "INSERT INTO rate_limits VALUES ('{other}', 's', 'l', tocsin_now(), 0, 1)",
        """INSERT INTO templates (id, tenant_id, name, channel, version, body)
           VALUES (gen_random_uuid(), '{other}', 'spy', 'email', 1, 'x')""",
        "UPDATE notification_types SET tenant_id = '{other}'",
        "UPDATE provider_configs SET tenant_id = '{other}'",
        "UPDATE suppressions SET tenant_id = '{other}'",
        """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id)
           VALUES (gen_random_uuid(), '{other}', 'x', 'x', 'x', 'x')""",
        """INSERT INTO domain_events (tenant_id, event_id, type, source, notification_id, occurred_at, recorded_at)
           VALUES ('{other}', 'spy', 't', 's', gen_random_uuid(), tocsin_now(), tocsin_now())""",
        "INSERT INTO event_routing (tenant_id, event_type, rules) VALUES ('{other}', 'spy', '{{}}')",
        "UPDATE event_routing SET tenant_id = '{other}'",
        "UPDATE watches SET tenant_id = '{other}'",
        "UPDATE notification_threads SET tenant_id = '{other}'",
        "UPDATE preferences SET tenant_id = '{other}'",
        "UPDATE notification_reads SET tenant_id = '{other}'",
        "UPDATE inbox_visits SET tenant_id = '{other}'",
        "INSERT INTO kv_entries (tenant_id, collection, key, value, write_id) VALUES ('{other}', 'c', 'k', '1', '{other}')",
        "UPDATE kv_entries SET tenant_id = '{other}'",
        "UPDATE kv_usage SET tenant_id = '{other}'",
        "UPDATE trigger_handlers SET tenant_id = '{other}'",
        "UPDATE triggers SET tenant_id = '{other}'",
        "UPDATE kv_trigger_details SET tenant_id = '{other}'",
        "UPDATE dead_letter_trigger_details SET tenant_id = '{other}'",
        "UPDATE webhooks SET tenant_id = '{other}'",
        "UPDATE webhook_deliveries SET tenant_id = '{other}'",
        "UPDATE users SET tenant_id = '{other}'",
        "UPDATE records SET tenant_id = '{other}'",
        "UPDATE notifications SET tenant_id = '{other}'",
        """INSERT INTO outbox (id, tenant_id, source_kind, due_at, max_attempts, retry_backoff, retry_base_ms)
           VALUES (gen_random_uuid(), '{other}', 'plan', tocsin_now(), 1, 'linear', 1)""",
    ],
)
def test_a_row_cannot_be_written_for_another_tenant(untouched: World, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _select(untouched.app, TENANT, statement.format(other=OTHER_TENANT))


def test_a_device_cannot_be_hung_on_another_tenants_user(two: World) -> None:
    (theirs,) = (row["id"] for row in two.rows("SELECT id FROM users WHERE tenant_id = %(t)s", t=OTHER_TENANT))

    with pytest.raises((psycopg.errors.ForeignKeyViolation, psycopg.errors.InsufficientPrivilege)):
        _select(
            two.app,
            TENANT,
            f"""INSERT INTO devices (id, tenant_id, user_id, platform, token)
                VALUES (gen_random_uuid(), '{TENANT}', '{theirs}', 'fcm', 'ours')""",
        )


@pytest.mark.parametrize(
    "row",
    [
        "watches (tenant_id, user_id, scope, level) VALUES ('{ours}', '{theirs}', 's', 'all')",
        """notification_threads (tenant_id, user_id, thread_kind, thread_id, subscribed, reason)
           VALUES ('{ours}', '{theirs}', 'k', '1', true, 'manual')""",
        "preferences (id, tenant_id, user_id, channel) VALUES (gen_random_uuid(), '{ours}', '{theirs}', 'email')",
        "notification_reads (notification_id, user_id, tenant_id) SELECT id, '{theirs}', '{ours}' FROM notifications",
        "inbox_visits (tenant_id, user_id, seen_at) VALUES ('{ours}', '{theirs}', tocsin_now())",
    ],
    ids=["watch", "thread", "preference", "read", "visit"],
)
def test_nothing_of_ours_can_be_hung_on_another_tenants_user(untouched: World, row: str) -> None:
    theirs = untouched.one("SELECT id FROM users WHERE tenant_id = %(t)s", t=OTHER_TENANT)

    with pytest.raises((psycopg.errors.ForeignKeyViolation, psycopg.errors.InsufficientPrivilege)):
        _select(untouched.app, TENANT, f"INSERT INTO {row.format(ours=TENANT, theirs=theirs)}")


def test_a_push_goes_to_no_device_of_another_tenant(two: World) -> None:
    (ours,) = (row["id"] for row in two.rows("SELECT id FROM users WHERE tenant_id = %(t)s", t=TENANT))
    two.admin.execute("SET session_replication_role = replica")  # as if a foreign key had let it in
    two.add_device(ours, token="theirs", tenant=OTHER_TENANT)

    two.accept(channels=["push"])
    two.dispatch()

    assert "theirs" not in {message.device_token for message in two.push.accepted}


REFUSING = [table for table in READABLE if table != "api_keys"]  # which must be readable before the tenant is known, by hash


def test_without_a_tenant_and_without_its_hash_no_key_is_seen(two: World) -> None:
    fresh = two.connect("tocsin_app")

    assert fresh.execute("SELECT * FROM api_keys").fetchall() == []
    assert two.one("SELECT count(*) FROM api_keys") > 0


@pytest.mark.parametrize("table", REFUSING)
def test_without_a_tenant_every_table_refuses(untouched: World, table: str) -> None:
    with closing(untouched.connect("tocsin_app")) as fresh, pytest.raises(psycopg.Error):
        fresh.execute(f"SELECT * FROM {table}")  # type: ignore[call-overload]


@pytest.mark.parametrize("table", REFUSING)
def test_a_connection_that_served_a_tenant_before_refuses_just_the_same(untouched: World, table: str) -> None:
    _select(untouched.app, TENANT, "SELECT 1")

    with pytest.raises(psycopg.Error):
        untouched.app.execute(f"SELECT * FROM {table}")  # type: ignore[call-overload]


def test_two_tenants_taking_turns_on_one_connection_never_see_each_other(two: World) -> None:
    for _ in range(5):
        for tenant in (TENANT, OTHER_TENANT):
            assert {row[0] for row in _select(two.app, tenant, "SELECT tenant_id FROM records")} == {tenant}


def test_a_transaction_that_failed_does_not_leave_its_tenant_behind(two: World) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable):
        _select(two.app, OTHER_TENANT, "SELECT * FROM nowhere")

    with pytest.raises(psycopg.Error):
        two.app.execute("SELECT * FROM records")
    assert {row[0] for row in _select(two.app, TENANT, "SELECT tenant_id FROM records")} == {TENANT}


def test_a_tenant_nobody_knows_sees_nothing(two: World) -> None:
    assert _select(two.app, "00000000-0000-7000-8000-00000000000f", "SELECT * FROM records") == []


def test_the_hash_of_a_key_opens_that_key_and_nothing_else(two: World) -> None:
    key_hash = key_format.digest(two.add_key("read", tenant=OTHER_TENANT))

    with key_transaction(two.app, key_hash):
        found = api_keys.find_by_hash(two.app, key_hash)
        every = two.app.execute("SELECT key_hash FROM api_keys")
    assert [key.tenant_id for key in found.fetchall()] == [OTHER_TENANT]
    assert every.fetchall() == [(key_hash,)]
    with pytest.raises(psycopg.Error), key_transaction(two.app, key_hash):
        two.app.execute("SELECT * FROM records")


def test_a_hash_nobody_has_opens_nothing(two: World) -> None:
    with key_transaction(two.app, b"\x00" * 32):
        every = two.app.execute("SELECT * FROM api_keys")

    assert every.fetchall() == []


def test_after_a_key_was_looked_up_the_tenants_other_keys_are_seen_again(two: World) -> None:
    with key_transaction(two.app, b"\x00" * 32):
        two.app.execute("SELECT 1")

    assert len(_select(two.app, TENANT, "SELECT * FROM api_keys")) == 1


def test_events_of_the_whole_service_are_everyones_to_see_and_nobodys_to_change(two: World) -> None:
    two.admin.execute("INSERT INTO admin_system_events (event_type, severity, description) VALUES ('shared', 'low', 'd')")

    seen = _select(two.app, TENANT, "SELECT event_type, tenant_id FROM admin_system_events")

    assert sorted(seen, key=str) == [("e", TENANT), ("shared", None)]
    _select(two.app, TENANT, "UPDATE admin_system_events SET description = 'mine' RETURNING 1")
    assert two.one("SELECT description FROM admin_system_events WHERE tenant_id IS NULL") == "d"


def test_workers_and_retention_see_every_tenant(two: World) -> None:
    for conn in (two.worker, two.retention):
        rows = conn.execute("SELECT DISTINCT tenant_id FROM records").fetchall()
        assert {row[0] for row in rows} == {TENANT, OTHER_TENANT}


def test_the_owner_of_the_tables_is_bound_by_the_policies_too(two: World) -> None:
    two.admin.execute("DROP ROLE IF EXISTS plain_owner")
    with two.admin.transaction(force_rollback=True):
        two.admin.execute("CREATE ROLE plain_owner")
        two.admin.execute("GRANT ALL ON SCHEMA public TO plain_owner")
        two.admin.execute("ALTER TABLE records OWNER TO plain_owner")
        two.admin.execute("SET LOCAL ROLE plain_owner")
        assert two.admin.execute("SELECT count(*) FROM records").fetchone() == (0,)
