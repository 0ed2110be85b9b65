"""Every index has somebody who reads it, for it costs a write with every row: the register below says who, and is held to it.

A reader is a scenario, played through the real use cases; the plans that really ran name the indexes they read."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests import events
from tests.integration.forgetting import RULES_OF_ALL
from tests.letters import LONG_HISTORY
from tests.lookups import crowd
from tests.plans import indexes_in, telling
from tests.ses_events import heard
from tests.triggers import add_trigger, keep
from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.delivery.decisions import Wish, decisions
from tocsin.feedback.apply import apply_events
from tocsin.foundation.database import tenant_round_trip
from tocsin.outbox.sweep import sweep
from tocsin.store import (
    abandoned_executions,
    admin_system_events,
    api_keys,
    archives,
    audit_logs,
    dead_letters,
    erasures,
    job_runs,
    jobs,
    lanes,
    layouts,
    malformed_intents,
    metrics,
    notifications,
    outbox,
    provider_configs,
    provider_events,
    records,
    reply_inboxes,
    routes,
    suppressions,
    templates,
    triggers,
    users,
    webhook_deliveries,
    webhooks,
)
from tocsin.store.dead_letters import Wanted
from tocsin.store.flow import erase, letter_standing
from tocsin.store.notifications import View
from tocsin.triggers import register
from tocsin.upkeep.balance import balance
from tocsin.upkeep.delete_tenants import delete_tenants
from tocsin.upkeep.recent_metrics import recent
from tocsin.upkeep.retain import retain
from tocsin.upkeep.roll_up import roll_up

Scenario = Callable[[World, Connection[Any]], object]
NO_FILTER = dict.fromkeys(("type", "producer", "status", "channel", "recipient", "since", "until"))


def _read_the_inbox(world: World, conn: Connection[Any]) -> None:
    for view in ("all", "saved", "snoozed"):
        notifications.list_page(conn, TENANT, UUID(int=1), View(view), limit=10, after=None).fetchall()


def _list_notifications(world: World, conn: Connection[Any]) -> None:
    for filters in ({}, {"recipient": "user:alice"}, {"channel": "sms"}, {"status": "skipped"}):
        records.list_page(conn, TENANT, filters=NO_FILTER | filters, limit=10, after=None)


def _list_the_rest(world: World, conn: Connection[Any]) -> None:
    api_keys.list_page(conn, TENANT, limit=10, after=None)
    suppressions.list_page(conn, TENANT, channel=None, address=None, limit=10, after=None)
    templates.list_page(conn, TENANT, name=None, limit=10, after=None)
    layouts.list_page(conn, TENANT, name=None, limit=10, after=None)
    triggers.list_page(conn, TENANT, limit=10, before=None)
    erasures.list_page(conn, TENANT, limit=10, after=None)


def _look_somebody_up(world: World, conn: Connection[Any]) -> None:
    """Among a few thousand: of a handful it does not matter by which index they are found."""
    world.admin.execute(
        """INSERT INTO users (id, tenant_id, external_id, email, username, phone)
           SELECT tocsin_uuid7(), %s, 'u' || n, 'u' || n || '@example.com', 'u' || n, 'u' || n
           FROM generate_series(1, 3000) AS n""",
        [TENANT],
    )
    world.admin.execute("ANALYZE users")
    users.search(conn, TENANT, "u2999", limit=10, before=None)


def _search(world: World, conn: Connection[Any]) -> None:
    world.add_tenant()
    crowd(world, 3_000)
    conn.execute("RESET enable_sort")
    records.find_by_key(conn, TENANT, "k", limit=10)
    routes.find_by_message_id(conn, TENANT, ["m", "n"], limit=10)
    records.find_newest_to_email(conn, TENANT, "a@example.com", limit=10)
    records.find_newest_to_phone(conn, TENANT, "+491", limit=10)


def _read_decisions(world: World, conn: Connection[Any]) -> None:
    world.add_tenant()
    crowd(world, 3_000)
    conn.execute("RESET enable_sort")
    decisions(conn, TENANT, Wish(), since=None, limit=10)


def _erase_somebody(world: World, conn: Connection[Any]) -> None:
    far = datetime(2100, 1, 1, tzinfo=UTC)
    erase.find_to_address(conn, TENANT, email="a@example.com", phone="+491", until=far, limit=10)
    erase.mask_copies(conn, TENANT, likely=["%a@example.com%"], pattern="a@example", stand_in="x", until=far, limit=10)


def _delete_a_tenant(world: World, conn: Connection[Any]) -> None:
    delete_tenants(conn, has_time=lambda: True)


def _list_what_was_abandoned(world: World, conn: Connection[Any]) -> None:
    for notification_id in (None, UUID(int=1)):
        wanted = abandoned_executions.AbandonedFilters(notification_id=notification_id)
        abandoned_executions.list_page(conn, TENANT, wanted, limit=10, after=None)


def _list_system_events(world: World, conn: Connection[Any]) -> None:
    filters = admin_system_events.SystemEventFilters(severity="high")
    admin_system_events.list_page(conn, TENANT, filters, limit=10, after=None)
    admin_system_events.list_page_of_severity(conn, TENANT, filters, limit=10, after=None)


def _list_malformed_intents(world: World, conn: Connection[Any]) -> None:
    malformed_intents.list_page(conn, TENANT, malformed_intents.MalformedFilters(), limit=10, after=None)


def _read_metrics(world: World, conn: Connection[Any]) -> None:
    day = date(2026, 11, 17)
    world.admin.execute(
        """INSERT INTO metrics (tenant_id, mode, date, hour, provider, channel)
           SELECT %s, 'live', day, hour, provider, channel
           FROM generate_series(%s::date - 30, %s::date, '1 day') AS day, generate_series(0, 23) AS hour,
                unnest('{ses,sns,sendgrid,twilio,fcm}'::text[]) AS provider, unnest('{email,sms,push}'::text[]) AS channel""",
        [TENANT, day, day],
    )
    world.admin.execute("ANALYZE metrics")
    for channel, provider in (("email", None), (None, "ses")):
        metrics.find_between(conn, TENANT, day, day, mode="live", hourly=True, channel=channel, provider=provider)


def _list_the_audit_log(world: World, conn: Connection[Any]) -> None:
    nothing = dict.fromkeys(("actor", "user_id", "person", "action", "resource_type", "resource_id", "since", "until"))
    of_a_thing = {"resource_type": "api_key", "resource_id": "x"}
    for filters in ({}, {"actor": "key:x"}, {"user_id": UUID(int=1)}, {"person": "x"}, {"action": "create"}, of_a_thing):
        audit_logs.list_page(conn, TENANT, filters=nothing | filters, limit=10, after=None)


def _deliver_on_a_thread(world: World, conn: Connection[Any]) -> None:
    world.add_user("alice")
    world.accept(thread={"kind": "order", "id": "7"})
    world.dispatch(conn)


def _deliver_what_is_guarded(world: World, conn: Connection[Any]) -> None:
    world.accept(type="auth.password-reset", audience={"kind": "address", "email": "alice@example.com"})
    world.dispatch(conn)


def _fan_out(world: World, conn: Connection[Any]) -> None:
    world.add_user("alice")
    events.route(world)
    events.watch(world, "alice")
    events.happen(world, scope=events.SCOPE)
    events.fan_out_all(world, conn=conn)


def _hear_a_soft_bounce(world: World, conn: Connection[Any]) -> None:
    world.accept(audience={"kind": "address", "email": "alice@example.com"})
    world.dispatch()
    apply_events(conn, [heard("soft bounce", world.attempts()[0])])


def _remove_a_trigger(world: World, conn: Connection[Any]) -> None:
    register.remove(conn, Actor(TENANT, "key:test"), add_trigger(world))


def _list_dead_letters(world: World, conn: Connection[Any]) -> None:
    world.admin.execute(LONG_HISTORY, {"tenant": TENANT, "many": 2_000})
    world.admin.execute("VACUUM ANALYZE dead_letters")
    nobody = UUID(int=1)
    for wanted in (
        Wanted(),
        Wanted(state="all"),
        Wanted(state="ignored"),
        Wanted(classification="poison", source_kind="plan", channel="email", provider="ses", provider_code="rare"),
        Wanted(state="all", recipient="user:alice"),
        Wanted(state="all", type="rare"),
        Wanted(state="all", trigger_id=nobody),
    ):
        dead_letters.find_page(conn, TENANT, wanted, limit=10)
    records.list_page(conn, TENANT, filters=NO_FILTER | {"status": "dead_letter"}, limit=10, after=None)
    letter_standing.find_replay(conn, TENANT, nobody)


def _list_webhooks(world: World, conn: Connection[Any]) -> None:
    webhooks.find_all(conn, TENANT)
    for filters in ({}, {"status": "failed"}):
        nothing = dict.fromkeys(("status", "event_type", "notification_id"))
        webhook_deliveries.list_page(conn, TENANT, UUID(int=1), limit=10, after=None, **(nothing | filters))  # type: ignore[arg-type]


# who reads, as which role, and which indexes
READERS: dict[str, tuple[str, Scenario, set[str]]] = {
    "retention": (
        "tocsin_retention",
        lambda world, conn: retain(conn, RULES_OF_ALL, has_time=lambda: True),
        {
            "admin_system_events_created_idx",
            "archives_created_idx",
            "dead_letters_resolved_at_idx",
            "devices_disabled_idx",
            "domain_events_kept_idx",
            "erasures_finished_idx",
            "job_runs_started_idx",
            "jobs_finished_idx",
            "metrics_date_idx",
            "metrics_day_idx",
            "notification_email_log_age_idx",
            "notification_threads_updated_idx",
            "notifications_age_idx",
            "notifications_expiry_idx",
            "notifications_hidden_idx",
            "provider_events_orphans_idx",
            "provider_events_received_idx",
            "rate_limits_window_idx",
            "records_window_idx",
            "reply_inboxes_expires_idx",
            "suppressions_expiry_idx",
            "webhook_deliveries_kept_idx",
        },
    ),
    "the roll-up": (
        "tocsin_retention",
        lambda world, conn: roll_up(conn, has_time=lambda: True),
        {"dead_letters_created_idx", "metrics_pending_idx", "routes_time_idx"},
    ),
    "the charts of what happens now": (
        "tocsin_app",
        lambda world, conn: recent(conn, TENANT, minutes=60, mode="live"),
        {"attempts_time_idx"},
    ),
    "the books": (
        "tocsin_retention",
        lambda world, conn: balance(conn, has_time=lambda: True),
        {"domain_events_recorded_idx", "records_accepted_idx"},
    ),
    "a provider's numbers, and a channel's": (
        "tocsin_app",
        _read_metrics,
        {"metrics_channel_idx", "metrics_provider_idx"},
    ),
    "fan-out": (
        "tocsin_worker",
        _fan_out,
        {"domain_events_order_idx", "notification_threads_thread_idx", "watches_scope_idx"},
    ),
    "the dampener and the caps": (
        "tocsin_worker",
        _deliver_on_a_thread,
        {"notification_email_log_recent_idx", "notification_email_log_recipient_idx"},
    ),
    "the over-sending guard": ("tocsin_worker", _deliver_what_is_guarded, {"notification_email_log_address_idx"}),
    "the choice of providers": (
        "tocsin_worker",
        lambda world, conn: provider_configs.find_all(conn, [TENANT]),
        {"provider_configs_tenant_idx"},
    ),
    "whoever waits for an outcome": (
        "tocsin_app",
        lambda world, conn: reply_inboxes.look(conn, TENANT, UUID(int=1)),
        {"outbox_reply_idx"},
    ),
    "the list of what came too late": (
        "tocsin_app",
        _list_what_was_abandoned,
        {"abandoned_executions_listing_idx", "abandoned_executions_notification_idx"},
    ),
    "the sweep": ("tocsin_worker", lambda world, conn: sweep(conn), {"outbox_queue_idx", "tenants_resting_idx"}),
    "looking people up": (
        "tocsin_app",
        _look_somebody_up,
        {
            "users_email_search_idx",
            "users_external_id_search_idx",
            "users_phone_search_idx",
            "users_username_search_idx",
        },
    ),
    "searching": (
        "tocsin_app",
        _search,
        {"records_key_idx", "records_to_email_idx", "records_to_phone_idx", "routes_message_idx"},
    ),
    "what was decided lately": (
        "tocsin_app",
        _read_decisions,
        {"attempts_time_idx", "records_cancelled_idx", "routes_changed_idx"},
    ),
    "erasing a person": (
        "tocsin_app",
        _erase_somebody,
        {"records_to_email_idx", "records_to_phone_idx", "records_email_options_idx"},
    ),
    "erasing and deleting, later": (
        "tocsin_retention",
        _delete_a_tenant,
        {"erasures_unfinished_idx"},
    ),
    "a lane that reopens": (
        "tocsin_worker",
        lambda world, conn: outbox.bring_forward(conn, "ses:email", limit=10),
        {"outbox_waiting_idx"},
    ),
    "feedback": ("tocsin_worker", _hear_a_soft_bounce, {"provider_events_soft_idx"}),
    "the inbox": (
        "tocsin_app",
        _read_the_inbox,
        {
            "notification_reads_user_idx",
            "notifications_announced_idx",
            "notifications_box_idx",
            "notifications_saved_idx",
        },
    ),
    "the lists of notifications": (
        "tocsin_app",
        _list_notifications,
        {"records_listing_idx", "routes_channel_idx", "routes_ended_idx", "routes_recipient_idx"},
    ),
    "the lists of dead letters": (
        "tocsin_app",
        _list_dead_letters,
        {
            "dead_letters_cause_idx",
            "dead_letters_listing_idx",
            "dead_letters_outbox_idx",
            "dead_letters_recipient_idx",
            "dead_letters_resolved_idx",
            "dead_letters_trigger_idx",
            "dead_letters_type_idx",
            "dead_letters_unplanned_idx",
            "dead_letters_waiting_idx",
        },
    ),
    "the list of jobs": (
        "tocsin_app",
        lambda world, conn: jobs.list_page(conn, TENANT, status=None, limit=10, after=None),
        {"jobs_listing_idx"},
    ),
    "the lists of webhooks": (
        "tocsin_app",
        _list_webhooks,
        {
            "webhook_deliveries_listing_idx",
            "webhook_deliveries_status_idx",
            "webhooks_listing_idx",
        },
    ),
    "the list of system events": (
        "tocsin_app",
        _list_system_events,
        {"admin_system_events_severity_idx", "admin_system_events_tenant_idx"},
    ),
    "the list of malformed intents": ("tocsin_app", _list_malformed_intents, {"malformed_intents_listing_idx"}),
    "the list of lanes": (
        "tocsin_app",
        lambda world, conn: lanes.list_troubled(conn, TENANT, limit=10),
        {"lanes_tenant_idx"},
    ),
    "when did the jobs last run?": (
        "tocsin_app",
        lambda world, conn: job_runs.latest(conn, ["sweep"]),
        {"job_runs_latest_idx"},
    ),
    "the list of what was archived": (
        "tocsin_app",
        lambda world, conn: archives.list_page(conn, TENANT, limit=10, after=None),
        {"archives_listing_idx"},
    ),
    "the audit log": (
        "tocsin_app",
        _list_the_audit_log,
        {
            "audit_logs_action_idx",
            "audit_logs_actor_idx",
            "audit_logs_listing_idx",
            "audit_logs_person_idx",
            "audit_logs_resource_idx",
            "audit_logs_user_idx",
        },
    ),
    "the check of the audit log": (
        "tocsin_retention",
        lambda world, conn: audit_logs.walk(conn, TENANT, after_seq=0, after_hash=bytes(32), limit=10),
        {"audit_logs_unchained_idx"},
    ),
    "a notification's timeline": (
        "tocsin_app",
        lambda world, conn: provider_events.list_of(conn, TENANT, UUID(int=1), limit=10),
        {"provider_events_route_idx"},
    ),
    "a write to the KV store": ("tocsin_app", lambda world, conn: keep(world, conn=conn), {"triggers_enabled_idx"}),
    "a handler that goes with its last trigger": ("tocsin_app", _remove_a_trigger, {"triggers_handler_idx"}),
    "the other lists": (
        "tocsin_app",
        _list_the_rest,
        {
            "api_keys_tenant_idx",
            "erasures_listing_idx",
            "layouts_listing_idx",
            "suppressions_listing_idx",
            "templates_listing_idx",
            "triggers_listing_idx",
        },
    ),
}

# deleting what they refer to reads them; that they serve their foreign key, the test of all foreign keys tells
FOREIGN_KEYS = {
    *("api_keys_user_idx", "domain_events_actor_idx", "trigger_handlers_tenant_idx", "triggers_principal_idx"),
    *("webhook_deliveries_notification_idx", "reply_inboxes_tenant_idx", "api_keys_replaced_by_idx"),
}

# Foreign keys without an index, each with its reason.
UNINDEXED: set[tuple[str, str]] = set()


def test_every_index_that_keeps_no_key_is_in_the_register_and_nothing_else_is(world: World) -> None:
    """Unique indexes keep their promise whoever reads them."""
    rows = world.rows(
        """SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
           WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE '%%yoyo%%' AND NOT indisunique"""
    )

    read = [index for _, _, indexes in READERS.values() for index in indexes]
    assert sorted(row["name"] for row in rows) == sorted({*read, *FOREIGN_KEYS})


@pytest.mark.parametrize("reader", READERS)
def test_who_is_said_to_read_an_index_reads_it(breakable_world: World, reader: str) -> None:
    """In a database of its own: what other tests have left behind would change what the planner believes."""
    world = breakable_world
    role, scenario, indexes = READERS[reader]
    conn = world.connect("postgres")
    conn.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])
    plans = telling(conn, role)

    scenario(world, conn)

    assert indexes - indexes_in(plans) == set()


def test_every_foreign_key_has_an_index_that_serves_it(world: World) -> None:
    """One without walks its whole table for each row that is deleted from the other. A partial one may leave out NULLs."""
    bare = world.rows(
        """SELECT conrelid::regclass::text AS table, conname AS name FROM pg_constraint
           WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND NOT EXISTS (
               SELECT FROM pg_index
               WHERE indrelid = conrelid AND (indkey::smallint[])[0:cardinality(conkey) - 1] @> conkey
                 AND (indpred IS NULL OR pg_get_expr(indpred, indrelid) = ANY(
                     SELECT format('(%%s IS NOT NULL)', attname)
                     FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey))))"""
    )

    assert {(row["table"], row["name"]) for row in bare} == UNINDEXED


def test_settling_what_is_published_writes_to_no_index_of_routes(world: World) -> None:
    """And to none of attempts. No tree, that is: summaries (BRIN) have their bounds widened and their filters filled, which a HOT
    update may do. The route is settled in a stretch that has its summary: the worst there is."""
    world.add_user()
    world.accept()
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "not now"))
    world.dispatch()
    assert world.route()["status"] == "failed"
    world.pass_time(timedelta(hours=1))
    for row in world.rows(
        """SELECT indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
           WHERE indrelid IN ('routes'::regclass, 'attempts'::regclass) AND amname = 'brin'"""
    ):
        world.admin.execute("SELECT brin_summarize_new_values(%s)", [row["indexrelid"]])
    world.worker.execute("SELECT pg_stat_force_next_flush()")
    for table in ("routes", "attempts"):
        world.admin.execute("SELECT pg_stat_reset_single_table_counters(%s::regclass)", [table])

    world.dispatch()

    assert world.route()["status"] == "published"
    world.worker.execute("SELECT pg_stat_force_next_flush()")
    changed = world.rows("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname IN ('routes', 'attempts')")
    assert [0 < row["n_tup_upd"] == row["n_tup_hot_upd"] for row in changed] == [True, True]


def test_finishing_a_try_writes_to_no_index_of_attempts(world: World) -> None:
    world.add_user()
    world.accept()
    world.worker.execute("SELECT pg_stat_force_next_flush()")
    world.admin.execute("SELECT pg_stat_reset_single_table_counters('attempts'::regclass)")

    world.dispatch()

    assert [row["outcome"] for row in world.attempts()] == ["accepted"]
    world.worker.execute("SELECT pg_stat_force_next_flush()")
    (row,) = world.rows("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'attempts'")
    assert 0 < row["n_tup_upd"] == row["n_tup_hot_upd"]


def test_an_actor_who_is_erased_reads_as_nobody(world: World) -> None:
    reader, actor = world.add_user("alice"), world.add_user("bob")
    events.route(world)
    events.choose(world, "alice", subscribed=True)
    events.happen(world, actor="bob")
    events.fan_out_all(world)

    world.admin.execute("DELETE FROM users WHERE id = %s", [actor])

    with tenant_round_trip(world.app, TENANT):
        page = notifications.list_page(world.app, TENANT, reader, View("all"), limit=10, after=None)
    (row,) = page.fetchall()
    assert row["last_actor"] is None
