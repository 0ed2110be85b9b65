"""Preferences: what a person wants to hear, by channel and by type."""

import re
from datetime import datetime, time
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, WithJsonSchema, model_validator
from typing_extensions import TypedDict

from tocsin.api.inbox import personal
from tocsin.api.words import ChannelWord
from tocsin.foundation.channel_names import CHANNELS
from tocsin.foundation.fields import Closed
from tocsin.http import problems
from tocsin.http.answers import one_of
from tocsin.http.door import Response, Visit
from tocsin.people import preferences
from tocsin.people.preferences import Inapplicable, Locked, PreferenceChange, check_window
from tocsin.people.time_zones import known_zone
from tocsin.store import preferences as rows
from tocsin.store.flow.preferences_overview import TypeWishes

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


_AS_TEXT = WithJsonSchema({"type": "string", "pattern": r"^\d\d:\d\d$"})
WallTime = Annotated[Annotated[time, _AS_TEXT] | None, BeforeValidator(_wall_time)]
WallTimeText = Annotated[str, _AS_TEXT]


class PreferenceBody(Closed):
    """The whole rule: what is not named goes back to its default. A rule for a type leaves `enabled` to the channel's rule."""

    enabled: StrictBool | None = None
    frequency_cap: Annotated[StrictInt, Field(ge=0, le=10_000)] | None = None
    quiet_hours_start: WallTime = None
    quiet_hours_end: WallTime = None
    timezone: Annotated[str, Field(max_length=50), AfterValidator(known_zone)] | None = None

    @model_validator(mode="after")
    def _whole_window(self) -> "PreferenceBody":
        check_window(self.quiet_hours_start, self.quiet_hours_end)
        return self


class ShownPreference(TypedDict):
    """What a person wants to hear on a channel, or (with a type) of one type. Without times it is the default, or stands so since
    ever."""

    channel: ChannelWord
    notification_type: str | None
    enabled: bool | None
    frequency_cap: int | None
    quiet_hours_start: WallTimeText | None
    quiet_hours_end: WallTimeText | None
    timezone: str
    created_at: datetime | None
    updated_at: datetime | None


class ShownReach(TypedDict):
    """Whether a channel reaches the person; `reason`: why it does not."""

    channel: ChannelWord
    reachable: bool
    reason: Annotated[str, one_of("no_address", "no_device", "suppressed")] | None


class ShownSwitch(TypedDict):
    """Whether a type comes on a channel, as things stand."""

    channel: ChannelWord
    enabled: bool


class ShownTypeWishes(TypedDict):
    """A type as a person knows it. `locked`: it is critical, and cannot be switched off by itself."""

    name: str
    title: str | None
    description: str | None
    locked: bool
    channels: list[ShownSwitch]


class Preferences(TypedDict):
    """All that a person wants, or not: their rules, the channels that reach them, and the types with what counts for each."""

    data: list[ShownPreference]
    channels: list[ShownReach]
    types: list[ShownTypeWishes]


def list_preferences(visit: Visit) -> Response:
    found = preferences.overview(visit.conn, visit.tenant_id, visit.user_id)
    shown: Preferences = {
        "data": [_shown_preference(one) for one in found.rules],
        "channels": [{"channel": one.channel, "reachable": one.is_reachable, "reason": one.reason} for one in found.channels],
        "types": [_shown_type(one) for one in found.types],
    }
    return Response(200, shown)


def get_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    found = preferences.rule(visit.conn, visit.tenant_id, visit.user_id, channel, notification_type)
    return Response(200, _shown_preference(found))


def put_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    body: PreferenceBody = visit.request.parsed(PreferenceBody)
    wishes = PreferenceChange(**body.model_dump())
    try:
        rule = preferences.prefer(visit.conn, visit.actor, visit.user_id, channel, notification_type, wishes)
    except Inapplicable as error:
        raise problems.invalid_field(f"/{error.field}", str(error)) from None
    except Locked as error:
        raise problems.invalid_field("/enabled", str(error)) from None
    return Response(200, _shown_preference(rule))


def delete_preference(visit: Visit) -> Response:
    channel, notification_type = _rule(visit)
    preferences.forget(visit.conn, visit.actor, visit.user_id, channel, notification_type)
    return Response(204)


def _rule(visit: Visit) -> tuple[str, str]:
    channel, notification_type = visit.request.path_parameters.get("channel", ""), visit.request.query.get("type", "")
    if channel not in CHANNELS:
        raise problems.not_found(f"channel; there are {', '.join(CHANNELS)}")
    if "type" in visit.request.query and not notification_type:
        raise problems.invalid_parameter("type", "must not be empty: without it, the rule is the whole channel's")
    if len(notification_type) > 100:
        raise problems.invalid_parameter("type", "has at most 100 characters")
    return channel, notification_type


def _shown_preference(one: rows.Preference) -> ShownPreference:
    return {
        "channel": one.channel,
        "notification_type": one.notification_type or None,
        "enabled": one.enabled,
        "frequency_cap": one.frequency_cap,
        "quiet_hours_start": f"{one.quiet_hours_start:%H:%M}" if one.quiet_hours_start else None,
        "quiet_hours_end": f"{one.quiet_hours_end:%H:%M}" if one.quiet_hours_end else None,
        "timezone": one.timezone,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }


def _shown_type(one: TypeWishes) -> ShownTypeWishes:
    return {
        "name": one.name,
        "title": one.title,
        "description": one.description,
        "locked": one.locked,
        "channels": [{"channel": switch.channel, "enabled": switch.enabled} for switch in one.channels],
    }


_TYPE: dict[str, Any] = {
    "name": "type",
    "in": "query",
    "schema": {"type": "string"},
    "description": "A finer rule, for one type",
}


ENDPOINTS = [
    personal("GET /v1/inbox/preferences", list_preferences, "Show all preferences", answer=Preferences),
    personal(
        "GET /v1/inbox/preferences/{channel}", get_preference, "Show the preference for a channel",
        parameters=[_TYPE], answers={404: "No such channel"}, answer=ShownPreference,
    ),
    personal(
        "PUT /v1/inbox/preferences/{channel}", put_preference, "Set the preference for a channel", body=PreferenceBody,
        parameters=[_TYPE], answers={404: "No such channel"}, answer=ShownPreference,
    ),
    personal(
        "DELETE /v1/inbox/preferences/{channel}", delete_preference, "Back to the default", success=204,
        parameters=[_TYPE], answers={404: "No such channel"},
    ),
]  # fmt: skip
