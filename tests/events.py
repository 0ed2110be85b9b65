"""What happened and who cares: events as producers tell them; routing, watches and subscriptions as the API makes them."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from tests.claiming import claim_one
from tests.crash.waiting import wait_until
from tests.world import TENANT, World
from tocsin.audience import fan_out
from tocsin.audience.fan_out import FannedOut
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.intake.accept_events import Recorded, Told, record_events
from tocsin.intake.admission import Sender
from tocsin.intake.cloud_events import CloudEvent
from tocsin.outbox import dispatch as dispatching
from tocsin.store import domain_events, domain_events_processed, event_routing, notification_threads, preferences, watches
from tocsin.store.flow import fan_out as statements

REASONS = ["mention", "review_requested", "assign", "author", "comment", "subscribed", "watching"]
TYPE = "issue.commented"
SCOPE = "repo:7"
THREAD = {"kind": "issue", "id": "1"}

Row = dict[str, Any]


def told(event_id: str | None = None, *, source: str = "/repo", type: str = TYPE, **data: Any) -> Told:
    """An event as it would come in, with this data and nothing else."""
    value = {"specversion": "1.0", "id": event_id or str(uuid7()), "source": source, "type": type, "data": data}
    return Told(CloudEvent.model_validate(value), data, uuid7())


def try_record(
    world: World,
    *events: Told,
    conn: Connection[Any] | None = None,
    tenant: UUID = TENANT,
    mode: str = "live",
    rate_limit: int = 1_000_000,
) -> list[Recorded]:
    sender = Sender(tenant, "shop", mode, rate_subject="test", rate_limit=rate_limit)
    ends, _ = record_events(conn or world.app, list(events), sender=sender, request_id="r", trace_id="")
    return ends


def happen(world: World, *, tenant: UUID = TENANT, mode: str = "live", thread: Any = THREAD, **event: Any) -> UUID:
    """Record one event through the real use case; unless told it belongs to the thread. Returns its notification's id."""
    one = told(**(event if thread is None else event | {"thread": thread}))
    (end,) = try_record(world, one, tenant=tenant, mode=mode)
    assert not end.is_duplicate
    return one.notification_id


def happen_together(world: World, events: list[Row]) -> None:
    """Record many events with one request; a thread is what they say themselves."""
    assert len(try_record(world, *[told(**event) for event in events])) == len(events)


def route(
    world: World,
    event_type: str = TYPE,
    rules: dict[str, list[str]] | None = None,
    *,
    tenant: UUID = TENANT,
    overrides: tuple[str, ...] = ("mention", "review_requested"),
    subscribe_actor: bool = True,
) -> None:
    """Say whom a type tells; unless told, everyone who has a reason, in the inbox."""
    rules = {reason: ["in_app"] for reason in REASONS} if rules is None else rules
    with tenant_transaction(world.app, tenant):
        event_routing.upsert(
            world.app, tenant, event_type, rules=rules, overrides=list(overrides), subscribe_actor=subscribe_actor
        )


def unroute(world: World, event_type: str = TYPE) -> None:
    with tenant_transaction(world.app, TENANT):
        event_routing.delete(world.app, TENANT, event_type)


def watch(world: World, person: str, level: str = "all", *, scope: str = SCOPE, tenant: UUID = TENANT) -> None:
    user_id = id_of(world, person, tenant)
    with tenant_transaction(world.app, tenant):
        watches.upsert(world.app, tenant, user_id, scope, level=level)


def choose(world: World, person: str, *, subscribed: bool, thread: Row = THREAD, tenant: UUID = TENANT) -> None:
    """A person's own word about a thread."""
    user_id = id_of(world, person, tenant)
    with tenant_transaction(world.app, tenant):
        notification_threads.choose(world.app, tenant, user_id, thread["kind"], thread["id"], subscribed=subscribed)


def took_part(world: World, person: str, reason: str, *, thread: Row = THREAD, tenant: UUID = TENANT) -> None:
    """That an earlier event subscribed a person."""
    world.admin.execute(
        "INSERT INTO notification_threads (tenant_id, user_id, thread_kind, thread_id, subscribed, reason)"
        " VALUES (%s, %s, %s, %s, true, %s)",
        [tenant, id_of(world, person, tenant), thread["kind"], thread["id"], reason],
    )


def prefer(world: World, person: str, *, enabled: bool, channel: str = "in_app", notification_type: str = "") -> None:
    user_id = id_of(world, person)
    with tenant_transaction(world.app, TENANT):
        preferences.upsert(
            world.app,
            preference_id=uuid7(),
            tenant_id=TENANT,
            user_id=user_id,
            channel=channel,
            notification_type=notification_type,
            enabled=enabled,
            frequency_cap=None,
            quiet_hours_start=None,
            quiet_hours_end=None,
            timezone=None,
        )


def id_of(world: World, person: str, tenant: UUID = TENANT) -> UUID:
    found = world.one(
        "SELECT id FROM users WHERE tenant_id = %(tenant)s AND external_id = %(person)s", tenant=tenant, person=person
    )
    assert isinstance(found, UUID)
    return found


def is_behind(world: World) -> bool:
    """Whether an event waits to be told, readable already or not."""
    passed = "SELECT last_txid, last_event_id FROM domain_events_processed"
    return bool(world.one(f"SELECT EXISTS (SELECT FROM domain_events WHERE (txid, id) > ({passed}))"))


def fan_out_all(world: World, conn: Connection[Any] | None = None) -> list[UUID]:
    """Fan out until nothing waits. The server's own housekeeping may hold the reader back for a moment, so it looks again."""
    due: list[Due] = []

    def nothing_waits() -> bool:
        due.extend(fan_out.fan_out(conn or world.worker, has_time=lambda: True).due)
        return not is_behind(world)

    wait_until(nothing_waits)
    while page := tell_page(world, conn):
        due.extend(page.due)
    return [one.id for one in due if one.queue != "plan"]


@dataclass(frozen=True, slots=True)
class ToldPage:
    due: list[Due]


def tell_page(world: World, conn: Connection[Any] | None = None) -> ToldPage | None:
    """Tell one page of a large audience, if one waits and is free."""
    conn, token = conn or world.worker, uuid4()
    waiting = [row["id"] for row in world.rows("SELECT id FROM outbox WHERE source_kind = 'fanout' ORDER BY id")]
    work = claim_one(conn, waiting, token=token, kind="fanout")
    hold = replace(world.worker_policy().take_hold(), lease_token=token)
    return ToldPage(dispatching._handle(conn, "fanout", [work], None, hold)) if work else None


def fan_out_once(world: World, conn: Connection[Any] | None = None, *, batches: int = 1_000) -> FannedOut:
    """One visit of one worker, which has the time for so many batches."""
    left = iter([True] * batches)
    return fan_out.fan_out(conn or world.worker, has_time=lambda: next(left, False))


def wait_until_readable(world: World) -> None:
    """Until no transaction is open that is older than the newest event."""
    newest = "SELECT COALESCE(max(txid), '0') < pg_snapshot_xmin(pg_current_snapshot()) FROM domain_events"
    wait_until(lambda: world.one(newest))


class Visit:
    """A worker's visit step by step, to be broken off in between: claim, read, tell."""

    def __init__(self, world: World, conn: Connection[Any] | None = None) -> None:
        wait_until_readable(world)
        self.conn = conn or world.connect()
        self.token = uuid4()
        place = domain_events_processed.claim(self.conn, lease_token=self.token, lease=fan_out.LEASE)
        assert place is not None
        self.events = domain_events.read_next(self.conn, limit=1 if place.claim_count > 1 else fan_out.BATCH)

    def tell(self) -> statements.FanOutStep:
        return fan_out._tell(self.conn, self.events, self.token)


def cursor(world: World) -> Row:
    (row,) = world.rows("SELECT * FROM domain_events_processed")
    return row


def outcomes(world: World) -> list[tuple[str, int]]:
    """What became of each event, in the order they were recorded, and how many it told."""
    rows = world.rows("SELECT outcome, recipient_count FROM domain_events ORDER BY id")
    return [(row["outcome"], row["recipient_count"]) for row in rows]


def inbox(world: World, tenant: UUID = TENANT) -> dict[str, Row]:
    """Each person's only inbox row."""
    rows = world.rows(
        """SELECT users.external_id, actor.external_id AS last_actor, notifications.*
           FROM notifications
           JOIN users ON users.id = notifications.user_id AND users.tenant_id = notifications.tenant_id
           LEFT JOIN users AS actor ON actor.id = last_actor_user_id
           WHERE notifications.tenant_id = %(tenant)s ORDER BY users.external_id""",
        tenant=tenant,
    )
    found = {row["external_id"]: row for row in rows}
    assert len(found) == len(rows), "somebody has two rows"
    return found


def reasons(world: World, tenant: UUID = TENANT) -> dict[str, str]:
    """Who was told in the inbox, and why."""
    return {person: row["reason"] for person, row in inbox(world, tenant).items()}


def subscriptions(world: World, tenant: UUID = TENANT) -> dict[str, tuple[bool, str]]:
    """Who stands how to the only thread."""
    rows = world.rows(
        """SELECT users.external_id, subscribed, reason FROM notification_threads
           JOIN users ON users.id = user_id WHERE notification_threads.tenant_id = %(tenant)s ORDER BY users.external_id""",
        tenant=tenant,
    )
    return {row["external_id"]: (row["subscribed"], row["reason"]) for row in rows}


def populate(world: World, count: int, *, watching: str | None = None) -> None:
    """Many people at once, `user-1` and so on, perhaps watching a scope."""
    world.admin.execute(
        """INSERT INTO users (id, tenant_id, external_id, email)
           SELECT tocsin_uuid7(), %(tenant)s, 'user-' || n, 'user-' || n || '@example.com'
           FROM generate_series(1, %(count)s) AS n""",
        {"tenant": TENANT, "count": count},
    )
    if watching:
        world.admin.execute(
            """INSERT INTO watches (tenant_id, user_id, scope, level)
               SELECT tenant_id, id, %s, 'all' FROM users WHERE tenant_id = %s""",
            [watching, TENANT],
        )
