"""A drill of the worst day: `make restore-drill` dumps a database, restores it into a fresh server and lets the work go on there.

Without DATABASE_URL it makes a small installation first, with work at every stage; with it, that database is read and its copy is
tried. Nothing is sent to anybody: what goes out is counted, and webhooks and triggers are left alone."""

import logging
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any

import psycopg
from psycopg import Connection, sql

from devstack.postgres import Postgres
from devstack.postgres_cluster import program
from tocsin.audience import fan_out
from tocsin.channels.outcomes import Accepted
from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ways import Message, Ways
from tocsin.delivery.prepare import Policy
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker
from tocsin.upkeep import after_restore, migrate
from tools import restore_sample

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 20
Say = Callable[[str], object]

# What must hold of the copy when its work is done; each query finds what is wrong.
INVARIANTS = {
    "a route that is under way has exactly one piece of work": """
        SELECT count(*) FROM routes
        WHERE status IN ('pending', 'failed') AND (
            SELECT count(*) FROM outbox
            WHERE outbox.notification_id = routes.notification_id AND outbox.route_id = routes.route_id) <> 1""",
    "what was published was accepted by a provider, or is in an inbox": """
        SELECT count(*) FROM routes
        WHERE status = 'published' AND channel <> 'in_app' AND NOT EXISTS (
            SELECT FROM attempts
            WHERE attempts.notification_id = routes.notification_id AND attempts.route_id = routes.route_id
              AND attempts.outcome = 'accepted')""",
    "no event waits any more": """
        SELECT count(*) FROM domain_events
        WHERE outcome = 'waiting' AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = domain_events.notification_id)""",
}


class DrillFailed(Exception):
    """The copy does not go on as it should. Whoever relies on the backups acts on it, before they need them."""


class CountedWay:
    """A way out that leads nowhere, and knows what went."""

    def __init__(self, lane: str) -> None:
        self.provider, self.lane = "drill", lane
        self.sent: Counter[str] = Counter()
        self._lock = Lock()

    def send(self, message: Message) -> Accepted:
        with self._lock:
            self.sent[":".join(message.tags[name] for name in sorted(message.tags) if name != "attempt")] += 1
        return Accepted("drill")


def main() -> None:
    logging.disable(logging.WARNING)  # there is no queue to nudge, and none is missed
    given = os.environ.get("DATABASE_URL")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="tocsin-drill-") as folder,
            Postgres(Path(folder) / "target", durable=False) as target,
        ):
            if given:
                run(given, target, say=print)
            else:
                with Postgres(Path(folder) / "source", durable=False) as source:
                    print("making a small installation, with work at every stage ...")
                    run(restore_sample.make(source, _go_on), target, say=print)
    except DrillFailed as error:
        sys.exit(f"The drill failed: {error}")


def run(source: str, target: Postgres, *, say: Say) -> None:
    """Dump, restore, bring in order, go on, check."""
    url = target.dsn("restored")
    say("dumping ...")
    dump = _dump(source)
    say(f"  {len(dump) / 1e6:.1f} MB")
    say("restoring into a fresh server ...")
    _restore(dump, target)
    before, after = _counts(source), _counts(url)
    if before != after:
        raise DrillFailed(f"the copy has other rows: {before} became {after}")
    say(f"  {sum(after.values()):,} rows in {len(after)} tables, as in the original")
    say("bringing it in order: schema, roles, the cursor of the events ...")
    with migrate.alone(url) as conn:
        applied = migrate.bring_up_to_date(conn, ROOT / "migrations")
        restored = after_restore.bring_in_order(conn)
    say(f"  {len(applied)} migrations applied; {restored.told_events} events were told, {restored.waiting_events} wait")
    say("letting the work go on; nothing leaves this machine ...")
    with psycopg.connect(target.dsn("restored", "tocsin_worker"), autocommit=True) as conn:
        sent = _go_on(conn)
    say(f"  {sum(sent.values())} messages would have been sent")
    if twice := [route for route, times in sent.items() if times > 1]:
        raise DrillFailed(f"{len(twice)} messages went out twice")
    with psycopg.connect(url, autocommit=True) as conn:
        _check(conn, say)
    say("The copy goes on where the original stood.")


def _dump(source: str) -> bytes:
    """By the superuser, or by the owner, who sees every tenant as a member of tocsin_worker."""
    with psycopg.connect(source, autocommit=True) as conn:
        row = conn.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = CURRENT_USER").fetchone()
    seen = [] if row and row[0] else ["--enable-row-security"]
    made = subprocess.run([program("pg_dump"), "--no-owner", *seen, source], check=False, capture_output=True)
    if made.returncode:
        raise DrillFailed(f"pg_dump: {made.stderr.decode().strip()}")
    return made.stdout


def _restore(dump: bytes, target: Postgres) -> None:
    with psycopg.connect(target.dsn(), autocommit=True) as conn:
        conn.execute((ROOT / "migrations" / "setup" / "roles.sql").read_bytes())
        conn.execute("CREATE DATABASE restored")
    read = [program("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", target.dsn("restored")]
    made = subprocess.run(read, check=False, input=dump, capture_output=True)
    if made.returncode:
        raise DrillFailed(f"psql: {made.stderr.decode().strip()}")


def _counts(url: str) -> dict[str, int]:
    with psycopg.connect(url, autocommit=True) as conn:
        tables = conn.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
        return {
            name: _one(conn, sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))) for (name,) in tables.fetchall()
        }


def _go_on(conn: Connection[Any]) -> Counter[str]:
    """All that is due, and all that follows from it; then once more, which must find nothing."""
    ways = {name: CountedWay(f"drill:{name}") for name in ("email", "sms", "push")}
    policy = Policy(timedelta(minutes=15), 4)
    for _ in range(ROUNDS):
        fan_out.fan_out(conn, has_time=lambda: True)
        rows = conn.execute("SELECT id FROM outbox WHERE due_at <= tocsin_now() AND source_kind IN ('plan', 'deliver', 'fanout')")
        due = [row[0] for row in rows.fetchall()]
        worker = Worker(Ways(dict(ways), Sandbox()), timedelta(seconds=90), policy, lambda: timedelta(seconds=60))
        if not dispatch(conn, due, worker):
            break
    total: Counter[str] = Counter()
    for way in ways.values():
        total += way.sent
    return total


def _check(conn: Connection[Any], say: Say) -> None:
    for promise, query in INVARIANTS.items():
        wrong = _one(conn, sql.SQL(query))  # type: ignore[arg-type]
        if wrong:
            raise DrillFailed(f"not so: {promise} ({wrong} times)")
        say(f"  ok: {promise}")


def _one(conn: Connection[Any], query: sql.Composed | sql.SQL) -> int:
    row = conn.execute(query).fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
