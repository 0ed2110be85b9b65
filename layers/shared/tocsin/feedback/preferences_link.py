"""What following a preferences link does: show what a person can choose, and keep what they chose, without a login."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit, rate_limits
from tocsin.access.audit import Actor
from tocsin.content.preferences_changes import Changes
from tocsin.content.preferences_form import DISTURBING, ChannelFacts, Choices, KindFacts
from tocsin.feedback.unsubscribe_tokens import PreferencesSubject, verify_preferences
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.people import edit_preferences, preferences
from tocsin.people.preferences import Overview
from tocsin.store import brands, tenants, users
from tocsin.store.rows import Brand

LINK = "link:preferences"


@dataclass(frozen=True, slots=True)
class OpenPreferences:
    """Whose preferences they are and what these are, by a link that is good."""

    tenant_id: UUID
    user_id: UUID
    brand: Brand
    locale: str | None
    choices: Choices


def subject_of(token: str) -> PreferencesSubject | None:
    return verify_preferences(token, secrets.accepted(settings().unsubscribe_secret_arn))


def open_page(conn: Connection[Any], token: str) -> OpenPreferences | None:
    """None for a token that is not ours, and where the user or the tenant is gone."""
    subject = subject_of(token)
    if subject is None:
        return None
    tenant_id, user_id = subject.tenant_id, subject.user_id
    with tenant_transaction(conn, tenant_id):
        if tenants.status_for(conn, tenant_id, user_id) not in ("active", "suspended"):
            return None
        contact = users.contact_of(conn, tenant_id, user_id)
        brand = brands.find(conn, tenant_id)
    choices = _choices(preferences.overview(conn, tenant_id, user_id))
    return OpenPreferences(tenant_id, user_id, brand, contact.locale if contact else None, choices)


def is_too_often(conn: Connection[Any], opened: OpenPreferences) -> bool:
    """Whether they are above what a person may call in a minute, by this way or another."""
    subject = rate_limits.subject_of_user(opened.user_id)
    return not rate_limits.admits_call(conn, opened.tenant_id, subject, rate_limits.calls_of_user())


def keep(conn: Connection[Any], opened: OpenPreferences, changes: Changes, *, ip_address: str, user_agent: str) -> bool:
    """False: the person is gone since."""
    actor = Actor(opened.tenant_id, LINK, audit.network_of(ip_address), user_agent, opened.user_id)
    try:
        edit_preferences.edit(conn, actor, opened.user_id, changes.rules, subscribed_again=changes.subscribed_again)
    except errors.ForeignKeyViolation:
        return False
    return True


def _choices(overview: Overview) -> Choices:
    """What the page shows of it. One pair of quiet hours stands for all channels: the first that there is."""
    plain = {one.channel: one for one in overview.rules if not one.notification_type}
    loud = [plain[channel] for channel in DISTURBING]
    quiet = [(one.quiet_hours_start, one.quiet_hours_end, one.timezone) for one in loud]
    start, end, zone = next((one for one in quiet if one[0]), quiet[0])
    return Choices(
        [
            ChannelFacts(one.channel, one.reason, plain[one.channel].enabled is not False, plain[one.channel].frequency_cap)
            for one in overview.channels
        ],
        [
            KindFacts(
                one.name, one.title or "", one.description or "", one.locked, {way.channel: way.enabled for way in one.channels}
            )
            for one in overview.types
        ],
        {"start": f"{start:%H:%M}" if start else "", "end": f"{end:%H:%M}" if end else "", "zone": zone},
        is_mixed=len({one[:2] for one in quiet}) > 1,
    )
