"""Synchronous sends on the local stack: with curl as a producer would, and two hundred at once."""

import http.client
import json
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from devstack.fork_server import IS_SAFE
from devstack.launch import RunningStack, started_stack
from devstack.runtime import CROWDS
from tests.e2e.client import Client, wait_for

ALL = CROWDS["WaitFunction"]


def test_curl_follows_to_where_one_waits_and_is_told_the_outcome(running_stack: RunningStack) -> None:
    address = f"{uuid4().hex}@example.com"
    asked = {"type": "hello", "audience": {"kind": "address", "email": address}, "payload": {"title": "Hello"}}
    said = subprocess.run(
        [
            *("curl", "-sSL", f"{running_stack.dev['base_url']}/v1/intents", "-w", "\n%{http_code} %{num_redirects}"),
            *("-H", f"Authorization: Bearer {running_stack.dev['api_key']}", "-H", "Content-Type: application/json"),
            *("-H", f"Idempotency-Key: {uuid4().hex}", "-H", "Prefer: wait=20", "-d", json.dumps(asked)),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=40,
    ).stdout

    body, _, codes = said.rpartition("\n")
    assert codes == "200 1", said
    (route,) = json.loads(body)["routes"]
    assert (route["status"], route["attempt_count"], len(route["attempts"])) == ("published", 1, 1)
    assert len(Client.of(running_stack).mails_to(address)) == 1


class Crowd:
    """Producers who wait at the same moment, for plans that no worker finds due until they are let go."""

    def __init__(self, stack: RunningStack, conn: psycopg.Connection[Any], name: str, size: int) -> None:
        self._stack, self._conn, self._name, self._size = stack, conn, name, size
        self._pool = ThreadPoolExecutor(size)

    def __enter__(self) -> "Crowd":
        self._conn.execute(
            """
            CREATE OR REPLACE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN NEW.due_at := NEW.due_at + interval '1 hour'; RETURN NEW; END $$;
            CREATE TRIGGER hold_back BEFORE INSERT ON outbox
            FOR EACH ROW WHEN (NEW.source_kind = 'plan') EXECUTE FUNCTION hold_back();
            """
        )
        self._asking = [self._pool.submit(self._ask, n) for n in range(self._size)]
        return self

    def __exit__(self, *error: object) -> None:
        self.let_go()
        self._pool.shutdown()

    def let_go(self) -> None:
        """All at once; one nudge is enough, the worker goes on with what is due."""
        self._conn.execute("DROP TRIGGER IF EXISTS hold_back ON outbox")
        due = self._conn.execute("UPDATE outbox SET due_at = tocsin_now() RETURNING id, tenant_id").fetchall()
        if due:
            sqs = Client.of(self._stack).aws("sqs")
            plans = next(url for url in sqs.list_queues()["QueueUrls"] if url.endswith("-plan"))
            nudge = json.dumps({"v": 1, "ids": [str(one) for one, _ in due[:50]]})
            sqs.send_message(QueueUrl=plans, MessageBody=nudge, MessageGroupId=str(due[0][1]))

    @property
    def have_an_answer(self) -> int:
        return sum(each.done() for each in self._asking)

    def answers(self) -> list[tuple[int, dict[str, Any]]]:
        return [each.result() for each in self._asking]

    def _ask(self, n: int) -> tuple[int, dict[str, Any]]:
        headers = {
            "Authorization": f"Bearer {self._stack.dev['api_key']}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"{self._name}-{n}",
            "Prefer": "wait=20",
        }
        audience = {"kind": "address", "email": f"{self._name}-{n}@example.com"}
        body = json.dumps({"type": "crowd", "audience": audience, "channels": ["email"], "payload": {"title": "x"}})
        with closing(http.client.HTTPConnection(urlsplit(self._stack.dev["base_url"]).netloc, timeout=60)) as connection:
            connection.request("POST", "/v1/intents/wait", body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())


@pytest.mark.skipif(not IS_SAFE, reason="the environments cannot be forked here")
def test_two_hundred_wait_at_once_and_each_is_told_its_outcome(tmp_path: Path) -> None:
    """Environments are started in waves, and a wave that others kept from the processor is made again: nobody waits longer than
    twenty seconds, which two busy cores may need to start so many."""
    with started_stack(tmp_path) as stack, psycopg.connect(stack.dev["database_url"], autocommit=True) as conn:

        def number(query: str) -> int:
            row = conn.execute(query).fetchone()  # type: ignore[call-overload]
            assert row is not None
            return int(row[0])

        mailboxes = "SELECT count(*) FROM reply_inboxes"
        for wave, size in enumerate((50, 100, 150, *[ALL] * 5)):
            with Crowd(stack, conn, f"wave{wave}", size) as crowd:
                # until all wait, or some do not any more
                wait_for(lambda: number(mailboxes) == size or crowd.have_an_answer, bool)  # noqa: B023
                waiting = number(mailboxes)
                held = number(
                    "SELECT count(*) FROM pg_stat_activity WHERE usename = 'tocsin_app' AND state LIKE 'idle in transaction%'"
                )
                crowd.let_go()
                answers = crowd.answers()
            ends = Counter(status for status, _ in answers)
            wait_for(lambda: number("SELECT count(*) FROM outbox"), lambda many: many == 0)
            if (waiting, ends) == (ALL, {200: ALL}):
                break

        assert (waiting, held) == (ALL, 0)
        assert ends == {200: ALL}
        assert {route["status"] for _, body in answers for route in body["routes"]} == {"published"}
        assert number("SELECT count(*) FROM reply_inboxes") == 0
