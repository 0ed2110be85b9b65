"""Recipients with wishes: a clock set for them, their preferences made as the API makes them, and what they are told."""

from datetime import datetime, time
from typing import Any
from uuid import UUID

from psycopg import Connection

from tests.world import TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.intake.accept_events import Told, record_events
from tocsin.intake.admission import Sender
from tocsin.intake.cloud_events import CloudEvent
from tocsin.outbox.dispatch import fan_out_waiting
from tocsin.store import event_routing, preferences

THREAD = {"kind": "pr", "id": "7"}


def now(world: World) -> datetime:
    moment: datetime = world.one("SELECT tocsin_now()")
    return moment


def set_clock(world: World, moment: str | datetime) -> None:
    """Let it be that moment, for the database and so for everyone."""
    world.pass_time((datetime.fromisoformat(moment) if isinstance(moment, str) else moment) - now(world))


def prefer(
    world: World, user_id: UUID, channel: str = "email", *, of_type: str = "", quiet: str = "", tenant: UUID = TENANT, **rule: Any
) -> None:
    """Write one rule, whole; quiet hours as `22:00-07:00`."""
    start, end = (time.fromisoformat(one) for one in quiet.split("-")) if quiet else (None, None)
    ordinary: dict[str, Any] = {"enabled": True, "frequency_cap": None, "timezone": "UTC"}
    with tenant_transaction(world.app, tenant):
        preferences.upsert(
            world.app,
            preference_id=uuid7(),
            tenant_id=tenant,
            user_id=user_id,
            channel=channel,
            notification_type=of_type,
            quiet_hours_start=start,
            quiet_hours_end=end,
            **(ordinary | rule),
        )


def forget_preference(world: World, user_id: UUID, channel: str = "email", of_type: str = "") -> None:
    with tenant_transaction(world.app, TENANT):
        preferences.delete(world.app, TENANT, user_id, channel, of_type)


def send(world: World, **intent: Any) -> dict[str, Any]:
    """Send one email (or what the intent says) and return its route, as it is after one worker had it."""
    asked = world.accept(**intent)
    world.dispatch()
    return route_of(world, asked.notification_id)


def route_of(world: World, notification_id: UUID) -> dict[str, Any]:
    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=notification_id)
    return route


def end(route: dict[str, Any]) -> tuple[str, str]:
    return route["status"], route["reason"]


def subjects(world: World) -> list[str]:
    """The titles of the emails that went out, in order."""
    return [message.content.title for message in world.email.accepted]


def digests(world: World) -> list[dict[str, Any]]:
    """The digests there are, oldest first, each with how its email stands."""
    return world.rows(
        """
        SELECT records.*, routes.status, routes.reason, routes.outbox_id, routes.next_attempt_at, routes.route_id
        FROM records JOIN routes USING (notification_id)
        WHERE records.audience_kind = 'digest'
        ORDER BY records.notification_id
        """
    )


def route_events(world: World, event_type: str = "comment", *, tenant: UUID = TENANT, **rules: list[str]) -> None:
    """Say whom an event tells; unless told, those who are mentioned, in the inbox and by email."""
    with tenant_transaction(world.app, tenant):
        event_routing.upsert(
            world.app,
            tenant,
            event_type,
            rules=rules or {"mention": ["in_app", "email"]},
            overrides=["mention"],
            subscribe_actor=True,
        )


def record(
    world: World,
    *data: dict[str, Any],
    conn: Connection[Any] | None = None,
    tenant: UUID = TENANT,
    event_type: str = "comment",
) -> None:
    """Take events in, one transaction for all, through the real use case."""
    ids = sorted(uuid7() for _ in data)
    told = [
        Told(
            CloudEvent.model_validate(
                {"specversion": "1.0", "id": str(one), "source": "shop", "type": event_type, "data": event}
            ),
            event,
            one,
        )
        for one, event in zip(ids, data, strict=True)
    ]
    sender = Sender(tenant, "shop", "live", rate_subject="test", rate_limit=1_000_000)
    record_events(conn or world.app, told, sender=sender, request_id="r", trace_id="")


def fan_out(world: World, conn: Connection[Any] | None = None) -> list[UUID]:
    """Tell everyone who cares about what was recorded; returns the deliveries that are due."""
    return fan_out_waiting(conn or world.worker, world.worker_policy())


def comment(n: int, *, thread: dict[str, str] | None = None, mentions: tuple[str, ...] = ("alice",)) -> dict[str, Any]:
    """The data of an event that mentions somebody."""
    return {"thread": thread or THREAD, "mentions": list(mentions), "title": f"Comment {n}", "message": f"Comment number {n}."}
