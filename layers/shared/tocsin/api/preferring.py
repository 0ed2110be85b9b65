"""Preferring: what a person wants to hear, by channel, by type, and of a thread."""

import re
from datetime import time
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, model_validator

from tocsin import problems
from tocsin.api.inbox import personal
from tocsin.database import tenant_transaction
from tocsin.http import Response, Visit
from tocsin.ids import uuid7
from tocsin.intents import Closed
from tocsin.store import notification_threads, preferences
from tocsin.store.preferences import Preference
from tocsin.time_zones import known_zone

CHANNELS = ("email", "sms", "push", "in_app")
MOST_PREFERENCES = 500


class ThreadChoice(Closed):
    subscribed: StrictBool


_WALL_TIME = re.compile(r"\d\d:\d\d", re.ASCII)


def _wall_time(value: object) -> time | None:
    if value is None:
        return None
    try:
        if not isinstance(value, str) or not _WALL_TIME.fullmatch(value):
            raise ValueError
        return time.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a time of day, such as 22:00") from None


WallTime = Annotated[time | None, BeforeValidator(_wall_time)]


class PreferenceBody(Closed):
    """The whole rule: what is not named goes back to its default. A rule for a type leaves `enabled` to the channel's rule."""

    enabled: StrictBool | None = None
    frequency_cap: Annotated[StrictInt, Field(ge=0, le=10_000)] | None = None
    quiet_hours_start: WallTime = None
    quiet_hours_end: WallTime = None
    timezone: Annotated[str, Field(max_length=50), AfterValidator(known_zone)] | None = None

    @model_validator(mode="after")
    def _whole_window(self) -> "PreferenceBody":
        if (self.quiet_hours_start is None) != (self.quiet_hours_end is None):
            raise ValueError("quiet hours need both quiet_hours_start and quiet_hours_end")
        if self.quiet_hours_start is not None and self.quiet_hours_start == self.quiet_hours_end:
            raise ValueError("quiet hours must not end when they start; to hear nothing, switch the channel off")
        return self


def get_thread(visit: Visit) -> Response:
    kind, thread_id = _thread(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        found = notification_threads.find(visit.conn, visit.tenant_id, visit.user_id, kind, thread_id)
    return Response(200, _shown_thread(kind, thread_id, found))


def put_thread(visit: Visit) -> Response:
    body: ThreadChoice = visit.request.parsed(ThreadChoice)
    kind, thread_id = _thread(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        chosen = notification_threads.choose(
            visit.conn, visit.tenant_id, visit.user_id, kind, thread_id, subscribed=body.subscribed
        )
    return Response(200, _shown_thread(kind, thread_id, chosen))


def delete_thread(visit: Visit) -> Response:
    kind, thread_id = _thread(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        notification_threads.forget(visit.conn, visit.tenant_id, visit.user_id, kind, thread_id)
    return Response(204)


def list_preferences(visit: Visit) -> Response:
    with tenant_transaction(visit.conn, visit.tenant_id):
        found = preferences.list_of(visit.conn, visit.tenant_id, visit.user_id, limit=MOST_PREFERENCES)
        zone = preferences.default_timezone(visit.conn, visit.tenant_id, visit.user_id)
    rules = {(one.channel, one.notification_type): one for one in found}
    plain = [rules.get((channel, ""), _unset(channel, "", zone)) for channel in CHANNELS]
    finer = [one for one in rules.values() if one.notification_type]
    return Response(200, {"data": [_shown_preference(one) for one in [*plain, *finer]]})


def get_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        found = preferences.find(visit.conn, visit.tenant_id, visit.user_id, channel, notification_type)
        zone = preferences.default_timezone(visit.conn, visit.tenant_id, visit.user_id)
    return Response(200, _shown_preference(found or _unset(channel, notification_type, zone)))


def put_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    body: PreferenceBody = visit.request.parsed(PreferenceBody)
    if channel == "in_app":
        for name in ("frequency_cap", "quiet_hours_start", "timezone"):
            if getattr(body, name) is not None:
                raise problems.invalid_field(f"/{name}", "does not apply to the inbox: it disturbs nobody")
    with tenant_transaction(visit.conn, visit.tenant_id):
        rule = preferences.upsert(
            visit.conn,
            preference_id=uuid7(),
            tenant_id=visit.tenant_id,
            user_id=visit.user_id,
            channel=channel,
            notification_type=notification_type,
            **body.model_dump() | {"enabled": True if body.enabled is None and not notification_type else body.enabled},
        )
    return Response(200, _shown_preference(rule))


def delete_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        preferences.delete(visit.conn, visit.tenant_id, visit.user_id, channel, notification_type)
    return Response(204)


def _thread(visit: Visit) -> tuple[str, str]:
    kind, thread_id = (visit.request.path_parameters.get(name, "") for name in ("kind", "id"))
    if not 1 <= len(kind) <= 64 or not 1 <= len(thread_id) <= 255:
        raise problems.invalid("A thread has a kind of 1 to 64 characters and an id of 1 to 255.")
    return kind, thread_id


def _rule(visit: Visit) -> tuple[str, str]:
    channel, notification_type = visit.request.path_parameters.get("channel", ""), visit.request.query.get("type", "")
    if channel not in CHANNELS:
        raise problems.not_found(f"channel; there are {', '.join(CHANNELS)}")
    if len(notification_type) > 100:
        raise problems.invalid_parameter("type", "has at most 100 characters")
    return channel, notification_type


def _unset(channel: str, notification_type: str, zone: str) -> Preference:
    return Preference(channel, notification_type, None if notification_type else True, None, None, None, zone, None)


def _shown_thread(kind: str, thread_id: str, found: notification_threads.Subscription | None) -> dict[str, Any]:
    return {
        "thread": {"kind": kind, "id": thread_id},
        "subscribed": found.subscribed if found else None,
        "reason": found.reason if found else None,
        "updated_at": found.updated_at if found else None,
    }


def _shown_preference(one: Preference) -> dict[str, Any]:
    return {
        "channel": one.channel,
        "notification_type": one.notification_type or None,
        "enabled": one.enabled,
        "frequency_cap": one.frequency_cap,
        "quiet_hours_start": f"{one.quiet_hours_start:%H:%M}" if one.quiet_hours_start else None,
        "quiet_hours_end": f"{one.quiet_hours_end:%H:%M}" if one.quiet_hours_end else None,
        "timezone": one.timezone,
        "updated_at": one.updated_at,
    }


_TYPE: dict[str, Any] = {
    "name": "type",
    "in": "query",
    "schema": {"type": "string"},
    "description": "A finer rule, for one type",
}


ENDPOINTS = [
    personal("GET /v1/inbox/threads/{kind}/{id}", get_thread, "Is this person subscribed to the thread?"),
    personal("PUT /v1/inbox/threads/{kind}/{id}", put_thread, "Subscribe to a thread, or mute it", body=ThreadChoice),
    personal("DELETE /v1/inbox/threads/{kind}/{id}", delete_thread, "Back to what the watch says", success=204),
    personal("GET /v1/inbox/preferences", list_preferences, "Show all preferences"),
    personal(
        "GET /v1/inbox/preferences/{channel}", get_preference, "Show the preference for a channel",
        parameters=[_TYPE], answers={404: "No such channel"},
    ),
    personal(
        "PUT /v1/inbox/preferences/{channel}", put_preference, "Set the preference for a channel", body=PreferenceBody,
        parameters=[_TYPE], answers={404: "No such channel"},
    ),
    personal(
        "DELETE /v1/inbox/preferences/{channel}", delete_preference, "Back to the default", success=204,
        parameters=[_TYPE], answers={404: "No such channel"},
    ),
]  # fmt: skip
