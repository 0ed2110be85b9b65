"""Fan-out to a crowd: one event to everyone who watches, against the plainest statement that writes the same inbox rows."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from bench.alone import tell_everyone
from bench.ground import PEOPLE, ROOT, SENDER, TENANT, Ground, furnish
from bench.report import Result, compared
from bench.rounds import Contestant, interleaved
from tocsin.foundation.ids import uuid7
from tocsin.intake.accept_events import Told, record_events
from tocsin.intake.cloud_events import CloudEvent

WATCHERS = 100_000
FEW, MANY = 1_000, 300_000  # for the memory; a million would take minutes on the machines this is made for
ROUNDS = 3  # long ones
DATA = {"title": "The build is broken", "message": "It has been red since Tuesday.", "url": "https://example.com/builds/17"}

Tell = Callable[[str], float]


def measure(ground: Ground) -> list[Result]:
    crowd = replace(ground, database="crowd")
    furnish(ground.server, crowd.database)
    with (
        psycopg.connect(crowd.url(), autocommit=True) as admin,
        crowd.connect("tocsin_app") as app,
        crowd.connect("tocsin_worker") as conn,
    ):
        gather(admin)
        ours, plain = partial(_ours, app, conn), partial(_plain, conn)
        contestants: dict[str, Contestant] = {
            "ours known": partial(_rate, admin, ours, "ours"),
            "plain known": partial(_rate, admin, plain, "plain"),
            "ours new": partial(_rate, admin, ours, None),
            "plain new": partial(_rate, admin, plain, None),
        }
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=ROUNDS)
        peaks = [_peak_megabytes(crowd, app, count) for count in (FEW, WATCHERS, MANY)]
    against, few = "INSERT … SELECT … ON CONFLICT", f"{FEW:,} watchers"
    names = {"known": "every row there already", "new": "every row new"}
    return [
        *(
            compared(f"fan-out to {WATCHERS:,}, {name}", seen[f"ours {kind}"], "rows/s", against, seen[f"plain {kind}"], ">= 0.4")
            for kind, name in names.items()
        ),
        compared(f"fan-out: memory, {WATCHERS:,} watchers", peaks[1], "MB", few, peaks[0], "<= 1.1"),
        compared(f"fan-out: memory, {MANY:,} watchers", peaks[2], "MB", few, peaks[0], "<= 1.1"),
    ]


def gather(admin: Connection[Any]) -> None:
    """People, and which crowds they are in. Their locales differ, though there is one wording only."""
    with admin.transaction():
        admin.execute("SET LOCAL session_replication_role = replica")  # foreign keys hold by construction
        admin.execute(
            """
            INSERT INTO users (id, tenant_id, external_id, email, locale)
            SELECT tocsin_uuid7(), %s, 'person-' || n, 'person-' || n || '@example.com',
                   (ARRAY['en', 'de', 'pt-BR', NULL])[1 + n %% 4]
            FROM generate_series(%s, %s) AS n
            """,
            [TENANT, PEOPLE + 1, MANY],
        )
        admin.execute(
            """
            INSERT INTO watches (tenant_id, user_id, scope, level)
            SELECT tenant_id, id, 'crowd-' || size, 'all'
            FROM (SELECT tenant_id, id, row_number() OVER (ORDER BY id) AS place FROM users) AS person
            JOIN unnest(%s::integer[]) AS crowd (size) ON place <= size
            """,
            [[FEW, WATCHERS, MANY]],
        )
        admin.execute(
            """INSERT INTO event_routing (tenant_id, event_type, rules) VALUES (%s, 'build.*', '{"watching": ["in_app"]}')""",
            [TENANT],
        )
    admin.execute("VACUUM (ANALYZE)")


def _rate(admin: Connection[Any], tell: Tell, thread: str | None) -> float:
    """Rows a second into a thread that everyone has a row of already, or (None) nobody. The table was tidied before."""
    name = thread or str(uuid4())
    if thread and not _count(admin, thread):
        tell(thread)
    admin.execute("VACUUM (ANALYZE) notifications")
    admin.execute("CHECKPOINT")
    seconds = tell(name)
    assert _count(admin, name) == WATCHERS, "somebody was not told"
    if not thread:
        admin.execute("DELETE FROM notifications WHERE thread_id = %s", [name])
    return WATCHERS / seconds


def _ours(app: Connection[Any], conn: Connection[Any], thread: str) -> float:
    record_event(app, scope=f"crowd-{WATCHERS}", thread=thread)
    started = time.perf_counter()
    tell_everyone(conn)
    return time.perf_counter() - started


def _plain(conn: Connection[Any], thread: str) -> float:
    """What one would write by hand: no routing, no preferences, no locales, no pages. The same role, rows and indexes."""
    started = time.perf_counter()
    conn.execute(
        """
        INSERT INTO notifications (
            id, tenant_id, user_id, kind, reason, scope, thread_kind, thread_id, source_event_id, title, message, summary,
            last_event_at, shown_at, created_at, updated_at)
        SELECT tocsin_uuid7(), tenant_id, user_id, 'build.broken', 'watching', scope, 'build', %(thread)s, 17, %(title)s,
               %(message)s, %(summary)s, tocsin_now(), tocsin_now(), tocsin_now(), tocsin_now()
        FROM watches
        WHERE tenant_id = %(tenant_id)s AND scope = %(scope)s AND level = 'all'
        ORDER BY user_id
        ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) WHERE thread_id IS NOT NULL DO UPDATE
            SET kind = EXCLUDED.kind, reason = EXCLUDED.reason, scope = EXCLUDED.scope, title = EXCLUDED.title,
                message = EXCLUDED.message, summary = EXCLUDED.summary, source_event_id = EXCLUDED.source_event_id,
                event_count = notifications.event_count + 1, unread = true, read_at = NULL, deleted_at = NULL, done_at = NULL,
                last_event_at = EXCLUDED.last_event_at, shown_at = EXCLUDED.shown_at, updated_at = EXCLUDED.updated_at
        """,
        {
            "thread": thread,
            "title": DATA["title"],
            "message": DATA["message"],
            "summary": Jsonb({"url": DATA["url"]}),
            "tenant_id": TENANT,
            "scope": f"crowd-{WATCHERS}",
        },
    )
    return time.perf_counter() - started


def record_event(app: Connection[Any], *, scope: str, thread: str) -> None:
    data = DATA | {"scope": scope, "thread": {"kind": "build", "id": thread}}
    event = {"specversion": "1.0", "id": str(uuid4()), "source": "bench", "type": "build.broken", "data": data}
    told = Told(CloudEvent.model_validate(event), data, uuid7())
    record_events(app, [told], sender=SENDER, request_id="bench", trace_id="")


def _count(admin: Connection[Any], thread: str) -> int:
    row = admin.execute("SELECT count(*) FROM notifications WHERE thread_id = %s", [thread]).fetchone()
    assert row is not None
    return int(row[0])


def _peak_megabytes(crowd: Ground, app: Connection[Any], count: int) -> float:
    """What a worker of its own takes at most, from its start to the end of the fan-out."""
    record_event(app, scope=f"crowd-{count}", thread=f"memory-{count}")
    command = [sys.executable, "-m", "bench.alone", crowd.url("tocsin_worker")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024
