"""The two walks that tools/walk.py counts, made through the doors: `python -m tests.walks email` prints what it entered."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from devstack.postgres import Postgres
from tests.functions.doors import ENDPOINTS, Api, Context, handler_of, sqs_event
from tests.ses_events import event, tags_of, through_sns
from tests.work_queue import ACCOUNT, make_believe
from tests.world import TENANT, World
from tocsin.foundation import aws, database, settings
from tocsin.upkeep import bootstrap
from tocsin.upkeep.migrate import migrate
from tools.walk import ROOT, Trace

SENDER = "notify@example.com"
NAMED = {
    "EMAIL_FROM": SENDER,
    "EMAIL_CONFIGURATION_SET": "tocsin",
    "PUBLIC_URL": "https://tocsin.example.com",
    "DEFAULT_TENANT_ID": str(TENANT),
    "POWERTOOLS_METRICS_NAMESPACE": "Tocsin",
    "POWERTOOLS_SERVICE_NAME": "walk",
}


def email(world: World, api: Api, trace: Trace) -> None:
    """An intent is accepted, planned and sent; SES tells that it arrived; somebody asks what became of it."""
    world.add_user("alice")
    accepted = _as(world, "tocsin_app", trace, api.send)
    assert accepted.status == 202, accepted.text
    _serve(world, "plan", trace)
    _serve(world, "email", trace)
    (attempt,) = world.attempts()
    assert attempt["outcome"] == "accepted", attempt
    told = through_sns(event("delivery", tags_of(attempt), message_id=attempt["provider_message_id"]))
    _as(world, "tocsin_worker", trace, lambda: handler_of("feedback")(sqs_event(told), Context()))
    shown = _as(world, "tocsin_app", trace, lambda: api.get(f"/v1/notifications/{accepted.json['notification_id']}"))
    assert [route["feedback"] for route in shown.json["routes"]] == ["delivered"], shown.text


def event_walk(world: World, api: Api, trace: Trace) -> None:
    """An event is recorded and fanned out; the person who was mentioned opens the inbox."""
    world.add_user("alice")
    world.add_user("bob")
    world.admin.execute(
        """INSERT INTO event_routing (tenant_id, event_type, rules) VALUES (%s, 'comment.created', '{"mention": ["in_app"]}')""",
        [TENANT],
    )
    happened = {
        "specversion": "1.0",
        "id": "comment-1",
        "source": "/shop",
        "type": "comment.created",
        "data": {
            "scope": "shop",
            "thread": {"kind": "order", "id": "A-17"},
            "actor": "bob",
            "mentions": ["alice"],
            "title": "Bob commented on A-17",
            "message": "Alice, did it arrive?",
        },
    }
    structured = {"content-type": "application/cloudevents+json"}
    recorded = _as(world, "tocsin_app", trace, lambda: api.post("/v1/events", happened, headers=structured))
    assert recorded.status == 202, recorded.text
    _serve(world, "plan", trace)
    shown = _as(world, "tocsin_app", trace, lambda: api.get("/v1/inbox", query={"user_id": "alice"}))
    assert [row["reason"] for row in shown.json["data"]] == ["mention"], shown.text


WALKS: dict[str, Callable[[World, Api, Trace], None]] = {"email": email, "event": event_walk}


def _serve(world: World, queue: str, trace: Trace) -> None:
    """Give the dispatch door what is on one of its queues."""
    assert world.work_queue is not None
    nudged = sqs_event(*world.work_queue.bodies(queue), queue=queue)
    answer = _as(world, "tocsin_worker", trace, lambda: handler_of("dispatch")(nudged, Context()))
    assert answer == {"batchItemFailures": []}


def _as(world: World, role: str, trace: Trace, work: Callable[[], Any]) -> Any:
    """Call a door as the function whose role this is, with a connection of its own; what it enters is traced."""
    database.disconnect()
    os.environ["TOCSIN_DATABASE_URL"] = world.dsn(role)
    settings.settings.cache_clear()
    with trace.on():
        return work()


@contextmanager
def _world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="walk-") as folder, make_believe() as queue:
        server = Postgres.cached(Path(folder) / "postgres", ROOT / ".local" / "cache", durable=False)
        server.start()
        try:
            with psycopg.connect(server.dsn(), autocommit=True) as conn:
                conn.execute("CREATE DATABASE walk")
            migrate(server.dsn("walk"), ROOT / "migrations")
            with psycopg.connect(server.dsn("walk", "tocsin_worker"), autocommit=True) as conn:
                bootstrap.make_tenant(conn, TENANT)
            os.environ.update(queue.variables)
            world = World(lambda role: server.dsn("walk", role), queue)
            yield world
            world.close()
            database.disconnect()
        finally:
            server.remove()


def main(name: str) -> None:
    os.environ.update(ACCOUNT | NAMED)
    trace = Trace()
    with _world() as world:
        aws.client("sesv2").create_email_identity(EmailIdentity=SENDER)
        for secret in ("UNSUBSCRIBE", "USER_TOKEN"):
            made = aws.client("secretsmanager").create_secret(Name=secret.lower(), SecretString="known to this walk alone")
            os.environ[f"{secret}_SECRET_ARN"] = made["ARN"]
        for door in {*ENDPOINTS, "dispatch", "feedback"}:
            handler_of(door)
        key = world.add_key("send", "read", "inbox")
        aws.client.cache_clear()
        WALKS[name](world, Api(key), trace)
    print(json.dumps(trace.places))


if __name__ == "__main__":
    main(sys.argv[1])
