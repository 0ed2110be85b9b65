"""The place of one crash: a fresh database, an empty ledger, an empty queue, and children that run the handlers there."""

import json
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql

from devstack.post_office import PostOffice
from devstack.postgres import Postgres
from tests import links
from tests.crash import child
from tests.crash.child import Ending, Job
from tests.crash.recovery import arn_at
from tests.crash.waiting import wait_until
from tests.world import TENANT, World
from tocsin.foundation.settings import QUEUES

PATIENCE_SECONDS = 60
ROLES = {"intake": "tocsin_app", "intake_queue": "tocsin_app"}
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.crash.warm", "tests.crash.recovery"])


@dataclass(frozen=True, slots=True)
class Ground:
    """What the sites of one test process share: a server, the database to clone, its API key, and SQS."""

    server: Postgres
    template: str
    api_key: str
    aws_url: str
    sqs: Any


@dataclass(slots=True)
class Site:
    ground: Ground
    database: str
    world: World
    queue_urls: dict[str, str] = field(default_factory=dict)
    office: PostOffice = field(init=False)
    log: Path = field(init=False)
    settings: dict[str, str] = field(default_factory=dict)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    _children: int = 0

    def invoke(self, function: str, event: dict[str, Any], **how: Any) -> Ending:
        return self.start(function, event, **how)()

    def start(
        self,
        function: str,
        event: dict[str, Any],
        *,
        kill_at: int | None = None,
        counting: str = "",
        before: Callable[[], object] | None = None,
    ) -> Callable[[], Ending]:
        """Run one invocation in a child; the result waits for its end."""
        role = ROLES.get(function, "tocsin_worker")
        job = Job(function, event, self._environment(role), self.log, kill_at, counting, self.limits, before)
        ours, theirs = _processes.Pipe(duplex=False)
        process = _processes.Process(target=child.run, args=(job, theirs))
        process.start()
        self._children += 1
        theirs.close()

        def ending() -> Ending:
            try:
                return _last_words(process, ours, self.log)
            finally:
                ours.close()
                process.close()
                self._children -= 1
                if self._children == 0:
                    self._wait_for_their_sessions()

        return ending

    def recover(self, *, before: Callable[[], object] | None = None, **how: Any) -> None:
        """Let time pass and the sweep work until nothing is left; with `news`, the post office's events come in meanwhile."""
        place = {"admin_dsn": self.world.dsn("postgres"), "office_url": self.office.url}
        event = place | {"offset": self.world.now.total_seconds()} | how
        ending = self.invoke("recovery", event, before=before)
        assert not ending.error and ending.answer, ending.error

    def messages(self) -> list[dict[str, Any]]:
        """Take every visible message off the work queues, for a worker that serves any of them."""
        taken = []
        for url in self.queue_urls.values():
            while found := self.ground.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                for one in found:
                    taken.append({"messageId": one["MessageId"], "body": one["Body"]})
                    self.ground.sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
        return taken

    def nudge(self, queue: str = "") -> dict[str, Any]:
        """A dispatch event that nudges everything in the outbox; with a queue, to a worker of that queue."""
        body = {"v": 1, "ids": [str(one) for one in self.world.due()]}
        source = {"eventSourceARN": arn_at(self.queue_urls[queue])} if queue else {}
        return {"Records": [{"messageId": str(uuid4()), "body": json.dumps(body)} | source]}

    def renew(self) -> None:
        """As on the first day, in a tenth of the time that another clone takes: people and key, and nothing else."""
        self.world.close()
        self._children = 0
        self.world = World(self.world.dsn)
        self.settings, self.limits = {}, {}
        kept = ["tenants", "users", "api_keys"]
        found = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%%yoyo%%'"
        names = [row["name"] for row in self.world.rows(found) if row["name"] not in kept]
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        self.world.admin.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")
        with self.world.admin.transaction():
            self.world.admin.execute("SET LOCAL session_replication_role = replica")  # no foreign key asks for an order
            self.world.admin.execute("UPDATE api_keys SET last_used_at = NULL")
            self.world.admin.execute(sql.SQL("; ").join(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in names))
            self.world.admin.execute("INSERT INTO domain_events_processed (consumer, last_event_id) VALUES ('notify_fanout', 0)")
        self.world.admin.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(sql.Identifier(self.database)))
        self.queue_urls = {
            queue: self.ground.sqs.create_queue(QueueName=f"{queue}-{uuid4().hex}")["QueueUrl"] for queue in QUEUES
        }
        self.office.forget()
        self.office.heal()

    def _environment(self, role: str) -> dict[str, str]:
        return {
            "TOCSIN_DATABASE_URL": self.world.dsn(role),
            "DEFAULT_TENANT_ID": str(TENANT),
            **{f"{queue.upper()}_QUEUE_URL": url for queue, url in self.queue_urls.items()},
            "AWS_ENDPOINT_URL": self.ground.aws_url,
            "AWS_ENDPOINT_URL_SESV2": self.office.url,
            "AWS_ENDPOINT_URL_SNS": self.office.url,
            **links.VARIABLES,
            "EMAIL_FROM": "tocsin@example.com",
            "EMAIL_CONFIGURATION_SET": "tocsin",
            "SEND_CONCURRENCY": "1",  # one send after the other, so that boundary n is the same one in every run
        } | self.settings

    def _wait_for_their_sessions(self) -> None:
        """A killed process leaves its session behind for a moment, with its locks. Ours are those that the world opened."""
        asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND NOT pid = ANY(%(ours)s)"
        ours = [conn.info.backend_pid for conn in [*self.world._open.values(), *self.world.extra] if not conn.closed]
        wait_until(lambda: self.world.one(asked, ours=[self.world.admin.info.backend_pid, *ours]) == 0)


@contextmanager
def new_site(ground: Ground) -> Iterator[Site]:
    """A clone of the ground's database. It needs a post office, a log and a first `renew`."""
    name = f"c_{uuid4().hex[:12]}"
    with psycopg.connect(ground.server.dsn(), autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(ground.template)))
        site = Site(ground, name, World(lambda role: ground.server.dsn(name, role)))
        try:
            yield site
        finally:
            site.world.close()
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def barrier(parties: int) -> Any:
    """Where that many children wait for each other."""
    return _processes.Barrier(parties)


def _last_words(process: BaseProcess, report: Any, log: Path) -> Ending:
    """What the child sent before it ended; it is killed if it does not end."""
    try:
        assert report.poll(PATIENCE_SECONDS), f"the child did not end; its log:\n{log.read_text()[-2000:]}"
        ending: Ending = report.recv()
    except EOFError:
        ending = Ending(killed_at="a place of its own choice")
    finally:
        if process.is_alive():
            process.join(5)
        if process.is_alive():
            process.kill()
        process.join(5)
    return ending
