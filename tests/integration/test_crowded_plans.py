"""A tenant with a crowd: what concerns one person reads one person's rows, however many others there are.

The plans are those that really ran (auto_explain), of every statement from intake over planning, delivery and feedback to the
fan-out; with and without statistics, planned for the values at hand and for any values, now or while the tables were all but
empty. Each of the people has a cap of their own and each type a guard, so that all that the log is asked is asked."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import Connection

from tests.events import route, told, try_record, wait_until_readable
from tests.plans import EXPLAINING, Node, blocks_of, rows_of, walk
from tests.ses_events import heard
from tests.world import TENANT, World
from tocsin.audience import fan_out
from tocsin.feedback.apply import apply_events
from tocsin.intake.accept_events import Told
from tocsin.intake.accept_intents import Asked
from tocsin.outbox.dispatch import dispatch

CROWD = 20_000
FEW = 60  # people, before there is a crowd
TOGETHER = 20  # people in one batch
MOST_ROWS = 12 * TOGETHER  # that one step of a plan reads of one table: each person's few, and what the day has added
MOST_BLOCKS = 5 * MOST_ROWS  # a way down an index, and the row
STEPS = ("intake", "a replay", "planning and delivery", "feedback", "an event", "a duplicate", "the fan-out", "its deliveries")
DELIVERING = ("planning and delivery", "its deliveries")

# what each table has of everyone in the crowd
CROWDED = {
    "users": "(id, tenant_id, external_id, email) SELECT id, tenant, 'person-' || n, 'person-' || n || '@example.com'",
    "devices": "(id, tenant_id, user_id, platform, token) SELECT id, tenant, id, 'fcm', 'device-' || n",
    "preferences": """(id, tenant_id, user_id, channel, frequency_cap)
        SELECT gen_random_uuid(), tenant, id, channel, CASE channel WHEN 'email' THEN 1000 END""",
    "suppressions": "(id, tenant_id, channel, address_hash, reason) SELECT id, tenant, 'email', sha256(n::text::bytea), 'manual'",
    "notification_types": """(tenant_id, name, over_sending_limit, over_sending_window_seconds)
        SELECT tenant, 'type-' || n, 1000, 3600""",
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
                                  notification_type, thread_kind, thread_id, sent_at, address_hash)
        SELECT tenant, id, id, 'email-' || n, 1, 'email', 'past', 'issue', 'past-' || n, now(), sha256(n::text::bytea)""",
    "digests": """(tenant_id, user_id, thread_kind, thread_id, notification_id, outbox_id)
        SELECT tenant, id, 'issue', 'past-' || n, id, id""",
    "outbox": """(id, tenant_id, source_kind, queue, notification_id, route_id, due_at, max_attempts, retry_backoff,
                  retry_base_ms)
        SELECT id, tenant, 'deliver', 'email', id, 'email-' || n, now() + interval '1 hour', 5, 'constant', 1000""",
    "provider_events": """(event_key, tenant_id, provider, kind, feedback, notification_id, route_id, occurred_at, received_at)
        SELECT sha256(n::text::bytea), tenant, 'ses', 'delivery', 'delivered', id, 'email-' || n, now(), now()""",
}
ASKED = ("users", "preferences", "records", "routes", "outbox")  # what is full before the first is delivered
SEVERAL = dict.fromkeys(("templates", "preferences"), "CROSS JOIN unnest(ARRAY['email', 'in_app']) AS channel")


@pytest.fixture
def roomy(breakable_world: World) -> World:
    """A world with room for a crowd, whose database explains what it does and keeps no statistics of its own accord."""
    admin: Any = breakable_world.admin
    name = admin.info.dbname
    admin.execute(f"ALTER DATABASE {name} SET session_preload_libraries = 'auto_explain'")
    admin.execute("SET session_replication_role = replica")  # foreign keys need not be looked up
    admin.execute("CREATE TABLE person (id uuid DEFAULT gen_random_uuid(), tenant uuid, n integer PRIMARY KEY)")
    for table in CROWDED:
        admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    for setting, value in {**EXPLAINING, "nested_statements": "on"}.items():
        admin.execute(f"ALTER DATABASE {name} SET auto_explain.log_{setting} = '{value}'")
    route(breakable_world, rules={"mention": ["in_app", "email", "push"], "watching": ["in_app"], "subscribed": ["email"]})
    return breakable_world


@pytest.fixture
def crowded(roomy: World) -> World:
    """The same with its crowd."""
    let_in(roomy, range(1, CROWD + 1))
    return roomy


def let_in(world: World, people: range, tables: Iterable[str] = CROWDED) -> None:
    """More people, each with what the tables have of everyone. What there is of plans stays as it is."""
    admin: Any = world.admin
    numbers = {"tenant": TENANT, "first": people[0], "last": people[-1]}
    admin.execute(
        """INSERT INTO person (tenant, n) SELECT %(tenant)s, n FROM generate_series(%(first)s::int, %(last)s::int) AS n
           ON CONFLICT DO NOTHING""",
        numbers,
    )
    for table in tables:
        several = SEVERAL.get(table, "")
        admin.execute(
            f"INSERT INTO {table} {CROWDED[table]} FROM person {several} WHERE n BETWEEN %(first)s AND %(last)s", numbers
        )
    admin.execute(
        """UPDATE domain_events_processed
           SET (last_txid, last_event_id) = (SELECT txid, id FROM domain_events ORDER BY txid DESC, id DESC LIMIT 1)"""
    )


class Day:
    """A day in the life of a few people of the crowd, on connections that tell how each statement was carried out."""

    def __init__(self, world: World, planning: str) -> None:
        self.world, self.said = world, list[str]()
        self.app, self.worker = (self._connect(role, planning) for role in ("tocsin_app", "tocsin_worker"))

    def faults(self, first: int, people: int) -> Iterator[tuple[str, str]]:
        """What each step read that is not its business."""
        for step, work in zip(STEPS, self._steps(range(first, first + people)), strict=True):
            for node in self.scans(work):
                if node["Relation Name"] in CROWDED and (rows_of(node) > MOST_ROWS or blocks_of(node) > MOST_BLOCKS):
                    how = f"{node['Node Type']} {node.get('Index Name', '')}"
                    yield step, f"{how} reads {rows_of(node)} rows, {blocks_of(node)} blocks of {node['Relation Name']}"

    def scans(self, work: Callable[[], object]) -> Iterator[Node]:
        """How the tables were read by this work. What a foreign key makes Postgres look up is its own to plan."""
        self.said.clear()
        work()
        plans = [json.loads(text[text.index("{") :])["Plan"] for text in self.said if "{" in text and "FROM ONLY" not in text]
        assert plans
        for node in (node for plan in plans for node in walk(plan)):
            if "Relation Name" in node and node["Node Type"] != "ModifyTable":
                yield node

    def _steps(self, numbers: range) -> Iterator[Callable[[], object]]:
        world = self.world
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
def test_whatever_concerns_a_few_people_reads_a_few_rows(crowded: World, planning: str) -> None:
    faults = [("never analysed", *fault) for fault in Day(crowded, planning).faults(1, 1)]
    crowded.admin.execute("VACUUM ANALYZE")
    for people, first in ((1, 101), (TOGETHER, 201)):
        faults += [(f"analysed, {people} at once", *fault) for fault in Day(crowded, planning).faults(first, people)]

    assert _told(faults) == ""


@pytest.mark.parametrize("analysed", [False, True])
@pytest.mark.parametrize("there", [(), ASKED])
def test_a_plan_that_was_made_before_the_crowd_came_delivers_to_a_few_as_before(
    roomy: World, there: tuple[str, ...], analysed: bool
) -> None:
    day = Day(roomy, "force_generic_plan")
    let_in(roomy, range(1, FEW + 1))
    let_in(roomy, range(FEW + 1, CROWD + 1), there)
    if analysed:
        roomy.admin.execute("VACUUM ANALYZE")
    list(day.faults(1, 5))

    let_in(roomy, range(FEW + 1, CROWD + 1), CROWDED.keys() - {*there})
    faults = [
        (f"{people} at once", *fault) for people, first in ((1, 101), (TOGETHER, 201)) for fault in day.faults(first, people)
    ]

    assert _told([fault for fault in faults if fault[1] in DELIVERING]) == ""


def test_the_log_is_not_asked_what_a_delivery_has_no_question_about(roomy: World) -> None:
    roomy.add_user()
    day, asked = Day(roomy, "force_generic_plan"), roomy.asked()
    roomy.try_accept(asked)

    scans = list(day.scans(lambda: dispatch(day.worker, [asked.notification_id], roomy.worker_policy())))

    used = [node.get("Index Name", "") for node in scans if node["Actual Loops"]]
    of_log = sorted(name for name in used if name.startswith("notification_email_log"))
    assert of_log == [
        "notification_email_log_recipient_idx",  # the hour; no day, no thread, no guard
        "notification_email_log_route_idx",  # its own reservation, when it is made and when it is settled
        "notification_email_log_route_idx",
    ]


def _told(faults: list[tuple[str, str, str]]) -> str:
    return "\n".join(sorted({" | ".join(fault) for fault in faults}))
