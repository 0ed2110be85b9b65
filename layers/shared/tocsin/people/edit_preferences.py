"""Edit preferences: change parts of several rules at once, and leave the rest of each as it is."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.people.preferences import PreferenceChange, audited, check_window, name_of, subscribe_again
from tocsin.store import preferences
from tocsin.store.preferences import Preference

_WISHES = tuple(one.name for one in fields(PreferenceChange))


def edit(
    conn: Connection[Any],
    actor: Actor,
    user_id: UUID,
    rules: Mapping[tuple[str, str], Mapping[str, Any]],
    *,
    subscribed_again: Collection[str] = (),
) -> None:
    """`rules` says by channel and type what changes; a type's rule that says nothing any more is forgotten. Of the types
    `subscribed_again` the person's unsubscription is taken back. All of it or nothing; an audit row for each."""
    tenant_id, told = actor.tenant_id, []
    with tenant_transaction(conn, tenant_id):
        for (channel, kind), changed in sorted(rules.items()):
            old = preferences.lock(conn, tenant_id, user_id, channel, kind)
            wishes = _merged(old, kind, changed)
            check_window(wishes.quiet_hours_start, wishes.quiet_hours_end)
            if old and _says_nothing(wishes, kind):
                preferences.delete(conn, tenant_id, user_id, channel, kind)
                told.append(("delete", name_of(user_id, channel, kind), {"old": audited(old)}))
            elif not _says_nothing(wishes, kind):
                new = preferences.upsert(
                    conn,
                    preference_id=uuid7(),
                    tenant_id=tenant_id,
                    user_id=user_id,
                    channel=channel,
                    notification_type=kind,
                    **asdict(wishes),
                )
                difference = audit.difference(audited(old) if old else None, audited(new))
                if difference["new"]:
                    told.append(("put", name_of(user_id, channel, kind), difference))
        for kind in sorted(subscribed_again):
            subscribe_again(conn, actor, user_id, kind)
        for action, rule, what in told:
            audit.record(conn, actor, action, "preference", rule, what)


def _merged(old: Preference | None, kind: str, changed: Mapping[str, Any]) -> PreferenceChange:
    before = {name: getattr(old, name) for name in _WISHES} if old else {"enabled": None if kind else True}
    return PreferenceChange(**(before | dict(changed)))


def _says_nothing(wishes: PreferenceChange, kind: str) -> bool:
    """A time zone alone decides nothing of a type."""
    return bool(kind) and wishes.enabled is None and wishes.frequency_cap is None and wishes.quiet_hours_start is None
