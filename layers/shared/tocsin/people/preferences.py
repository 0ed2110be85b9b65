"""Preferences: what a person wants on a channel, or of one type on it, and what such a rule may say."""

from dataclasses import asdict, dataclass
from datetime import time
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.channel_names import CHANNELS, DEFAULT_CHANNELS
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.field_errors import FieldError
from tocsin.foundation.ids import uuid7
from tocsin.store import notification_types, preferences, suppressions
from tocsin.store.flow import preferences_overview
from tocsin.store.flow.preferences_overview import ChannelReach, TypeWishes
from tocsin.store.preferences import Preference

MOST_PREFERENCES = 500
MOST_TYPES = 500
_ABOUT_DISTURBING = ("frequency_cap", "quiet_hours_start", "timezone")


@dataclass(frozen=True, slots=True)
class PreferenceChange:
    """The whole rule: what is not named goes back to its default. A rule for a type leaves `enabled` to the channel's rule."""

    enabled: bool | None = None
    frequency_cap: int | None = None
    quiet_hours_start: time | None = None
    quiet_hours_end: time | None = None
    timezone: str | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """All that a person can choose, and chose: a rule for each channel and those for types; whether each channel reaches them;
    the types, the first 500 by name, with what counts for each."""

    rules: list[Preference]
    channels: list[ChannelReach]
    types: list[TypeWishes]


class Inapplicable(ValueError):
    """The channel has no use for this wish. Whoever asked leaves it out."""

    def __init__(self, field: str) -> None:
        super().__init__("does not apply to the inbox: it disturbs nobody")
        self.field = field


class Locked(ValueError):
    """The type is critical: a rule cannot switch it off by itself. Whoever asked switches off the channel, or leaves it."""

    def __init__(self) -> None:
        super().__init__("cannot be false: the type is critical; only the channel itself can be switched off")


def check_window(start: time | None, end: time | None) -> None:
    """FieldError, in words for whoever wrote them, when these are no quiet hours."""
    if (start is None) != (end is None):
        missing = "quiet_hours_start" if start is None else "quiet_hours_end"
        raise FieldError(missing, "is required: quiet hours have a start and an end")
    if start is not None and start == end:
        raise FieldError("quiet_hours_end", "must not be the start; to hear nothing, switch the channel off")


def prefer(
    conn: Connection[Any], actor: Actor, user_id: UUID, channel: str, notification_type: str, wishes: PreferenceChange
) -> Preference:
    """Write the whole rule; without a type, for all that has no rule of its own. Raises Inapplicable or Locked.

    Who themselves switch the emails of a type on have not unsubscribed from it any more."""
    check_window(wishes.quiet_hours_start, wishes.quiet_hours_end)
    if channel == "in_app":
        for field in _ABOUT_DISTURBING:
            if getattr(wishes, field) is not None:
                raise Inapplicable(field)
    enabled = True if wishes.enabled is None and not notification_type else wishes.enabled
    with tenant_transaction(conn, actor.tenant_id):
        if wishes.enabled is False and notification_types.is_critical(conn, actor.tenant_id, notification_type):
            raise Locked
        old = preferences.lock(conn, actor.tenant_id, user_id, channel, notification_type)
        new = preferences.upsert(
            conn,
            preference_id=uuid7(),
            tenant_id=actor.tenant_id,
            user_id=user_id,
            channel=channel,
            notification_type=notification_type,
            **asdict(wishes) | {"enabled": enabled},
        )
        changes = audit.difference(audited(old) if old else None, audited(new))
        if channel == "email" and notification_type and wishes.enabled and actor.name == f"user:{user_id}":
            subscribe_again(conn, actor, user_id, notification_type)
        if changes["new"]:
            audit.record(conn, actor, "put", "preference", name_of(user_id, channel, notification_type), changes)
    return new


def forget(conn: Connection[Any], actor: Actor, user_id: UUID, channel: str, notification_type: str) -> None:
    """Back to the default."""
    with tenant_transaction(conn, actor.tenant_id):
        old = preferences.lock(conn, actor.tenant_id, user_id, channel, notification_type)
        if old is None:
            return
        preferences.delete(conn, actor.tenant_id, user_id, channel, notification_type)
        audit.record(conn, actor, "delete", "preference", name_of(user_id, channel, notification_type), {"old": audited(old)})


def rule(conn: Connection[Any], tenant_id: UUID, user_id: UUID, channel: str, notification_type: str) -> Preference:
    """The rule as it is, or the default where none was made."""
    with tenant_transaction(conn, tenant_id):
        found = preferences.find(conn, tenant_id, user_id, channel, notification_type)
        zone = preferences.default_timezone(conn, tenant_id, user_id)
    return found or _unset(channel, notification_type, zone)


def overview(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> Overview:
    with tenant_transaction(conn, tenant_id):
        found = preferences.list_of(conn, tenant_id, user_id, limit=MOST_PREFERENCES)
        zone = preferences.default_timezone(conn, tenant_id, user_id)
        reach = preferences_overview.find_reach(conn, tenant_id, user_id)
        types = preferences_overview.list_types(conn, tenant_id, user_id, otherwise=DEFAULT_CHANNELS, limit=MOST_TYPES)
    return Overview(_with_defaults(found, zone), reach, types)


def _with_defaults(found: list[Preference], zone: str) -> list[Preference]:
    """One rule for each channel, made or not, and then those for single types."""
    made = {(one.channel, one.notification_type): one for one in found}
    plain = [made.get((channel, ""), _unset(channel, "", zone)) for channel in CHANNELS]
    return [*plain, *(one for one in made.values() if one.notification_type)]


def subscribe_again(conn: Connection[Any], actor: Actor, user_id: UUID, notification_type: str) -> None:
    """The later word of a person counts; a server's does not stand for it."""
    if lifted := suppressions.delete_unsubscribe(conn, actor.tenant_id, user_id, notification_type):
        old = {"channel": "email", "reason": "unsubscribe", "notification_type": notification_type}
        audit.record(conn, actor, "lift", "suppression", str(lifted), {"old": old})


def name_of(user_id: UUID, channel: str, notification_type: str) -> str:
    return "/".join(filter(None, (str(user_id), channel, notification_type)))


def audited(one: Preference) -> dict[str, Any]:
    names = ("enabled", "frequency_cap", "quiet_hours_start", "quiet_hours_end", "timezone")
    shown = {name: getattr(one, name) for name in names}
    return {name: f"{value:%H:%M}" if isinstance(value, time) else value for name, value in shown.items()}


def _unset(channel: str, notification_type: str, zone: str) -> Preference:
    return Preference(channel, notification_type, None if notification_type else True, None, None, None, zone, None, None)
