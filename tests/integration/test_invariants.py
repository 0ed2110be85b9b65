"""Each invariant of the schema refuses the row that would break it, whoever writes it."""

from typing import Any

import pytest
from psycopg import errors

from tests.world import TENANT, World

A, B, C = (f"00000000-0000-7000-8000-00000000000{n}" for n in "abc")

TABLES: dict[str, dict[str, Any]] = {
    "tenants": {"id": A, "name": "t"},
    "audit_logs": {"id": A, "tenant_id": TENANT, "actor": "key:x", "action": "a", "resource_type": "t", "resource_id": "r"},
    "users": {"id": A, "tenant_id": TENANT, "external_id": "x"},
    "devices": {"id": A, "tenant_id": TENANT, "user_id": B, "platform": "fcm", "token": "t"},
    "api_keys": {
        "id": A, "tenant_id": TENANT, "producer": "p", "name": "n", "mode": "live", "key_prefix": "x",
        "key_hash": b"0" * 32, "scopes": ["send"],
    },
    "rate_limits": {
        "tenant_id": TENANT, "subject": "s", "limit_type": "l", "window_start": "2026-01-01Z", "request_count": 1, "max_count": 1,
    },
    "records": {
        "notification_id": A, "tenant_id": TENANT, "notification_type": "t", "producer": "p", "audience_kind": "tenant",
        "payload_json": "{}", "idempotency_key": "k", "request_fingerprint": b"f", "occurred_at": "2026-01-01Z",
        "accepted_at": "2026-01-01Z", "updated_at": "2026-01-01Z", "idempotency_expires_at": "2026-01-08Z",
    },
    "routes": {
        "notification_id": C, "route_id": "r", "tenant_id": TENANT, "channel": "email", "recipient_ref": "x",
        "status": "pending", "max_attempts": 5, "created_at": "2026-01-01Z", "updated_at": "2026-01-01Z",
    },
    "attempts": {
        "notification_id": C, "route_id": "known", "generation": 1, "attempt_no": 1, "tenant_id": TENANT, "provider": "ses",
        "started_at": "2026-01-01Z",
    },
    "dead_letters": {
        "id": A, "tenant_id": TENANT, "source_kind": "deliver", "outbox_id": A, "notification_id": C, "route_id": "known",
        "final_attempt_count": 1, "max_attempts": 1, "failure_classification": "x", "failure_message": "x",
        "created_at": "2026-01-01Z",
    },
    "malformed_intents": {
        "stream_entry_id": "m", "tenant_id": TENANT, "failure_code": "x", "failure_message": "x", "raw_fields": "{}",
        "recorded_at": "2026-01-01Z",
    },
    "outbox": {
        "id": A, "tenant_id": TENANT, "source_kind": "plan", "due_at": "2026-01-01Z", "max_attempts": 5,
        "retry_backoff": "linear", "retry_base_ms": 1,
    },
    "lanes": {"lane": "l", "state": "slowed", "reason": "r", "resume_at": "2026-01-01Z", "updated_at": "2026-01-01Z"},
    "notifications": {
        "id": A, "tenant_id": TENANT, "user_id": B, "kind": "k", "reason": "r", "title": "t", "message": "m",
        "last_event_at": "2026-01-01Z", "shown_at": "2026-01-01Z", "created_at": "2026-01-01Z", "updated_at": "2026-01-01Z",
    },
    "notification_reads": {"notification_id": C, "user_id": B, "tenant_id": TENANT},
    "domain_events": {
        "tenant_id": TENANT, "event_id": "e", "type": "t", "source": "s", "notification_id": A, "occurred_at": "2026-01-01Z",
        "recorded_at": "2026-01-01Z",
    },
    "domain_events_processed": {"consumer": "another", "last_event_id": 0},
    "event_routing": {"tenant_id": TENANT, "event_type": "t", "rules": "{}"},
    "watches": {"tenant_id": TENANT, "user_id": B, "scope": "s", "level": "all"},
    "notification_threads": {
        "tenant_id": TENANT, "user_id": B, "thread_kind": "k", "thread_id": "1", "subscribed": True, "reason": "manual",
    },
    "preferences": {"id": A, "tenant_id": TENANT, "user_id": B, "channel": "email"},
    "notification_email_log": {
        "tenant_id": TENANT, "recipient_user_id": B, "notification_id": C, "route_id": "known", "generation": 1,
        "channel": "email", "notification_type": "t", "sent_at": "2026-01-01Z",
    },
    "digests": {
        "tenant_id": TENANT, "user_id": B, "thread_kind": "k", "thread_id": "1", "notification_id": C, "outbox_id": A,
    },
    "admin_system_events": {"event_type": "e", "severity": "low", "description": "d"},
    "templates": {"id": A, "tenant_id": TENANT, "name": "n", "channel": "email", "version": 1, "body": "b"},
    "provider_configs": {"id": A, "tenant_id": TENANT, "provider_name": "ses", "channel": "email"},
    "webhooks": {
        "id": A, "tenant_id": TENANT, "url": "https://x.example", "secret": b"s", "events": ["notification.published"],
        "created_by": C,
    },
    "webhook_deliveries": {
        "id": A, "tenant_id": TENANT, "webhook_id": C, "notification_id": C, "event_type": "notification.published",
        "payload": "{}", "message_id": A,
    },
    "trigger_handlers": {"id": A, "tenant_id": TENANT, "kind": "intent", "config": "{}"},
    "triggers": {
        "id": A, "tenant_id": TENANT, "handler_id": C, "kind": "kv", "retry_max_attempts": 5, "retry_backoff": "linear",
        "retry_base_ms": 1000, "registered_by_principal": C,
    },
    "kv_trigger_details": {"trigger_id": C, "tenant_id": TENANT, "collection_glob": "*", "ops": []},
    "dead_letter_trigger_details": {"trigger_id": C, "tenant_id": TENANT},
}  # fmt: skip

CHECKS = [
    ("tenants", {"name": ""}),
    ("users", {"external_id": ""}),
    ("users", {"external_id": "x" * 256}),
    ("devices", {"platform": "windows"}),
    ("devices", {"token": ""}),
    ("api_keys", {"mode": "prod"}),
    ("api_keys", {"scopes": ["root"]}),
    ("api_keys", {"key_hash": b"short"}),
    ("api_keys", {"rate_limit": 0}),
    ("api_keys", {"name": ""}),
    ("rate_limits", {"request_count": 2}),
    ("records", {"audience_kind": "nobody"}),
    ("records", {"mode": "prod"}),
    ("records", {"priority": "urgent"}),
    ("records", {"retry_backoff": "random"}),
    ("records", {"notification_type": ""}),
    ("records", {"thread_kind": "order"}),
    ("records", {"thread_id": "7"}),
    ("routes", {"channel": "pigeon"}),
    ("routes", {"status": "lost"}),
    ("routes", {"feedback": "applauded"}),
    ("routes", {"status": "published"}),
    ("routes", {"published_at": "2026-01-01Z"}),
    ("routes", {"status": "dead_letter", "reason": "x"}),
    ("routes", {"status": "dead_letter", "dead_lettered_at": "2026-01-01Z"}),
    ("routes", {"status": "skipped", "reason": "x"}),
    ("routes", {"status": "skipped", "skipped_at": "2026-01-01Z"}),
    ("routes", {"status": "cancelled", "reason": "x"}),
    ("routes", {"status": "published", "published_at": "2026-01-01Z", "next_attempt_at": "2026-01-01Z"}),
    ("audit_logs", {"person": ""}),
    ("audit_logs", {"person": "x" * 101}),
    ("attempts", {"outcome": "lost"}),
    ("dead_letters", {"resolution": "forgotten", "resolved_at": "2026-01-01Z"}),
    ("dead_letters", {"resolution": "ignored"}),
    ("dead_letters", {"resolved_at": "2026-01-01Z"}),
    ("outbox", {"source_kind": "magic"}),
    ("outbox", {"retry_backoff": "random"}),
    ("lanes", {"state": "open"}),
    ("notifications", {"thread_kind": "order"}),
    ("notifications", {"unread": False}),
    ("notifications", {"kind": ""}),
    ("notifications", {"reason": "x" * 33}),
    ("domain_events", {"event_id": ""}),
    ("domain_events", {"event_id": "x" * 256}),
    ("domain_events", {"type": ""}),
    ("domain_events", {"type": "x" * 101}),
    ("domain_events", {"source": ""}),
    ("domain_events", {"source": "x" * 256}),
    ("domain_events", {"scope": ""}),
    ("domain_events", {"thread_kind": "issue"}),
    ("domain_events", {"thread_id": "7"}),
    ("domain_events", {"mode": "prod"}),
    ("domain_events", {"outcome": "lost"}),
    ("outbox", {"queue": "fax"}),
    ("outbox", {"priority": 5}),
    ("event_routing", {"event_type": ""}),
    ("event_routing", {"event_type": "x" * 101}),
    ("event_routing", {"rules": "[]"}),
    ("watches", {"scope": ""}),
    ("watches", {"scope": "x" * 256}),
    ("watches", {"level": "some"}),
    ("notification_threads", {"reason": ""}),
    ("notification_threads", {"reason": "x" * 33}),
    ("preferences", {"channel": "webhook"}),
    ("preferences", {"enabled": None}),
    ("preferences", {"frequency_cap": -1}),
    ("preferences", {"quiet_hours_start": "22:00"}),
    ("preferences", {"quiet_hours_end": "07:00"}),
    ("preferences", {"quiet_hours_start": "22:00", "quiet_hours_end": "22:00"}),
    ("preferences", {"channel": "in_app", "frequency_cap": 1}),
    ("preferences", {"channel": "in_app", "quiet_hours_start": "22:00", "quiet_hours_end": "07:00"}),
    ("admin_system_events", {"severity": "dire"}),
    ("admin_system_events", {"is_resolved": True}),
    ("admin_system_events", {"resolved_at": "2026-01-01Z"}),
    ("templates", {"name": ""}),
    ("templates", {"name": "x" * 101}),
    ("templates", {"channel": "webhook"}),
    ("provider_configs", {"provider_name": "pigeon"}),
    ("provider_configs", {"timeout_seconds": 11}),
    ("provider_configs", {"rate_limit": 0}),
    ("webhooks", {"url": ""}),
    ("webhooks", {"url": "x" * 501}),
    ("webhooks", {"events": []}),
    ("webhooks", {"events": ["notification.read"]}),
    ("webhooks", {"retry_count": 0}),
    ("webhooks", {"timeout_seconds": 16}),
    ("webhook_deliveries", {"status": "lost"}),
    ("webhook_deliveries", {"status": "delivered"}),
    ("webhook_deliveries", {"status": "failed", "next_retry_at": "2026-01-01Z"}),
    ("webhook_deliveries", {"response_body": "x" * 2001}),
    ("trigger_handlers", {"kind": "script"}),
    ("trigger_handlers", {"secret": b"s"}),
    ("triggers", {"kind": "cron"}),
    ("triggers", {"dispatch_mode": "later"}),
    ("triggers", {"retry_backoff": "random"}),
    ("triggers", {"retry_max_attempts": 0}),
    ("triggers", {"retry_base_ms": 99}),
    ("kv_trigger_details", {"collection_glob": ""}),
    ("kv_trigger_details", {"ops": ["upsert"]}),
    ("dead_letter_trigger_details", {"source_filter": "magic"}),
]

# the first row goes in, the second, with these changes, does not
DUPLICATES = [
    ("users", {}, {"id": B.replace("b", "d")}),
    ("users", {"email": "A@x.example"}, {"id": C, "external_id": "y", "email": "a@X.EXAMPLE"}),
    ("users", {"username": "u"}, {"id": C, "external_id": "y", "username": "u"}),
    ("devices", {}, {"id": C}),
    ("api_keys", {}, {"id": B}),
    ("records", {}, {"notification_id": B}),
    ("attempts", {}, {}),
    ("dead_letters", {}, {"id": B}),
    ("malformed_intents", {}, {}),
    ("notifications", {"thread_kind": "k", "thread_id": "1"}, {"id": C}),
    ("notifications", {"thread_kind": "k", "thread_id": "1", "user_id": None}, {"id": C}),
    ("notification_reads", {}, {"read_at": "2026-01-01Z"}),
    ("domain_events", {}, {"notification_id": B}),
    ("domain_events", {}, {"event_id": "other"}),
    ("domain_events_processed", {}, {}),
    ("event_routing", {}, {}),
    ("watches", {}, {"level": "ignore"}),
    ("notification_threads", {}, {"subscribed": False}),
    ("preferences", {}, {"id": C}),
    ("preferences", {"notification_type": "news"}, {"id": C}),
    ("notification_email_log", {}, {"sent_at": "2026-01-02Z"}),
    ("digests", {}, {"outbox_id": B}),
    ("digests", {}, {"thread_id": "2"}),
    ("admin_system_events", {"subject": "ses:email"}, {}),
    ("rate_limits", {}, {}),
    ("templates", {}, {"id": B, "version": 2}),
    ("templates", {"is_active": False}, {"id": B}),
    ("kv_trigger_details", {}, {}),
    ("dead_letter_trigger_details", {}, {}),
]


def _insert(world: World, table: str, values: dict[str, Any]) -> None:
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    world.admin.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # type: ignore[call-overload]


@pytest.fixture
def ground(world: World) -> World:
    """A user B, a record C with a route called known, and a C of everything else that rows refer to."""
    _insert(world, "users", TABLES["users"] | {"id": B, "external_id": "ground"})
    _insert(world, "records", TABLES["records"] | {"notification_id": C, "idempotency_key": "ground"})
    _insert(world, "routes", TABLES["routes"] | {"route_id": "known"})
    _insert(world, "notifications", TABLES["notifications"] | {"id": C, "user_id": None})
    _insert(world, "api_keys", TABLES["api_keys"] | {"id": C, "key_hash": b"c" * 32})
    for table in ("webhooks", "trigger_handlers", "triggers"):
        _insert(world, table, TABLES[table] | {"id": C})
    return world


@pytest.mark.parametrize("table", TABLES)
def test_a_sound_row_is_taken(ground: World, table: str) -> None:
    _insert(ground, table, TABLES[table])


@pytest.mark.parametrize(("table", "changes"), CHECKS, ids=str)
def test_a_row_that_breaks_an_invariant_is_refused(ground: World, table: str, changes: dict[str, Any]) -> None:
    with pytest.raises(errors.CheckViolation):
        _insert(ground, table, TABLES[table] | changes)


@pytest.mark.parametrize(("table", "first", "second"), DUPLICATES, ids=str)
def test_what_may_exist_once_exists_once(ground: World, table: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    _insert(ground, table, TABLES[table] | first)

    with pytest.raises(errors.UniqueViolation):
        _insert(ground, table, TABLES[table] | first | second)


def test_a_key_that_was_given_up_may_be_taken_again(ground: World) -> None:
    _insert(ground, "records", TABLES["records"] | {"holds_key": False})

    _insert(ground, "records", TABLES["records"] | {"notification_id": B})


def test_a_resolved_condition_may_arise_again(ground: World) -> None:
    _insert(ground, "admin_system_events", TABLES["admin_system_events"] | {"is_resolved": True, "resolved_at": "2026-01-01Z"})

    _insert(ground, "admin_system_events", TABLES["admin_system_events"])


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("routes", {"notification_id": A}),
        ("attempts", {"route_id": "unknown"}),
        ("devices", {"user_id": A}),
        ("users", {"tenant_id": A}),
        ("notification_reads", {"notification_id": A}),
        ("notification_reads", {"user_id": A}),
        ("domain_events", {"actor_user_id": A}),
        ("event_routing", {"tenant_id": A}),
        ("watches", {"user_id": A}),
        ("notification_threads", {"user_id": A}),
        ("preferences", {"user_id": A}),
        ("notification_email_log", {"recipient_user_id": A}),
        ("digests", {"user_id": A}),
        ("digests", {"notification_id": A}),
        ("notifications", {"user_id": A}),
        ("webhook_deliveries", {"webhook_id": A}),
        ("webhook_deliveries", {"notification_id": A}),
        ("triggers", {"handler_id": A}),
        ("triggers", {"registered_by_principal": A}),
        ("kv_trigger_details", {"trigger_id": A}),
        ("dead_letter_trigger_details", {"trigger_id": A}),
    ],
)
def test_nothing_refers_to_what_does_not_exist(ground: World, table: str, changes: dict[str, Any]) -> None:
    with pytest.raises(errors.ForeignKeyViolation):
        _insert(ground, table, TABLES[table] | changes)


BOXES: list[tuple[dict[str, Any], str]] = [
    ({}, "unread"),
    ({"unread": False, "read_at": "2026-01-01Z"}, "read"),
    ({"done_at": "2026-01-01Z"}, "done"),
    ({"unread": False, "read_at": "2026-01-01Z", "done_at": "2026-01-01Z"}, "done"),
    ({"deleted_at": "2026-01-01Z"}, "hidden"),
    ({"deleted_at": "2026-01-01Z", "done_at": "2026-01-01Z"}, "hidden"),
    ({"saved_at": "2026-01-01Z"}, "unread"),
]


@pytest.mark.parametrize(("state", "box"), BOXES, ids=str)
def test_a_row_lies_in_the_box_its_state_says(ground: World, state: dict[str, Any], box: str) -> None:
    _insert(ground, "notifications", TABLES["notifications"] | state)

    assert ground.one("SELECT box FROM notifications WHERE id = %(id)s", id=A) == box


def test_who_is_erased_takes_along_what_they_wanted_and_not_what_happened(ground: World) -> None:
    wanted = ("watches", "notification_threads", "preferences", "notification_email_log", "digests", "notification_reads")
    tables = (*wanted, "devices")
    for table in (*tables, "notifications"):
        _insert(ground, table, TABLES[table])
    _insert(ground, "domain_events", TABLES["domain_events"] | {"actor_user_id": B})

    ground.admin.execute("DELETE FROM users WHERE id = %s", [B])

    assert [ground.count(table) for table in tables] == [0] * len(tables)
    assert [row["id"] for row in ground.rows("SELECT id::text FROM notifications")] == [C]  # everyone's stays
    assert ground.rows("SELECT actor_user_id FROM domain_events") == [{"actor_user_id": None}]


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        ("webhooks", "webhook_deliveries"),
        ("records", "webhook_deliveries"),
        ("tenants", "triggers"),
        ("trigger_handlers", "triggers"),
        ("api_keys", "triggers"),
        ("triggers", "kv_trigger_details"),
        ("triggers", "dead_letter_trigger_details"),
    ],
)
def test_what_belongs_to_something_goes_with_it(ground: World, parent: str, child: str) -> None:
    is_tenants = parent == "tenants"
    if is_tenants:
        _insert(ground, "tenants", {"id": C, "name": "t"})
    _insert(ground, child, TABLES[child] | ({"tenant_id": C} if is_tenants else {}))
    before = ground.count(child)

    key = "notification_id" if parent == "records" else "id"
    ground.admin.execute(f"DELETE FROM {parent} WHERE {key} = %s", [C])  # type: ignore[call-overload]

    assert ground.count(child) < before
    assert ground.rows(f"SELECT FROM {child} WHERE {'trigger_id' if 'details' in child else 'id'} = '{A}'") == []


def test_the_cursor_is_there_before_the_first_event(breakable_world: World) -> None:
    """So that nobody has to think of a first time."""
    assert breakable_world.rows("SELECT consumer, last_event_id FROM domain_events_processed") == [
        {"consumer": "notify_fanout", "last_event_id": 0}
    ]
