"""Each invariant of the schema refuses the row that would break it, whoever writes it."""

from typing import Any

import pytest
from psycopg import errors

from tests.world import TENANT, World

A, B, C = (f"00000000-0000-7000-8000-00000000000{n}" for n in "abc")

TABLES: dict[str, dict[str, Any]] = {
    "tenants": {"id": A, "name": "t"},
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
        "last_event_at": "2026-01-01Z", "created_at": "2026-01-01Z", "updated_at": "2026-01-01Z",
    },
    "admin_system_events": {"event_type": "e", "severity": "low", "description": "d"},
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
    ("admin_system_events", {"severity": "dire"}),
    ("admin_system_events", {"is_resolved": True}),
    ("admin_system_events", {"resolved_at": "2026-01-01Z"}),
]

# the first row goes in, the second, with these changes, does not
DUPLICATES = [
    ("users", {}, {"id": B.replace("b", "d")}),
    ("users", {"email": "A@x.example"}, {"id": C, "external_id": "y", "email": "a@X.EXAMPLE"}),
    ("users", {"username": "u"}, {"id": C, "external_id": "y", "username": "u"}),
    ("devices", {}, {"id": C}),
    ("api_keys", {}, {"id": C}),
    ("records", {}, {"notification_id": B}),
    ("attempts", {}, {}),
    ("dead_letters", {}, {"id": B}),
    ("malformed_intents", {}, {}),
    ("notifications", {"thread_kind": "k", "thread_id": "1"}, {"id": C}),
    ("notifications", {"thread_kind": "k", "thread_id": "1", "user_id": None}, {"id": C}),
    ("admin_system_events", {"subject": "ses:email"}, {}),
]


def _insert(world: World, table: str, values: dict[str, Any]) -> None:
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    world.admin.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # type: ignore[call-overload]


@pytest.fixture
def ground(world: World) -> World:
    """A user B, and a record C with a route called known, for the rows that refer to them."""
    _insert(world, "users", TABLES["users"] | {"id": B, "external_id": "ground"})
    _insert(world, "records", TABLES["records"] | {"notification_id": C, "idempotency_key": "ground"})
    _insert(world, "routes", TABLES["routes"] | {"route_id": "known"})
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
    ],
)
def test_nothing_refers_to_what_does_not_exist(ground: World, table: str, changes: dict[str, Any]) -> None:
    with pytest.raises(errors.ForeignKeyViolation):
        _insert(ground, table, TABLES[table] | changes)
