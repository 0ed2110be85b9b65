"""A tenant with a crowd: what concerns one person reads one person's rows, however many others there are.

The plans are those that really ran (auto_explain), of every statement from intake over planning, delivery and feedback to the
fan-out; with and without statistics, planned for the values at hand and for any values."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import Connection

from tests.events import route, told, try_record, wait_until_readable
from tests.plans import EXPLAINING, rows_of, walk
from tests.ses_events import heard
from tests.world import TENANT, World
from tocsin.audience import fan_out
from tocsin.feedback.apply import apply_events
from tocsin.intake.accept_events import Told
from tocsin.intake.accept_intents import Asked
from tocsin.outbox.dispatch import dispatch

CROWD = 20_000
TOGETHER = 20  # people in one batch
MOST_ROWS = 12 * TOGETHER  # that one step of a plan reads of one table: each person's few, and what the day has added
STEPS = ("intake", "a replay", "planning and delivery", "feedback", "an event", "a duplicate", "the fan-out", "its deliveries")

# what each table has of everyone in the crowd
CROWDED = {
    "users": "(id, tenant_id, external_id, email) SELECT id, tenant, 'person-' || n, 'person-' || n || '@example.com'",
    "devices": "(id, tenant_id, user_id, platform, token) SELECT id, tenant, id, 'fcm', 'device-' || n",
    "preferences": "(id, tenant_id, user_id, channel) SELECT id, tenant, id, 'in_app'",
    "suppressions": "(id, tenant_id, channel, address_hash, reason) SELECT id, tenant, 'email', sha256(n::text::bytea), 'manual'",
    "notification_types": "(tenant_id, name) SELECT tenant, 'type-' || n",
    "templates": """(id, tenant_id, name, channel, version, subject, body)
        SELECT gen_random_uuid(), tenant, 'template-' || n, channel, 1, 'words', 'words'""",
    "watches": "(tenant_id, user_id, scope, level) SELECT tenant, id, 'scope-' || n, 'all'",
    "notification_threads": """(tenant_id, user_id, thread_kind, thread_id, subscribed, reason)
        SELECT tenant, id, 'issue', 'thread-' || n, true, 'comment'""",
    "notifications": """(id, tenant_id, user_id, kind, reason, title, message, last_event_at, shown_at, created_at, updated_at)
        SELECT id, tenant, id, 'k', 'intent', '', '', now(), now(), now(), now()""",
    "domain_events": """(tenant_id, event_id, type, source, notification_id, occurred_at, recorded_at)
        SELECT tenant, n::text, 'past', '/past', id, now(), now()""",
    "records": """(notification_id, tenant_id, notification_type, producer, audience_kind, payload_json, idempotency_key,
                   request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
        SELECT id, tenant, 'past', 'shop', 'users', '{}', 'past-' || n, '', now(), now(), now(), now() + interval '1 day'""",
    "routes": """(notification_id, route_id, tenant_id, channel, recipient_ref, user_id, status, max_attempts, created_at,
                  updated_at, published_at)
        SELECT id, 'email-' || n, tenant, 'email', 'user:person-' || n, id, 'published', 5, now(), now(), now()""",
    "attempts": """(notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at, outcome)
        SELECT id, 'email-' || n, 1, 1, tenant, 'ses', now(), 'accepted'""",
    "notification_email_log": """(tenant_id, recipient_user_id, notification_id, route_id, generation, channel,
                                  notification_type, sent_at)
        SELECT tenant, id, id, 'email-' || n, 1, 'email', 'past', now()""",
    "provider_events": """(event_key, tenant_id, provider, kind, feedback, notification_id, route_id, occurred_at, received_at)
        SELECT sha256(n::text::bytea), tenant, 'ses', 'delivery', 'delivered', id, 'email-' || n, now(), now()""",
}
SEVERAL = {"templates": "CROSS JOIN unnest(ARRAY['email', 'in_app']) AS channel"}


@pytest.fixture
def crowded(breakable_world: World) -> World:
    """A world with a crowd, whose database explains what it does and keeps no statistics of its own accord."""
    admin: Any = breakable_world.admin
    name = admin.info.dbname
    admin.execute(f"ALTER DATABASE {name} SET session_preload_libraries = 'auto_explain'")
    admin.execute("SET session_replication_role = replica")  # foreign keys need not be looked up
    admin.execute("CREATE TABLE person (id uuid DEFAULT gen_random_uuid(), tenant uuid, n integer)")
    admin.execute("INSERT INTO person (tenant, n) SELECT %s, n FROM generate_series(1, %s) AS n", [TENANT, CROWD])
    for table, rows in CROWDED.items():
        admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        admin.execute(f"INSERT INTO {table} {rows} FROM person {SEVERAL.get(table, '')}")
    admin.execute(
        """UPDATE domain_events_processed
           SET (last_txid, last_event_id) = (SELECT txid, id FROM domain_events ORDER BY txid DESC, id DESC LIMIT 1)"""
    )
    for setting, value in {**EXPLAINING, "nested_statements": "on"}.items():
        admin.execute(f"ALTER DATABASE {name} SET auto_explain.log_{setting} = '{value}'")
    route(breakable_world, rules={"mention": ["in_app", "email", "push"], "watching": ["in_app"], "subscribed": ["email"]})
    return breakable_world


class Day:
    """A day in the life of a few people of the crowd, on connections that tell how each statement was carried out."""

    def __init__(self, world: World, planning: str, first: int) -> None:
        self.world, self.first, self.said = world, first, list[str]()
        self.app, self.worker = (self._connect(role, planning) for role in ("tocsin_app", "tocsin_worker"))

    def faults(self, people: int) -> Iterator[tuple[str, str]]:
        """What each step read that is not its business."""
        for step, work in zip(STEPS, self._steps(people), strict=True):
            self.said.clear()
            work()
            plans = [json.loads(text[text.index("{") :])["Plan"] for text in self.said if "{" in text]
            assert plans, step
            for node in (node for plan in plans for node in walk(plan)):
                if node.get("Relation Name") in CROWDED and rows_of(node) > MOST_ROWS:
                    yield step, f"{node['Node Type']} reads {rows_of(node)} rows of {node['Relation Name']}"

    def _steps(self, people: int) -> Iterator[Callable[[], object]]:
        world, numbers = self.world, range(self.first, self.first + people)
        asked = [self._asked(n) for n in numbers]
        events = [self._event(n) for n in numbers]
        ids = [one.notification_id for one in asked]
        yield lambda: world.try_accept(*asked, conn=self.app)
        yield lambda: world.try_accept(*asked, conn=self.app)
        yield lambda: dispatch(self.worker, ids, world.worker_policy())
        attempts = world.rows("SELECT * FROM attempts WHERE notification_id = ANY(%(ids)s)", ids=ids)
        assert attempts
        yield lambda: apply_events(self.worker, [heard("delivery", one, message_id=str(uuid4())) for one in attempts])
        yield lambda: try_record(world, *events, conn=self.app)
        yield lambda: try_record(world, *events, conn=self.app)
        wait_until_readable(world)
        made: list[UUID] = []
        yield lambda: made.extend(one.id for one in fan_out.fan_out(self.worker, has_time=lambda: True).due)
        assert made
        yield lambda: dispatch(self.worker, made, world.worker_policy())

    def _asked(self, n: int) -> Asked:
        """To two people, or to a thread."""
        people = {"kind": "users", "user_ids": [f"person-{n * 7}", f"person-{n * 7 + 1}"]}
        thread = {"kind": "issue", "id": f"thread-{n}"}
        return self.world.asked(
            type=f"type-{n}",
            template=f"template-{n}" if n % 2 else None,
            audience={"kind": "thread", "thread": thread} if n % 10 == 5 else people,
            **({} if n % 10 == 5 else {"thread": thread}),
            channels=["email", "in_app"],
        )

    def _event(self, n: int) -> Told:
        thread, mentions = {"kind": "issue", "id": f"thread-{n + 5_000}"}, [f"person-{n * 9}", f"person-{n * 9 + 1}"]
        return told(thread=thread, scope=f"scope-{n}", actor=f"person-{n + 50}", mentions=mentions)

    def _connect(self, role: str, planning: str) -> Connection[Any]:
        conn = psycopg.connect(self.world.dsn(role), autocommit=True, prepare_threshold=0)
        self.world.extra.append(conn)
        conn.add_notice_handler(lambda notice: self.said.append(notice.message_primary or ""))
        conn.execute("SELECT set_config('plan_cache_mode', %s, false)", [planning])
        return conn


@pytest.mark.parametrize("planning", ["force_custom_plan", "force_generic_plan"])
def test_whatever_concerns_a_few_people_reads_a_fewrows_of(crowded: World, planning: str) -> None:
    faults = [("never analysed", *fault) for fault in Day(crowded, planning, first=1).faults(1)]
    crowded.admin.execute("VACUUM ANALYZE")
    for people, first in ((1, 101), (TOGETHER, 201)):
        faults += [(f"analysed, {people} at once", *fault) for fault in Day(crowded, planning, first).faults(people)]

    assert "\n".join(sorted({" | ".join(fault) for fault in faults})) == ""
